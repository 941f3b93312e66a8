"""Pages of access requests: those that wait for the caller, the caller's own, and one request with its decision."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.access import Add
from lakehold.access.facts.records import Fact
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.catalog import approvals, requests
from lakehold.catalog.requests import RequestView
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.web import pages
from lakehold.web.access import effect_preview, fact_labels, form_fields
from lakehold.web.access.form_fields import PERIOD_OPTIONS
from lakehold.web.components import EffectSummary
from lakehold.web.cookies import Flash
from lakehold.web.form_values import errors_by_field, last_day_value
from lakehold.web.labels import humanize
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.navigation import Breadcrumb, NavLink
from lakehold.web.routing import SubmittedForm, router

routes = router("/requests")

TONES = {"pending": "warn", "approved": "good", "refused": "bad", "withdrawn": "neutral", "expired": "neutral"}
STATES = tuple((state, humanize(state)) for state in TONES)
_PAGE_SIZE = 25
_MAX_COUNTED = 50


@dataclass(frozen=True, slots=True)
class RequestEvent:
    """An event in the history of a request."""

    who: str
    text: str
    at: Moment
    icon: str
    tone: str = ""
    more: str = ""


@routes.get("")
def waiting_page(request: Request, ctx: ReadContext) -> Response:
    """Render the requests that the caller can decide."""
    listing = ListState.from_request(request, ("asked",), size=_PAGE_SIZE)
    found = approvals.list_answerable(ctx, before=_parse_cursor(listing), limit=_PAGE_SIZE + 1)
    columns = [
        ListColumn("Member"),
        ListColumn("Requested access"),
        ListColumn("Reason", wide=True),
        ListColumn("Requested", wide=True),
    ]
    return _render_list(request, ctx, "waiting", listing, columns, found)


@routes.get("/mine")
def mine_page(request: Request, ctx: ReadContext) -> Response:
    """Render the requests that the caller made."""
    listing = ListState.from_request(request, ("asked",), [ListFilter("state", "State", STATES)], _PAGE_SIZE)
    found = requests.list_own(ctx, state=listing.chosen["state"], before=_parse_cursor(listing), limit=_PAGE_SIZE + 1)
    columns = [
        ListColumn("Requested access"),
        ListColumn("Reason", wide=True),
        ListColumn("State"),
        ListColumn("Requested", wide=True),
    ]
    return _render_list(request, ctx, "mine", listing, columns, found)


def render_request(
    request: Request,
    ctx: RequestContext,
    uid: str,
    filled: dict[str, str] | None = None,
    errors: dict[str, str] | None = None,
) -> Response:
    """Render one request with its history and decision forms, with the submitted values after an error."""
    access_request = requests.get(ctx, uid)
    mine = access_request.request.asker == ctx.caller.member
    needed, givable = _needed_facts(ctx, access_request)
    values: dict[str, object] = {
        "told": access_request,
        "mine": mine,
        "title": f"{humanize(access_request.request.action)} {resource_label(access_request)}",
        "wanted": [_describe_fact(ctx, fact, access_request.request.asker) for fact in needed],
        "able": len(givable),
        "effects": _approval_effects(ctx, access_request, givable),
        "events": _request_events(ctx, access_request),
        "tone": TONES[access_request.request.state],
        "ends": PERIOD_OPTIONS,
        "filled": filled or {},
        "errors": errors or {},
        "crumbs": [Breadcrumb("Requests", "/requests/mine" if mine else "/requests"), Breadcrumb("Request")],
    }
    return pages.render(request, "access/request.html", values, status=422 if errors else 200)


def resource_label(access_request: RequestView) -> str:
    """Return the name of the requested resource, or the id that was requested."""
    return access_request.resource.name if access_request.resource else access_request.request.resource


def _render_list(  # noqa: PLR0917 - both lists are rendered alike
    request: Request,
    ctx: RequestContext,
    which: str,
    listing: ListState,
    columns: list[ListColumn],
    found: list[RequestView],
) -> Response:
    waiting = found if which == "waiting" and not listing.after else approvals.list_answerable(ctx, limit=_MAX_COUNTED)
    pending = requests.list_own(ctx, state="pending", limit=_MAX_COUNTED)
    values: dict[str, object] = {
        "which": which,
        "listing": listing,
        "columns": columns,
        "rows": found[:_PAGE_SIZE],
        "after": str(found[_PAGE_SIZE - 1].request.n) if len(found) > _PAGE_SIZE else "",
        "tabs": [
            NavLink("To review", "/requests", "inbox", len(waiting)),
            NavLink("Your requests", "/requests/mine", "hand", len(pending)),
        ],
        "tones": TONES,
        "thing": resource_label,
    }
    return pages.render(request, "access/requests.html", values)


def _parse_cursor(listing: ListState) -> int | None:
    return int(listing.after) if listing.after.isdecimal() and len(listing.after) < 18 else None  # noqa: PLR2004 - fits


def _needed_facts(ctx: RequestContext, access_request: RequestView) -> tuple[list[Fact], list[Fact]]:
    """Return the facts that still have to be given as far as the caller may see them, and those that they can give."""
    if not access_request.may_answer:
        return list(access_request.facts), []
    left = requests.missing_facts(ctx, requests.find(ctx, access_request.request.uid)) or []
    givable = [fact for fact in left if requests.may_give(ctx, fact)]
    return list(access_request.facts) or givable, givable


def _approval_effects(ctx: RequestContext, access_request: RequestView, givable: list[Fact]) -> list[EffectSummary]:
    return (
        effect_preview.preview_with_links(ctx, access_request.request.resource, [Add(fact) for fact in givable])
        if givable
        else []
    )


def _describe_fact(ctx: RequestContext, fact: Fact, asker: str) -> str:
    words = ctx.session.read_view(lambda view: fact_labels.describe_fact(view, fact, asker))
    return words[:1].upper() + words[1:]


def _request_events(ctx: RequestContext, access_request: RequestView) -> list[RequestEvent]:
    """Return the history of a request, newest first."""
    request, eyes = access_request.request, VisibleRefs(ctx)
    asker = (
        "You"
        if request.asker == ctx.caller.member
        else access_request.asker.name
        if access_request.asker
        else "Somebody"
    )
    first_event = RequestEvent(
        asker,
        f"requested to {humanize(request.action).lower()} {resource_label(access_request)}",
        request.asked_at,
        "hand",
    )
    events = [RequestEvent(first_event.who, first_event.text, first_event.at, first_event.icon, more=request.reason)]
    if request.state == "expired":
        events.insert(0, RequestEvent("Nobody", "answered in time", request.expires_at, "clock", "bad"))
    elif request.state != "pending" and request.decided_at is not None:
        seen = eyes.ref(request.decided_by)
        who = "You" if request.decided_by == ctx.caller.member else seen.name if seen else "Somebody"
        end = f", until {last_day_value(request.until)}" if request.until else ""
        icon, tone = {"approved": ("check", "good"), "refused": ("x", "bad")}.get(request.state, ("undo-2", ""))
        events.insert(0, RequestEvent(who, f"{request.state} it{end}", request.decided_at, icon, tone, request.answer))
    return events


decision_routes = router("/requests/{uid}")


@decision_routes.get("")
def request_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render one request."""
    return render_request(request, ctx, uid)


