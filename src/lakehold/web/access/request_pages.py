"""Access requests: those that wait for the caller, the caller's own, a new one, and one request with its decision.

A resource that the caller may not see is requested by its id, and the page is the same whether or not it exists.
"""

from collections.abc import Sequence

from fastapi import Request, Response

from lakehold.access import Add
from lakehold.access.decisions.evaluator import Explanation
from lakehold.access.decisions.ways import rank_ways
from lakehold.access.facts.descriptions import describe_fact
from lakehold.access.facts.records import Fact
from lakehold.api.http.dependencies import CurrentPlatform, FormContext, ReadContext, WriteContext
from lakehold.catalog import approvals, discovery, request_table, requests
from lakehold.catalog.requests import RequestView
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.web import confirmation, form_values, pages
from lakehold.web.access.explanation import MissingAccess
from lakehold.web.cookies import Flash
from lakehold.web.form_values import FieldErrors, errors_by_field, last_day_value, text_field, text_fields
from lakehold.web.labels import capitalize, humanize, humanized_options
from lakehold.web.list_view import ListFilter, ListState
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router
from lakehold.web.runs import RUNS
from lakehold.workspaces.registry import readable_kinds

routes = router("/requests")

TONES = {"pending": "warn", "approved": "good", "refused": "bad", "withdrawn": "neutral", "expired": "neutral"}
STATES = tuple(humanized_options(TONES))
_PAGE_SIZE = 25
_MAX_COUNTED = 50
_COMMON_ACTIONS = tuple(
    dict.fromkeys(["see", *readable_kinds().values(), "edit", *(each.trigger for each in RUNS.runnables.values())])
)
"""What one can ask for of something that one knows by its id alone: the same for whatever it is."""


@routes.get("")
def waiting_page(request: Request, ctx: ReadContext) -> Response:
    """Render the requests that the caller can decide."""
    listing = ListState.from_request(request, ("asked",), size=_PAGE_SIZE)
    found = approvals.list_answerable(ctx, before=listing.before, limit=_PAGE_SIZE + 1)
    waiting = approvals.list_answerable(ctx, limit=_MAX_COUNTED) if listing.after else found
    return _render_list(request, ctx, listing, found, waiting)


@routes.get("/mine")
def mine_page(request: Request, ctx: ReadContext) -> Response:
    """Render the requests that the caller made."""
    listing = ListState.from_request(request, ("asked",), [ListFilter("state", "State", STATES)], _PAGE_SIZE)
    found = requests.list_own(ctx, state=listing.chosen["state"], before=listing.before, limit=_PAGE_SIZE + 1)
    return _render_list(request, ctx, listing, found, approvals.list_answerable(ctx, limit=_MAX_COUNTED))


def _render_list(
    request: Request, ctx: RequestContext, listing: ListState, found: list[RequestView], waiting: list[RequestView]
) -> Response:
    pending = requests.list_own(ctx, state="pending", limit=_MAX_COUNTED)
    after = str(found[_PAGE_SIZE - 1].request.n) if len(found) > _PAGE_SIZE else ""
    values: dict[str, object] = {
        **listing.cursor_values(found[:_PAGE_SIZE], after),
        "counts": (len(waiting), len(pending)),
        "tones": TONES,
        "thing": _resource_label,
    }
    return pages.render(request, "access/requests.html", values)


@routes.api_route("/new", methods=FORM_METHODS)
def ask(request: Request, ctx: FormContext, platform: CurrentPlatform, sent: SubmittedForm, way: int = -1) -> Response:
    """Show the form, with a way of this number chosen; create the request and notify those who can approve it."""
    posted, errors = request.method == "POST", FieldErrors()
    filled = text_fields(sent if posted else request.query_params, "resource", "action", "way", "reason")
    uid, action, reason = filled["resource"], filled["action"], filled["reason"]
    if posted and not (uid.strip() and action):
        errors["action"] = "Select an action."
    elif posted:
        try:
            facts = request_table.load_facts(filled["way"]) if filled["way"] else None
            created = requests.create(ctx, action, uid, reason=reason, facts=facts, settings=platform.settings)
            here = f"/requests/{created.request.uid}"
            message = f"You requested to {humanize(created.request.action).lower()} {_resource_label(created)}."
            return pages.redirect(request, here, Flash(message, undo=f"{here}/withdraw"))
        except (InvalidInputError, ConflictError, NotFoundError) as error:
            errors["reason"] = str(error)
        except (ValueError, TypeError, KeyError, AttributeError):
            errors["way"] = "Select an option."
    values = _draft_values(ctx, uid, action, way)
    return pages.render_form(
        request, "access/new_request.html", values | ({"filled": filled} if errors else {}), errors
    )


