"""The list of groups, and creating one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fastapi import Request, Response

from lakehold.access.model.policy import MEMBER_OF, TENANT
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.directory import groups
from lakehold.directory.members import tenant_roles
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name, valid_name
from lakehold.web import pages, urls
from lakehold.web.components import PageAction
from lakehold.web.cookies import Flash
from lakehold.web.list_view import ListColumn, ListState
from lakehold.web.people.member_actions import MemberActions
from lakehold.web.routing import SubmittedForm, router

routes = router("/groups")

MANAGE = "manage_groups"
_COLUMNS = (
    ListColumn("Group", "name"),
    ListColumn("Members", number=True),
    ListColumn("Tenant roles", wide=True),
    ListColumn("Created", "created", wide=True),
)


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One row of the list of groups."""

    uid: str
    name: str
    built_in: bool
    members: int | None
    """None for the group All, which contains every member."""
    roles: list[str]
    since: Moment | None
    actions: list[PageAction]


@routes.get("")
def groups_page(request: Request, ctx: ReadContext) -> Response:
    """Show the list, with the built-in group All first."""
    listing = ListState.from_request(request, sorts=("name", "created"))
    sort = f"-{listing.sort}" if listing.descending else listing.sort
    found = groups.page(ctx, search=listing.search, sort=sort, after=listing.after or None, limit=listing.size)
    member_actions = MemberActions(ctx)
    rows = [_group_row(ctx, member_actions, item.uid, item.since) for item in found.items]
    values: dict[str, object] = {
        "listing": listing,
        "columns": _COLUMNS,
        "rows": list(enumerate([*_all_members_row(ctx, member_actions, listing), *rows])),
        "after": found.after or "",
        "keeper": member_actions,
        "new": member_actions.action_for_right("New group", "/groups/new", "plus", MANAGE, dialog=True),
    }
    return pages.render(request, "groups/groups.html", values)


@routes.get("/new")
def new_group_form(request: Request, ctx: ReadContext) -> Response:
    """Show the form for a new group."""
    ctx.need(MANAGE, ctx.caller.tenant)
    return pages.render(request, "groups/new.html", {"name": "", "error": ""})


@routes.post("/new")
def create_group(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """Create a group without members."""
    ctx.need(MANAGE, ctx.caller.tenant)
    name = str(sent.get("name", "")).strip()
    try:
        made = groups.create(ctx, valid_name(name))
    except InvalidInputError as error:
        return pages.render(request, "groups/new.html", {"name": name, "error": str(error)}, status=422)
    return pages.redirect(request, urls.group(made), Flash(f"{name} was created. Add members next."))


def _all_members_row(ctx: RequestContext, member_actions: MemberActions, listing: ListState) -> list[GroupRow]:
    """Return the row of the group All, if it belongs on this page and matches the search."""
    uid = groups.all_members_group(ctx)
    if listing.after or not ctx.session.can_see(ctx.principal, uid):
        return []
    row = _group_row(ctx, member_actions, uid, None)
    return [row] if fold_name(listing.search) in fold_name(row.name) else []


def _group_row(ctx: RequestContext, member_actions: MemberActions, uid: str, since: Moment | None) -> GroupRow:
    view = ctx.view
    number = view.resource(uid)
    built_in = since is None
    inside = None if built_in else len(view.edges_in[MEMBER_OF].get(number) or ())
    titles = [view.policy.role(TENANT, role).title for role in tenant_roles(ctx, uid)]
    return GroupRow(
        uid, view.names.get(number) or uid, built_in, inside, titles, since, _row_actions(member_actions, uid, built_in)
    )


def _row_actions(member_actions: MemberActions, uid: str, built_in: bool) -> list[PageAction]:  # noqa: FBT001 - read at the one place
    page = PageAction("Open", urls.group(uid), icon="arrow-right")
    if built_in:
        return [page]
    add = member_actions.action_for_right("Add member", urls.group(uid, "add"), "user-plus", MANAGE, dialog=True)
    return [page, add, *group_actions(member_actions, uid)]


def group_actions(member_actions: MemberActions, uid: str) -> list[PageAction]:
    """Return the actions that change the group itself."""
    end = member_actions.action_for_right("Delete", urls.group(uid, "delete"), "trash-2", MANAGE)
    return [
        member_actions.action_for_right("Rename", urls.group(uid, "rename"), "pencil", MANAGE, dialog=True),
        replace(end, method="post", danger=True),
    ]
