"""All members, and adding one."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.access.model.policy import TENANT
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory import groups, member_filters, members
from lakehold.directory.act_for import MANAGE
from lakehold.directory.member_filters import MemberFilter
from lakehold.directory.members import Member
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import valid_name
from lakehold.web import pages, urls
from lakehold.web.cookies import Flash
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.people.acting import Keeper
from lakehold.web.routing import SubmittedForm, router

routes = router("/people")

_COLUMNS = (
    ListColumn("Name", "name"),
    ListColumn("Tenant roles"),
    ListColumn("Groups", wide=True),
    ListColumn("Here since", "created", wide=True),
)
_KINDS = (("person", "People"), ("service", "Service accounts"))
_MOST_GROUPS = 200


@routes.get("")
def people_page(request: Request, ctx: ReadContext) -> Response:
    """The list."""
    listing = ListState.from_request(request, sorts=("name", "created"), filters=_filters(ctx))
    found, total, after = _found(ctx, listing)
    keeper, eyes = Keeper(ctx), VisibleRefs(ctx)
    values: dict[str, object] = {
        "listing": listing,
        "columns": _COLUMNS,
        "rows": [(n, one, eyes.refs(one.groups), keeper.in_row(one)) for n, one in enumerate(found)],
        "total": total,
        "after": after or "",
        "keeper": keeper,
        "add": keeper.needs("Add somebody", "/people/new", "plus", MANAGE, dialog=True),
        "service": keeper.needs("New service account", "/people/new-service-account", "sparkles", MANAGE, dialog=True),
    }
    return pages.render(request, "people/people.html", values)


@routes.get("/new")
def new_form(request: Request, ctx: ReadContext) -> Response:
    """Add a member without an invite."""
    ctx.need(MANAGE, ctx.caller.tenant)
    return pages.render(request, "people/new.html", {"name": "", "email": "", "errors": {}})


@routes.post("/new")
def add(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """Add them."""
    ctx.need(MANAGE, ctx.caller.tenant)
    name, email = str(sent.get("name", "")).strip(), str(sent.get("email", "")).strip()
    errors = {}
    try:
        valid_name(name)
    except InvalidInputError as error:
        errors["name"] = str(error)
    if not errors:
        try:
            made = add_member(ctx, name, email)
            return pages.redirect(request, urls.member(made), Flash(f"{name} was added."))
        except (InvalidInputError, ConflictError) as error:
            errors["email"] = str(error)
    return pages.render(request, "people/new.html", {"name": name, "email": email, "errors": errors}, status=422)


def add_member(ctx: RequestContext, name: str, email: str) -> str:
    """Make the member, once it is sure that the address can be theirs."""
    if email:
        members.refuse_invalid_email(ctx, email)
    return members.add(ctx, name, email=email)


def _filters(ctx: RequestContext) -> list[ListFilter]:
    roles = ctx.view.policy.kind(TENANT).schema.roles
    known = groups.page(ctx, limit=_MOST_GROUPS).items
    return [
        ListFilter("role", "Role", tuple((name, role.title) for name, role in roles.items())),
        ListFilter("group", "Group", tuple((found.uid, found.name) for found in known)),
        ListFilter("kind", "Kind", _KINDS),
    ]


def _found(ctx: RequestContext, listing: ListState) -> tuple[list[Member], int | None, str | None]:
    """Those on this page; how many there are in all if that is known, else where the next page begins."""
    chosen = listing.chosen
    service = {"person": False, "service": True}.get(chosen["kind"])
    wanted = MemberFilter(listing.search, chosen["role"], chosen["group"], service)
    sort = f"-{listing.sort}" if listing.descending else listing.sort
    if wanted.is_narrow:
        some = member_filters.filtered_page(
            ctx, wanted, sort=sort, skip=(listing.page - 1) * listing.size, limit=listing.size
        )
        return some.items, some.total, None
    found = members.page(ctx, search=listing.search, sort=sort, after=listing.after or None, limit=listing.size)
    return found.items, None, found.after
