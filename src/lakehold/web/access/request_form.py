"""The form for a new access request.

A resource that the caller may not see is requested by its id, and the page is the same whether or not it exists.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fastapi import Request, Response

from lakehold.access.decisions.evaluator import Explanation
from lakehold.access.decisions.way_ranking import rank_ways
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.catalog import discovery, kinds, request_table, requests
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.web import pages, urls
from lakehold.web.access.explanation import MissingAccess
from lakehold.web.access.request_pages import resource_label
from lakehold.web.cookies import Flash
from lakehold.web.labels import humanize
from lakehold.web.navigation import Breadcrumb
from lakehold.web.routing import SubmittedForm, router

routes = router("/requests/new")

_DEFAULT_ACTIONS = ("see", "read", "use", "edit", "run")
"""What one can ask for of something that one knows by its id alone: the same for whatever it is."""


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
def new_page(request: Request, ctx: ReadContext, *, resource: str = "", action: str = "", way: int = -1) -> Response:
    """Render the form."""
    wish = _build_draft(ctx, resource, action)
    first = next(iter(wish.ways.values()), ("",))
    return _form(request, wish, {"way": wish.ways.get(way, first)[0]})


@routes.post("")
def ask(request: Request, ctx: WriteContext, platform: CurrentPlatform, sent: SubmittedForm) -> Response:
    """Create the request and notify those who can approve it."""
    filled = {name: str(sent.get(name) or "") for name in ("resource", "action", "way", "reason")}
    if not filled["resource"].strip() or not filled["action"]:
        return _form_with_error(request, ctx, filled, "action", "Select an action.")
    try:
        facts = request_table.load_facts(filled["way"]) if filled["way"] else None
        access_request = requests.create(
            ctx,
            filled["action"],
            filled["resource"],
            reason=filled["reason"],
            facts=facts,
            settings=platform.settings,
        )
    except (InvalidInputError, ConflictError, NotFoundError) as error:
        return _form_with_error(request, ctx, filled, "reason", str(error))
    except (ValueError, TypeError, KeyError, AttributeError):
        return _form_with_error(request, ctx, filled, "way", "Select an option.")
    message = f"You requested to {humanize(access_request.request.action).lower()} {resource_label(access_request)}."
    return pages.redirect(
        request,
        f"/requests/{access_request.request.uid}",
        Flash(message, undo=f"/requests/{access_request.request.uid}/withdraw"),
    )


def _form_with_error(request: Request, ctx: RequestContext, filled: dict[str, str], name: str, error: str) -> Response:
    return _form(request, _build_draft(ctx, filled["resource"], filled["action"]), filled, {name: error})


def _form(
    request: Request, wish: AccessRequestDraft, filled: dict[str, str], errors: dict[str, str] | None = None
) -> Response:
    values: dict[str, object] = {
        "wish": wish,
        "filled": filled,
        "errors": errors or {},
        "why": urls.why(wish.uid, wish.action) if wish.seen and wish.action else "",
        "back": urls.for_kind(wish.uid, wish.thing.kind) if wish.seen and wish.thing else "/",
        "crumbs": [Breadcrumb("Requests", "/requests"), Breadcrumb("Request access")],
    }
    return pages.render(request, "access/ask.html", values, status=422 if errors else 200)


def _build_draft(ctx: RequestContext, uid: str, action: str) -> AccessRequestDraft:
    seen = VisibleRefs(ctx).ref(uid)
    if seen is not None:
        return _draft_for_visible(ctx, seen, action)
    if uid and discovery.is_discoverable(ctx, uid):
        here = discovery.load_ref(ctx, uid)
        known = ctx.session.read_view(lambda view: view.policy.kind(here.kind).schema.actions)
        return AccessRequestDraft(
            uid, here.name, here, False, action if action in known else "", _action_options(known)
        )
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
        givers = missing.describe_givers(way)
        givers_note = f"{' or '.join(givers)} can grant it" if givers else ""
        ways[n] = (request_table.dump_facts(facts), words[:1].upper() + words[1:], givers_note)
    return AccessRequestDraft(here.uid, here.name, here, True, action, options, found, ways)


def _action_options(actions: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(each, humanize(each)) for each in actions]
