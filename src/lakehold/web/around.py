"""What is around the pages of somebody who is signed in: where they can go, worked out from what they may see."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from fastapi import Request

from lakehold.access.model.schema import KindSchema
from lakehold.api.http.authentication import authenticate, read_credentials
from lakehold.api.http.dependencies import current_context, get_authenticator, get_platform
from lakehold.catalog import approvals, kinds, workspaces
from lakehold.catalog.resource_view import ResourceSummary
from lakehold.directory import accounts
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.request_context import RequestContext
from lakehold.web import addresses, views
from lakehold.web.icons import icon_of
from lakehold.web.navigation import Around, Person, Place, Section, ViewAs
from lakehold.web.words import plural

T = TypeVar("T")

MOST_WORKSPACES = 12
_MOST_WAITING = 50


def around(request: Request) -> Around:
    """What is around a page; nothing if nobody is signed in."""
    return looking(request, of, Around())


def looking(request: Request, ask: Callable[[RequestContext], T], otherwise: T) -> T:
    """Ask in the work that the page is made in; for a page that is made without one, in a look of its own. Where nobody
    is signed in there is nothing to ask.
    """
    ctx = current_context(request)
    if ctx is not None:
        return ask(ctx)
    platform = get_platform(request)
    try:
        shown = read_credentials(request)
        with platform.database.read() as transaction:
            caller = authenticate(get_authenticator(request), platform, transaction, shown)
            return ask(RequestContext(platform.access.session(transaction, caller.tenant), caller, platform.keys))
    except UnauthorizedError:
        return otherwise


def of(ctx: RequestContext) -> Around:
    """Everything around the caller's pages."""
    may = frozenset(ctx.session.actions(ctx.asker, ctx.caller.tenant))
    spaces = ctx.session.cached((around, ctx.asker), lambda: workspaces.page(ctx, limit=MOST_WORKSPACES).items)
    waiting = len(approvals.list_answerable(ctx, limit=_MOST_WAITING))
    return Around(
        tenant=_name(ctx, ctx.caller.tenant),
        places=(
            Place("Home", "/", "home"),
            Place("Requests", "/requests", "inbox", waiting or None),
            Place("All workspaces", "/workspaces", "boxes"),
        ),
        workspaces=tuple(_section(ctx, found) for found in spaces),
        more=tuple(_more(may, invites="manage_members" in may or _may_invite(ctx, spaces))),
        person=_person(ctx, may),
        view_as=ViewAs(_name(ctx, ctx.caller.member), "/view-as/end") if ctx.caller.impersonator else None,
    )


def listed_kinds(ctx: RequestContext, workspace: KindSchema) -> list[KindSchema]:
    """The kinds that a workspace has pages of: everything in it, in its model's order."""
    return [kind for kind in ctx.view.policy.models[workspace.model].kinds.values() if kind.name != workspace.name]


def _section(ctx: RequestContext, found: ResourceSummary) -> Section:
    root = kinds.catalog_kind(ctx.view.policy, found.kind)
    href = addresses.workspace(found.uid)
    aside = views.ASIDE.get(root.id, frozenset())
    places: dict[bool, list[Place]] = {False: [], True: []}
    for kind in listed_kinds(ctx, root):
        place = Place(plural(kind.title), addresses.workspace(found.uid, kind.name), icon_of(kind.id))
        places[kind.name in aside].append(place)
    first = (Place("Overview", href, "layout-dashboard"), *views.places(found.uid, root.id))
    last = (Place("Members", f"{href}/members", "users"), *views.beside(found.uid, root.id))
    return Section(found.name, href, icon_of(root.id), root.title, (*first, *places[False], *last), tuple(places[True]))


def _may_invite(ctx: RequestContext, spaces: list[ResourceSummary]) -> bool:
    """Whether one of these workspaces lets them bring people in themselves."""
    roles = ctx.view.policy.kind
    return any(
        role.invited_with in found.actions for found in spaces for role in roles(found.kind).schema.roles.values()
    )


def _more(may: frozenset[str], *, invites: bool) -> list[Place]:
    more = [Place("People", "/people", "users"), Place("Groups", "/groups", "shapes")]
    if invites:
        more.append(Place("Invites", "/invites", "user-plus"))
    more.append(Place("Access reviews", "/reviews", "clipboard-check"))
    if "see_audit" in may:
        more.append(Place("Audit log", "/audit", "scroll-text"))
    return more


def _person(ctx: RequestContext, may: frozenset[str]) -> Person:
    # Who looks with another's eyes is still themself: their own name, profile and way out.
    member = ctx.caller.impersonator or ctx.caller.member
    account = accounts.get(ctx, member)
    return Person(
        name=_name(ctx, member),
        note=account.email if account else "",
        places=(
            Place("Profile", "/profile", "user"),
            *([Place("View as", "/view-as", "eye")] if "view_as" in may else []),
        ),
        sign_out="/sign-out",
    )


def _name(ctx: RequestContext, uid: str) -> str:
    return ctx.view.names.get(ctx.view.resource(uid)) or uid
