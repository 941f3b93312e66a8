"""Builds the navigation of the signed-in member from what they may see."""

from collections.abc import Callable
from typing import TypeVar

from fastapi import Request

from lakehold.access.model.policy import MANAGE_MODELS
from lakehold.access.model.schema import KindSchema
from lakehold.api.http.dependencies import current_context, read_transaction
from lakehold.catalog import approvals, kinds, network_policy, workspaces
from lakehold.catalog.resource_view import ResourceSummary
from lakehold.directory import accounts
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.request_context import RequestContext
from lakehold.web import kind_pages, urls
from lakehold.web.access.fact_labels import resource_name
from lakehold.web.labels import icon_of, pluralize
from lakehold.web.navigation import ImpersonationBanner, Navigation, NavLink, NavSection, NavUser
from lakehold.workspaces.registry import describe_kind

T = TypeVar("T")

MAX_WORKSPACES = 12
_MAX_WAITING = 50


def navigation_for_request(request: Request) -> Navigation:
    """Return the navigation for a request; empty if nobody is signed in."""
    return in_request_context(request, build_navigation, Navigation())


def in_request_context(request: Request, query: Callable[[RequestContext], T], default: T) -> T:
    """Run a query in the request's context, or in a read transaction of its own; the default if nobody is signed in."""
    ctx = current_context(request)
    if ctx is not None:
        return query(ctx)
    try:
        return read_transaction(request).run(query)
    except UnauthorizedError:
        return default


def build_navigation(ctx: RequestContext) -> Navigation:
    """Build the navigation of the caller."""
    may = frozenset(ctx.session.actions(ctx.principal, ctx.caller.tenant))
    spaces = ctx.session.cached(
        (navigation_for_request, ctx.principal), lambda: workspaces.page(ctx, limit=MAX_WORKSPACES).items
    )
    banner = ImpersonationBanner(resource_name(ctx, ctx.caller.member), "/view-as/end")
    roles = ctx.view.policy.kind
    may_invite = "manage_members" in may or any(
        role.invited_with in found.actions for found in spaces for role in roles(found.kind).schema.roles.values()
    )
    waiting = len(approvals.list_answerable(ctx, limit=_MAX_WAITING))
    return Navigation(
        tenant=resource_name(ctx, ctx.caller.tenant),
        places=(
            NavLink("Home", "/", "home"),
            NavLink("Requests", "/requests", "inbox", waiting or None),
            NavLink("All workspaces", "/workspaces", "boxes"),
        ),
        workspaces=tuple(_workspace_section(ctx, found) for found in spaces),
        more=(
            NavLink("People", "/people", "users"),
            NavLink("Groups", "/groups", "shapes"),
            *([NavLink("Invites", "/invites", "user-plus")] if may_invite else []),
            NavLink("Access reviews", "/reviews", "clipboard-check"),
            *([NavLink("Audit log", "/audit", "scroll-text")] if "see_audit" in may else []),
            *([NavLink("Network policy", "/network-policy", "globe")] if network_policy.RIGHT in may else []),
            *([NavLink("Access models", "/models", "shield-check")] if MANAGE_MODELS in may else []),
        ),
        person=_nav_user(ctx, may),
        view_as=banner if ctx.caller.impersonator else None,
    )


def listed_kinds(ctx: RequestContext, workspace: KindSchema) -> list[KindSchema]:
    """Return the kinds that a workspace has list pages of, in the order of its model."""
    return [kind for kind in ctx.view.policy.models[workspace.model].kinds.values() if kind.name != workspace.name]


def _workspace_section(ctx: RequestContext, found: ResourceSummary) -> NavSection:
    root = kinds.catalog_kind(ctx.view.policy, found.kind)
    href = urls.workspace(found.uid)
    places: dict[bool, list[NavLink]] = {False: [], True: []}
    for kind in listed_kinds(ctx, root):
        place = NavLink(pluralize(kind.title), urls.workspace(found.uid, kind.name), icon_of(kind.id))
        places[describe_kind(kind.id).collapsed].append(place)
    first = (NavLink("Overview", href, "layout-dashboard"), *kind_pages.workspace_links(found.uid, root.id))
    last = (NavLink("Members", f"{href}/members", "users"), *kind_pages.extra_workspace_tabs(found.uid, root.id))
    return NavSection(
        found.name, href, icon_of(root.id), root.title, (*first, *places[False], *last), tuple(places[True])
    )


def _nav_user(ctx: RequestContext, may: frozenset[str]) -> NavUser:
    # An impersonator keeps their own name, profile and way out.
    member = ctx.caller.impersonator or ctx.caller.member
    account = accounts.get(ctx, member)
    return NavUser(
        name=resource_name(ctx, member),
        note=account.email if account else "",
        places=(
            NavLink("Profile", "/profile", "user"),
            *([NavLink("View as", "/view-as", "eye")] if "view_as" in may else []),
        ),
        sign_out="/sign-out",
    )
