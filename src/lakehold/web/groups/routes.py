"""All groups, and making one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fastapi import Request, Response

from lakehold.access.model.policy import MEMBER_OF, TENANT
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.directory import groups
from lakehold.directory import members as roles
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name, valid_name
from lakehold.web import pages, urls
from lakehold.web.components import PageAction
from lakehold.web.cookies import Flash
from lakehold.web.list_view import ListColumn, ListState
from lakehold.web.people.acting import Keeper
from lakehold.web.routing import SubmittedForm, router

routes = router("/groups")

MANAGE = "manage_groups"
_COLUMNS = (
    ListColumn("Group", "name"),
    ListColumn("Members", number=True),
    ListColumn("Tenant roles", wide=True),
    ListColumn("Made", "created", wide=True),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One group of the list."""

    uid: str
    name: str
    built_in: bool
    members: int | None
    """None for All, which is whoever is there."""
    roles: list[str]
    since: Moment | None
    actions: list[PageAction]


@routes.get("")
def groups_page(request: Request, ctx: ReadContext) -> Response:
    """The list, with the built-in group All at its head."""
    listing = ListState.from_request(request, sorts=("name", "created"))
    sort = f"-{listing.sort}" if listing.descending else listing.sort
    found = groups.page(ctx, search=listing.search, sort=sort, after=listing.after or None, limit=listing.size)
    keeper = Keeper(ctx)
    rows = [_row(ctx, keeper, item.uid, item.since) for item in found.items]
    values: dict[str, object] = {
        "listing": listing,
        "columns": _COLUMNS,
        "rows": list(enumerate([*_everybody(ctx, keeper, listing), *rows])),
        "after": found.after or "",
        "keeper": keeper,
        "new": keeper.needs("New group", "/groups/new", "plus", MANAGE, dialog=True),
    }
    return pages.render(request, "groups/groups.html", values)


@routes.get("/new")
def new_form(request: Request, ctx: ReadContext) -> Response:
    """What it is called."""
    ctx.need(MANAGE, ctx.caller.tenant)
    return pages.render(request, "groups/new.html", {"name": "", "error": ""})


@routes.post("/new")
def make(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """Make it, with nobody in it."""
    ctx.need(MANAGE, ctx.caller.tenant)
    name = str(sent.get("name", "")).strip()
    try:
        made = groups.create(ctx, valid_name(name))
    except InvalidInputError as error:
        return pages.render(request, "groups/new.html", {"name": name, "error": str(error)}, status=422)
    return pages.redirect(request, urls.group(made), Flash(f"{name} was made. Add people to it next."))


def _everybody(ctx: RequestContext, keeper: Keeper, listing: ListState) -> list[Row]:
    """The group All, on the first page and if it fits."""
    uid = groups.all_members_group(ctx)
    if listing.after or not ctx.session.can_see(ctx.asker, uid):
        return []
    row = _row(ctx, keeper, uid, None)
    return [row] if fold_name(listing.search) in fold_name(row.name) else []


def _row(ctx: RequestContext, keeper: Keeper, uid: str, since: Moment | None) -> Row:
    view = ctx.view
    number = view.resource(uid)
    built_in = since is None
    inside = None if built_in else len(view.edges_in[MEMBER_OF].get(number) or ())
    titles = [view.policy.role(TENANT, role).title for role in roles.tenant_roles(ctx, uid)]
    return Row(uid, view.names.get(number) or uid, built_in, inside, titles, since, _actions(keeper, uid, built_in))


def _actions(keeper: Keeper, uid: str, built_in: bool) -> list[PageAction]:  # noqa: FBT001 - read at the one place
    page = PageAction("Open", urls.group(uid), icon="arrow-right")
    if built_in:
        return [page]
    add = keeper.needs("Add somebody", urls.group(uid, "add"), "user-plus", MANAGE, dialog=True)
    return [page, add, *changing(keeper, uid)]


def changing(keeper: Keeper, uid: str) -> list[PageAction]:
    """What is done with a group itself."""
    end = keeper.needs("Delete", urls.group(uid, "delete"), "trash-2", MANAGE)
    return [
        keeper.needs("Rename", urls.group(uid, "rename"), "pencil", MANAGE, dialog=True),
        replace(end, method="post", danger=True),
    ]
