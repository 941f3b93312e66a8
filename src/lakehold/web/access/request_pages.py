"""Access requests: those that wait for the caller, the caller's own, a new one, and one request with its decision.

A resource that the caller may not see is requested by its id, and the page is the same whether or not it exists.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fastapi import Request, Response

from lakehold.access import Add
from lakehold.access.decisions.evaluator import Explanation
from lakehold.access.decisions.way_ranking import rank_ways
from lakehold.access.facts.records import Fact
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.catalog import approvals, discovery, kinds, request_table, requests
from lakehold.catalog.requests import RequestView
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.web import confirmation, pages, urls
from lakehold.web.access import fact_labels, form_fields
from lakehold.web.access.explanation import MissingAccess
from lakehold.web.access.form_fields import PERIOD_OPTIONS
from lakehold.web.cookies import Flash
from lakehold.web.form_values import errors_by_field, last_day_value
from lakehold.web.labels import humanize
from lakehold.web.list_view import ListFilter, ListState
from lakehold.web.navigation import Breadcrumb, NavLink
from lakehold.web.routing import SubmittedForm, router

routes = router("/requests")

TONES = {"pending": "warn", "approved": "good", "refused": "bad", "withdrawn": "neutral", "expired": "neutral"}
STATES = tuple((state, humanize(state)) for state in TONES)
_PAGE_SIZE = 25
_MAX_COUNTED = 50
_DEFAULT_ACTIONS = ("see", "read", "use", "edit", "run")
"""What one can ask for of something that one knows by its id alone: the same for whatever it is."""


@dataclass(frozen=True, slots=True)
class RequestEvent:
    """An event in the history of a request."""

    who: str
    text: str
    at: Moment
    icon: str
    tone: str = ""
    more: str = ""


@dataclass(frozen=True, slots=True)
class AccessRequestDraft:
    """A request that is being written: its resource, action, and the grants that would satisfy it."""

    uid: str
    name: str
    thing: ResourceRef | None
    """What it is, if one may know that."""
    seen: bool
    action: str
    actions: list[tuple[str, str]]
    found: Explanation | None = None
    ways: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    """What could be given, by its number: as it is sent, in words, and by whom. The nearest comes first."""


@routes.get("")
def waiting_page(request: Request, ctx: ReadContext) -> Response:
    """Render the requests that the caller can decide."""
    listing = ListState.from_request(request, ("asked",), size=_PAGE_SIZE)
    found = approvals.list_answerable(ctx, before=_parse_cursor(listing), limit=_PAGE_SIZE + 1)
    waiting = approvals.list_answerable(ctx, limit=_MAX_COUNTED) if listing.after else found
    return _render_list(request, ctx, listing, found, waiting)


@routes.get("/mine")
def mine_page(request: Request, ctx: ReadContext) -> Response:
    """Render the requests that the caller made."""
    listing = ListState.from_request(request, ("asked",), [ListFilter("state", "State", STATES)], _PAGE_SIZE)
    found = requests.list_own(ctx, state=listing.chosen["state"], before=_parse_cursor(listing), limit=_PAGE_SIZE + 1)
    return _render_list(request, ctx, listing, found, approvals.list_answerable(ctx, limit=_MAX_COUNTED))


def _render_list(
    request: Request, ctx: RequestContext, listing: ListState, found: list[RequestView], waiting: list[RequestView]
) -> Response:
    pending = requests.list_own(ctx, state="pending", limit=_MAX_COUNTED)
    values: dict[str, object] = {
        "listing": listing,
        "rows": found[:_PAGE_SIZE],
        "after": str(found[_PAGE_SIZE - 1].request.n) if len(found) > _PAGE_SIZE else "",
        "tabs": [
            NavLink("To review", "/requests", "inbox", len(waiting)),
            NavLink("Your requests", "/requests/mine", "hand", len(pending)),
        ],
        "tones": TONES,
        "thing": _resource_label,
    }
    return pages.render(request, "access/requests.html", values)


def _parse_cursor(listing: ListState) -> int | None:
    return int(listing.after) if listing.after.isdecimal() and len(listing.after) < 18 else None  # noqa: PLR2004 - fits


@routes.get("/new")
def new_page(request: Request, ctx: ReadContext, *, resource: str = "", action: str = "", way: int = -1) -> Response:
    """Render the form of a new request."""
    wish = _build_draft(ctx, resource, action)
    first = next(iter(wish.ways.values()), ("",))
    return _draft_form(request, wish, {"way": wish.ways.get(way, first)[0]})


@routes.post("/new")
def ask(request: Request, ctx: WriteContext, platform: CurrentPlatform, sent: SubmittedForm) -> Response:
    """Create the request and notify those who can approve it."""
    filled = {name: str(sent.get(name) or "") for name in ("resource", "action", "way", "reason")}
    resource, action, reason = filled["resource"], filled["action"], filled["reason"]
    errors = {} if resource.strip() and action else {"action": "Select an action."}
    if not errors:
        try:
            facts = request_table.load_facts(filled["way"]) if filled["way"] else None
            made = requests.create(ctx, action, resource, reason=reason, facts=facts, settings=platform.settings)
        except (InvalidInputError, ConflictError, NotFoundError) as error:
            errors = {"reason": str(error)}
        except (ValueError, TypeError, KeyError, AttributeError):
            errors = {"way": "Select an option."}
    if errors:
        return _draft_form(request, _build_draft(ctx, resource, action), filled, errors)
    here = f"/requests/{made.request.uid}"
    message = f"You requested to {humanize(made.request.action).lower()} {_resource_label(made)}."
    return pages.redirect(request, here, Flash(message, undo=f"{here}/withdraw"))


def _draft_form(
    request: Request, wish: AccessRequestDraft, filled: dict[str, str], errors: dict[str, str] | None = None
) -> Response:
    values: dict[str, object] = {
        "wish": wish,
        "filled": filled,
        "why": urls.why(wish.uid, wish.action) if wish.seen and wish.action else "",
        "back": urls.for_kind(wish.uid, wish.thing.kind) if wish.seen and wish.thing else "/",
        "crumbs": [Breadcrumb("Requests", "/requests"), Breadcrumb("Request access")],
    }
    return pages.render_form(request, "access/ask.html", values, errors)


def _build_draft(ctx: RequestContext, uid: str, action: str) -> AccessRequestDraft:
    seen = VisibleRefs(ctx).ref(uid)
    if seen is not None:
        return _draft_for_visible(ctx, seen, action)
    if uid and discovery.is_discoverable(ctx, uid):
        here = discovery.load_ref(ctx, uid)
        known = ctx.session.read_view(lambda view: view.policy.kind(here.kind).schema.actions)
        action = action if action in known else ""
        return AccessRequestDraft(uid, here.name, here, False, action, _action_options(known))
    known = _DEFAULT_ACTIONS if not action or action in _DEFAULT_ACTIONS else (*_DEFAULT_ACTIONS, action)
    return AccessRequestDraft(uid, uid, None, False, action, _action_options(known))


def _draft_for_visible(ctx: RequestContext, here: ResourceRef, action: str) -> AccessRequestDraft:
    known = ctx.session.read_view(lambda view: kinds.schema_of(view, here.uid).actions)
    may = set(ctx.session.actions(ctx.principal, here.uid))
    options = _action_options(tuple(each for each in known if each not in may or each == action))
    if action not in known:
        return AccessRequestDraft(here.uid, here.name, here, True, "", options)
    found = ctx.session.explain(ctx.principal, action, here.uid)
    missing = MissingAccess(ctx, ctx.caller.member, here.uid)
    ways = {}
    for n, way in rank_ways(ctx.view, here.uid, found.ways):
        facts = request_table.way_facts(way)
        words = " and ".join(missing.describe_fact(fact) for fact in facts)
        givers = " or ".join(missing.describe_givers(way))
        note = f"{givers} can grant it" if givers else ""
        ways[n] = (request_table.dump_facts(facts), fact_labels.capitalize(words), note)
    return AccessRequestDraft(here.uid, here.name, here, True, action, options, found, ways)


def _action_options(actions: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(each, humanize(each)) for each in actions]


@routes.get("/{uid}")
def request_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render one request."""
    return _render_request(request, ctx, uid)


