"""Requests: what waits for one's answer, what one has asked for, and a single one."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.access import Add
from lakehold.access.facts.records import Fact
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import approvals, requests
from lakehold.catalog.requests import RequestView
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.web import pages
from lakehold.web.access import choosing, previewing, saying
from lakehold.web.access.choosing import ENDS
from lakehold.web.diffs import Effect
from lakehold.web.listing import Column, Filter, Listing
from lakehold.web.navigation import Crumb, Place
from lakehold.web.routes import router
from lakehold.web.words import spoken

routes = router("/requests")

TONES = {"pending": "warn", "approved": "good", "refused": "bad", "withdrawn": "neutral", "expired": "neutral"}
STATES = tuple((state, spoken(state)) for state in TONES)
_SIZE = 25
_MOST_COUNTED = 50


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a request."""

    who: str
    text: str
    at: Moment
    icon: str
    tone: str = ""
    more: str = ""


@routes.get("")
def waiting_page(request: Request, ctx: ReadContext) -> Response:
    """What waits for an answer that one can give."""
    listing = Listing.of(request, ("asked",), size=_SIZE)
    found = approvals.list_answerable(ctx, before=_before(listing), limit=_SIZE + 1)
    columns = [Column("Who"), Column("Asks for"), Column("Why", wide=True), Column("Asked", wide=True)]
    return _list(request, ctx, "waiting", listing, columns, found)


@routes.get("/mine")
def mine_page(request: Request, ctx: ReadContext) -> Response:
    """What one has asked for."""
    listing = Listing.of(request, ("asked",), [Filter("state", "State", STATES)], _SIZE)
    found = requests.list_own(ctx, state=listing.chosen["state"], before=_before(listing), limit=_SIZE + 1)
    columns = [Column("Asked for"), Column("Why", wide=True), Column("State"), Column("Asked", wide=True)]
    return _list(request, ctx, "mine", listing, columns, found)


def one_page(
    request: Request,
    ctx: RequestContext,
    uid: str,
    filled: dict[str, str] | None = None,
    errors: dict[str, str] | None = None,
) -> Response:
    """One request: what is asked, what became of it, and how it can be answered. Again with what was filled in."""
    told = requests.get(ctx, uid)
    mine = told.request.asker == ctx.caller.member
    wanted, able = _wanted(ctx, told)
    values: dict[str, object] = {
        "told": told,
        "mine": mine,
        "title": f"{spoken(told.request.action)} {thing(told)}",
        "wanted": [_words(ctx, fact, told.request.asker) for fact in wanted],
        "able": len(able),
        "effects": _effects(ctx, told, able),
        "events": _events(ctx, told),
        "tone": TONES[told.request.state],
        "ends": ENDS,
        "filled": filled or {},
        "errors": errors or {},
        "crumbs": [Crumb("Requests", "/requests/mine" if mine else "/requests"), Crumb("Request")],
    }
    return pages.page(request, "access/request.html", values, status=422 if errors else 200)


def thing(told: RequestView) -> str:
    """What it is called, or the id by which it was asked for."""
    return told.resource.name if told.resource else told.request.resource


def _list(  # noqa: PLR0917 - both lists are told alike
    request: Request, ctx: RequestContext, which: str, listing: Listing, columns: list[Column], found: list[RequestView]
) -> Response:
    waiting = found if which == "waiting" and not listing.after else approvals.list_answerable(ctx, limit=_MOST_COUNTED)
    pending = requests.list_own(ctx, state="pending", limit=_MOST_COUNTED)
    values: dict[str, object] = {
        "which": which,
        "listing": listing,
        "columns": columns,
        "rows": found[:_SIZE],
        "after": str(found[_SIZE - 1].request.n) if len(found) > _SIZE else "",
        "tabs": [
            Place("Waiting for you", "/requests", "inbox", len(waiting)),
            Place("Yours", "/requests/mine", "hand", len(pending)),
        ],
        "tones": TONES,
        "thing": thing,
    }
    return pages.page(request, "access/requests.html", values)


def _before(listing: Listing) -> int | None:
    return int(listing.after) if listing.after.isdecimal() and len(listing.after) < 18 else None  # noqa: PLR2004 - fits


def _wanted(ctx: RequestContext, told: RequestView) -> tuple[list[Fact], list[Fact]]:
    """What is left to be given as far as the caller may see it, and what of it they can give."""
    if not told.may_answer:
        return list(told.facts), []
    left = requests.missing_facts(ctx, requests.find(ctx, told.request.uid)) or []
    able = [fact for fact in left if requests.may_give(ctx, fact)]
    return list(told.facts) or able, able


def _effects(ctx: RequestContext, told: RequestView, able: list[Fact]) -> list[Effect]:
    return previewing.told(ctx, told.request.resource, [Add(fact) for fact in able]) if able else []


def _words(ctx: RequestContext, fact: Fact, asker: str) -> str:
    words = ctx.session.read_view(lambda view: saying.fact(view, fact, asker))
    return words[:1].upper() + words[1:]


def _events(ctx: RequestContext, told: RequestView) -> list[Event]:
    """Newest first."""
    request, eyes = told.request, VisibleRefs(ctx)
    asker = "You" if request.asker == ctx.caller.member else told.asker.name if told.asker else "Somebody"
    asked = Event(asker, f"asked to {spoken(request.action).lower()} {thing(told)}", request.asked_at, "hand")
    events = [Event(asked.who, asked.text, asked.at, asked.icon, more=request.reason)]
    if request.state == "expired":
        events.insert(0, Event("Nobody", "answered in time", request.expires_at, "clock", "bad"))
    elif request.state != "pending" and request.decided_at is not None:
        seen = eyes.ref(request.decided_by)
        who = "You" if request.decided_by == ctx.caller.member else seen.name if seen else "Somebody"
        end = f", until {choosing.last_day(request.until)}" if request.until else ""
        icon, tone = {"approved": ("check", "good"), "refused": ("x", "bad")}.get(request.state, ("undo-2", ""))
        events.insert(0, Event(who, f"{request.state} it{end}", request.decided_at, icon, tone, request.answer))
    return events