@decision_routes.post("/approve")
def approve(request: Request, ctx: WriteContext, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Approve a request, for good or for a period. Its effect was displayed on the page."""
    filled = {name: str(sent.get(name) or "") for name in ("until", "until_date", "answer")}
    try:
        span = form_fields.parse_period(sent, ctx.at)
        answer = requests.valid_reason(filled["answer"])
    except InvalidInputError as error:
        errors = errors_by_field(error, form_fields.PERIOD_FIELDS, "answer")
        return render_request(request, ctx, uid, filled, errors)
    access_request = approvals.approve(ctx, uid, until=span.until, answer=answer, settings=platform.settings)
    if access_request.request.state == "pending":
        return pages.redirect(request, f"/requests/{uid}", Flash("You granted your part. Others can grant the rest."))
    who = access_request.asker.name if access_request.asker else "They"
    return pages.redirect(
        request,
        "/requests",
        Flash(f"{who} may {humanize(access_request.request.action).lower()} {resource_label(access_request)} now."),
    )


@decision_routes.post("/refuse")
def refuse(request: Request, ctx: WriteContext, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Refuse a request with a reason."""
    reason = str(sent.get("reason") or "")
    try:
        if not requests.valid_reason(reason).strip():
            return render_request(request, ctx, uid, {"reason": reason}, {"reason": "Enter a reason."})
    except InvalidInputError as error:
        return render_request(request, ctx, uid, {"reason": reason}, {"reason": str(error)})
    access_request = approvals.refuse(ctx, uid, reason, settings=platform.settings)
    who = access_request.asker.name if access_request.asker else "Who asked"
    return pages.redirect(request, "/requests", Flash(f"Request denied. {who} is notified.", tone="info"))


@decision_routes.post("/withdraw")
def withdraw(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Withdraw a request of one's own."""
    access_request = requests.withdraw(ctx, uid)
    return pages.redirect(
        request, "/requests/mine", Flash(f"Request withdrawn: {resource_label(access_request)}.", tone="info")
    )