def _draft_values(ctx: RequestContext, uid: str, action: str, way: int) -> dict[str, object]:
    """Return what can be asked for, and for a visible resource what would have to be given."""
    seen = VisibleRefs(ctx).ref(uid)
    known = seen or (discovery.find_ref(ctx, uid) if uid else None)
    actions: Sequence[str] = _COMMON_ACTIONS
    if known:
        actions = ctx.view.policy.kind(known.kind).schema.actions
        action = action if action in actions else ""
    elif action and action not in actions:
        actions = (*actions, action)
    may = set(ctx.session.actions(ctx.principal, uid)) - {action} if seen else set()
    found = ctx.session.explain(ctx.principal, action, uid) if seen and action else None
    ways = _list_ways(ctx, found) if found else {}
    first = next(iter(ways.values()), ("",))
    return {
        "uid": uid,
        "known": known,
        "seen": seen,
        "name": known.name if known else uid,
        "asked_action": action,
        "actions": humanized_options(each for each in actions if each not in may),
        "found": found,
        "ways": ways.values(),
        "filled": {"way": ways.get(way, first)[0]},
    }


def _list_ways(ctx: RequestContext, found: Explanation) -> dict[int, tuple[str, str, str]]:
    """Return the ways to the right by number, nearest first: form value, description, and who can grant it."""
    me, ways = ctx.caller.member, {}
    missing = MissingAccess(ctx, me, found.resource)
    ranked = rank_ways(ctx.view, found.resource, found.ways)
    for n, way in [(n, way) for n, way in ranked if way.is_grantable]:
        facts = request_table.way_facts(way)
        words = " and ".join(describe_fact(ctx.view, fact, me) for fact in facts)
        givers = " or ".join(missing.describe_givers(way))
        note = f"{givers} can grant it" if givers else ""
        ways[n] = (request_table.dump_facts(facts), capitalize(words), note)
    return ways


@routes.get("/{uid}")
def request_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render one request."""
    return _render_request(request, ctx, uid)


@routes.post("/{uid}/approve")
def approve(request: Request, ctx: WriteContext, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Approve a request, for good or for a period. Its effect was displayed on the page."""
    filled = text_fields(sent, "until", "until_date", "answer")
    try:
        span = form_values.parse_period(sent, ctx.at)
        answer = requests.valid_reason(filled["answer"])
    except InvalidInputError as error:
        errors = errors_by_field(error, form_values.PERIOD_FIELDS, "answer")
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
    reason = text_field(sent, "reason")
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
    needed, givable = _needed_facts(ctx, found)
    changes, asker = [Add(fact) for fact in givable], found.request.asker
    values: dict[str, object] = {
        "access_request": found,
        "asked": found.request,
        "me": ctx.caller.member,
        "name": _resource_label(found),
        "missing": [capitalize(describe_fact(ctx.view, fact, asker)) for fact in needed],
        "able": len(givable),
        "effects": confirmation.preview_effects(ctx, changes, found.request.resource),
        "decider": VisibleRefs(ctx).ref(found.request.decided_by),
        "last_day": last_day_value,
        "tones": TONES,
        "filled": filled or {},
    }
    return pages.render_form(request, "access/request.html", values, errors)


def _resource_label(found: RequestView) -> str:
    """Return the name of the requested resource, or the id that was requested, if the caller may know it."""
    return found.resource.name if found.resource else found.request.resource or "something that you cannot see"


def _needed_facts(ctx: RequestContext, found: RequestView) -> tuple[list[Fact], list[Fact]]:
    """Return the facts that still have to be given as far as the caller may see them, and those that they can give."""
    if not found.may_answer:
        return list(found.facts), []
    left = requests.missing_facts(ctx, requests.find(ctx, found.request.uid)) or []
    givable = [fact for fact in left if requests.may_give(ctx, fact)]
    return list(found.facts) or givable, givable
