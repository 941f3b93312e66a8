"""The header of a resource's pages: its actions, tabs and breadcrumbs."""

from collections.abc import Mapping
from dataclasses import replace

from lakehold.access.decisions.ways import rank_ways
from lakehold.access.facts.descriptions import describe_fact
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import TENANT
from lakehold.catalog import kinds
from lakehold.catalog.kinds import RequiredRight
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.web import kind_pages, urls
from lakehold.web.access import fact_labels
from lakehold.web.components import PageAction
from lakehold.web.labels import humanize
from lakehold.web.navigation import Breadcrumb, NavLink

_MAX_DEPTH = 12


def actions_of(
    ctx: RequestContext, uid: str, offered_actions: Mapping[str, PageAction] | None = None, *, exactly: bool = True
) -> list[PageAction]:
    """Return actions of a resource by name: unchanged if allowed, refused with the reason otherwise.

    Without `offered_actions`, all actions of the model are returned, each linked to its explanation. If not `exactly`,
    a refusal does not name the missing right: for lists, where finding it for every row would take too long.
    """
    chosen = offered_actions
    if chosen is None:
        names = ctx.session.read_view(lambda view: kinds.schema_of(view, uid).actions)
        chosen = {name: PageAction(humanize(name), urls.why(uid, name), dialog=True) for name in names}
    may = frozenset(ctx.session.actions(ctx.principal, uid))
    return [act if name in may else refuse_action(ctx, uid, name, act, exactly=exactly) for name, act in chosen.items()]


def refuse_action(ctx: RequestContext, uid: str, action: str, act: PageAction, *, exactly: bool = True) -> PageAction:
    """Return the action as refused: with the reason, and the URL that requests the right."""
    missing = _missing_right(ctx, uid, action) if exactly else ""
    return replace(
        act,
        href="",
        why_not=f"You need {missing}." if missing else f"You do not have permission to {humanize(action).lower()} it.",
        request=urls.request(uid, action),
        why=urls.why(uid, action),
    )


def check_right(ctx: RequestContext, right: RequiredRight | None, act: PageAction) -> PageAction:
    """Return the action if the caller has the right that the model names for it, refused otherwise."""
    if kinds.has_right(ctx, right):
        return act
    if right is None or not ctx.session.can_see(ctx.principal, right.resource):
        return replace(act, href="", why_not=f"You do not have permission to {act.label.lower()} it.")
    return refuse_action(ctx, right.resource, right.action, act)


def tabs(ctx: RequestContext, uid: str) -> list[NavLink]:
    """Return the tabs of a resource: overview, the pages of its kind, access, and explanation."""
    kind = ctx.session.read_view(lambda view: view.kind(view.resource(uid)))
    return [
        NavLink("Overview", overview_url(ctx, uid), "layout-dashboard"),
        *kind_pages.resource_tabs(uid, kind),
        NavLink("Access", urls.resource(uid, "access"), "shield"),
        NavLink("Why?", urls.resource(uid, "why"), "circle-help"),
    ]


def overview_url(ctx: RequestContext, uid: str) -> str:
    """Return the URL of a resource's overview; the home page for the tenant."""
    kind = ctx.session.read_view(lambda view: view.kind(view.resource(uid)))
    if kind == TENANT:
        return "/"
    if ctx.session.read_view(lambda view: kinds.workspace_of(view, uid)) == uid:
        return urls.workspace(uid)
    return kind_pages.resource_overview_url(uid, kind) or urls.for_kind(uid, kind)


def url_if_visible(ctx: RequestContext, uid: str, part: str = "") -> str:
    """Return the URL of a resource's page after a change; the home page if the caller may no longer see it."""
    return urls.resource(uid, part) if ctx.session.can_see(ctx.principal, uid) else "/"


def breadcrumbs(ctx: RequestContext, uid: str, *more: str) -> list[Breadcrumb]:
    """Return the breadcrumbs to a resource through its visible ancestors; `more` are the labels that follow it."""
    above = ctx.session.read_view(lambda view: ancestors(view, uid)[:_MAX_DEPTH])
    seen = [container for container in above if ctx.session.can_see(ctx.principal, container)]
    name = fact_labels.resource_name
    way = [Breadcrumb(name(ctx, container), overview_url(ctx, container)) for container in reversed(seen)]
    here = Breadcrumb(name(ctx, uid), overview_url(ctx, uid) if more else "")
    return [*way, here, *(Breadcrumb(label) for label in more)]


def ancestors(view: FactView, uid: str) -> list[str]:
    """Return the resources that a resource lies in, the nearest first."""
    found: list[str] = []
    while (above := kinds.parent_of(view, found[-1] if found else uid)) is not None:
        found.append(above)
    return found


def _missing_right(ctx: RequestContext, uid: str, action: str) -> str:
    """Describe the nearest missing right, if the caller may know of it; cached for all actions with the same rule."""
    rule = ctx.session.read_view(lambda view: view.policy.relations.get((view.kind(view.resource(uid)), action)))
    return ctx.session.cached(
        (_missing_right, ctx.principal, uid, rule), lambda: _describe_nearest_way(ctx, uid, action)
    )


def _describe_nearest_way(ctx: RequestContext, uid: str, action: str) -> str:
    try:
        ways = ctx.session.read_view(lambda _: ctx.session.evaluator.ways(ctx.principal, action, uid))
    except LakeholdError:
        return ""
    if not ways:
        return ""
    _, way = rank_ways(ctx.view, uid, ways)[0]
    return " and ".join(describe_fact(ctx.view, needed.fact, ctx.caller.member) for needed in way.needed)