@routes.post("/{uid}/approve")
def approve(request: Request, ctx: WriteContext, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Approve a request, for good or for a period. Its effect was displayed on the page."""
    filled = {name: str(sent.get(name) or "") for name in ("until", "until_date", "answer")}
    try:
        span = form_fields.parse_period(sent, ctx.at)
        answer = requests.valid_reason(filled["answer"])
    except InvalidInputError as error:
        errors = errors_by_field(error, form_fields.PERIOD_FIELDS, "answer")
        return _render_request(request, ctx, uid, filled, errors)
    found = approvals.approve(ctx, uid, until=span.until, answer=answer, settings=platform.settings)
    if found.request.state == "pending":
        return pages.redirect(request, f"/requests/{uid}", "You granted your part. Others can grant the rest.")
    who = found.asker.name if found.asker else "They"
    message = f"{who} may {humanize(found.request.action).lower()} {_resource_label(found)} now."
    return pages.redirect(request, "/requests", message)


@routes.post("/{uid}/refuse")
def refuse(request: Request, ctx: WriteContext, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Refuse a request with a reason."""
    reason = str(sent.get("reason") or "")
    try:
        error = "" if requests.valid_reason(reason).strip() else "Enter a reason."
    except InvalidInputError as invalid:
        error = str(invalid)
    if error:
        return _render_request(request, ctx, uid, {"reason": reason}, {"reason": error})
    found = approvals.refuse(ctx, uid, reason, settings=platform.settings)
    who = found.asker.name if found.asker else "Who asked"
    return pages.redirect(request, "/requests", Flash(f"Request denied. {who} is notified.", tone="info"))


@routes.post("/{uid}/withdraw")
def withdraw(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Withdraw a request of one's own."""
    flash = Flash(f"Request withdrawn: {_resource_label(requests.withdraw(ctx, uid))}.", tone="info")
    return pages.redirect(request, "/requests/mine", flash)


def _render_request(
    request: Request,
    ctx: RequestContext,
    uid: str,
    filled: dict[str, str] | None = None,
    errors: dict[str, str] | None = None,
) -> Response:
    """Render one request with its history and decision forms, with the submitted values after an error."""
    found = requests.get(ctx, uid)
    asker, resource = found.request.asker, found.request.resource
    mine = asker == ctx.caller.member
    needed, givable = _needed_facts(ctx, found)
    changes = [Add(fact) for fact in givable]
    describe = fact_labels.describe_fact
    values: dict[str, object] = {
        "access_request": found,
        "mine": mine,
        "title": f"{humanize(found.request.action)} {_resource_label(found)}",
        "missing": ctx.session.read_view(
            lambda view: [fact_labels.capitalize(describe(view, fact, asker)) for fact in needed]
        ),
        "able": len(givable),
        "effects": confirmation.preview_with_links(ctx, resource, changes) if changes else [],
        "events": _request_events(ctx, found),
        "tone": TONES[found.request.state],
        "ends": PERIOD_OPTIONS,
        "filled": filled or {},
        "crumbs": [Breadcrumb("Requests", "/requests/mine" if mine else "/requests"), Breadcrumb("Request")],
    }
    return pages.render_form(request, "access/request.html", values, errors)


def _resource_label(found: RequestView) -> str:
    """Return the name of the requested resource, or the id that was requested."""
    return found.resource.name if found.resource else found.request.resource


def _needed_facts(ctx: RequestContext, found: RequestView) -> tuple[list[Fact], list[Fact]]:
    """Return the facts that still have to be given as far as the caller may see them, and those that they can give."""
    if not found.may_answer:
        return list(found.facts), []
    left = requests.missing_facts(ctx, requests.find(ctx, found.request.uid)) or []
    givable = [fact for fact in left if requests.may_give(ctx, fact)]
    return list(found.facts) or givable, givable


def _request_events(ctx: RequestContext, found: RequestView) -> list[RequestEvent]:
    """Return the history of a request, newest first."""
    request, me = found.request, ctx.caller.member

    def name(uid: str | None, seen: ResourceRef | None) -> str:
        return "You" if uid == me else seen.name if seen else "Somebody"

    text = f"requested to {humanize(request.action).lower()} {_resource_label(found)}"
    asked = RequestEvent(name(request.asker, found.asker), text, request.asked_at, "hand", more=request.reason)
    if request.state == "expired":
        return [RequestEvent("Nobody", "answered in time", request.expires_at, "clock", "bad"), asked]
    if request.state == "pending" or request.decided_at is None:
        return [asked]
    who = name(request.decided_by, VisibleRefs(ctx).ref(request.decided_by))
    end = f", until {last_day_value(request.until)}" if request.until else ""
    icon, tone = {"approved": ("check", "good"), "refused": ("x", "bad")}.get(request.state, ("undo-2", ""))
    decided = RequestEvent(who, f"{request.state} it{end}", request.decided_at, icon, tone, request.answer)
    return [decided, asked]
