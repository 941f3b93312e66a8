"""The list of members, and adding one."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.access.model.policy import TENANT
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory import groups, members
from lakehold.directory.act_for import MANAGE
from lakehold.directory.members import Member, MemberFilter
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import valid_name
from lakehold.web import pages, urls
from lakehold.web.cookies import Flash
from lakehold.web.form_values import collect_errors
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.people.member_actions import MemberActions
from lakehold.web.routing import SubmittedForm, router

routes = router("/people")

_COLUMNS = (
    ListColumn("Name", "name"),
    ListColumn("Tenant roles"),
    ListColumn("Groups", wide=True),
    ListColumn("Joined", "created", wide=True),
)
_KINDS = (("person", "People"), ("service", "Service accounts"))
_MAX_GROUPS = 200


@routes.get("")
def people_page(request: Request, ctx: ReadContext) -> Response:
    """Show the list of members."""
    listing = ListState.from_request(request, sorts=("name", "created"), filters=_filters(ctx))
    found, total, after = _list_members(ctx, listing)
    member_actions, eyes = MemberActions(ctx), VisibleRefs(ctx)
    values: dict[str, object] = {
        "listing": listing,
        "columns": _COLUMNS,
        "rows": [(n, one, eyes.refs(one.groups), member_actions.row_actions(one)) for n, one in enumerate(found)],
        "total": total,
        "after": after or "",
        "keeper": member_actions,
        "add": member_actions.action_for_right("Add member", "/people/new", "plus", MANAGE, dialog=True),
        "service": member_actions.action_for_right(
            "New service account", "/people/new-service-account", "sparkles", MANAGE, dialog=True
        ),
    }
    return pages.render(request, "people/people.html", values)


@routes.get("/new")
def new_member_form(request: Request, ctx: ReadContext) -> Response:
    """Show the form that adds a member without an invite."""
    ctx.need(MANAGE, ctx.caller.tenant)
    return pages.render(request, "people/new.html", {"name": "", "email": "", "errors": {}})


@routes.post("/new")
def create_member(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """Add a member."""
    ctx.need(MANAGE, ctx.caller.tenant)
    name, email = str(sent.get("name", "")).strip(), str(sent.get("email", "")).strip()
    errors = collect_errors(name=lambda: valid_name(name))
    if not errors:
        try:
            made = add_member(ctx, name, email)
            return pages.redirect(request, urls.member(made), Flash(f"{name} was added."))
        except (InvalidInputError, ConflictError) as error:
            errors["email"] = str(error)
    return pages.render(request, "people/new.html", {"name": name, "email": email, "errors": errors}, status=422)


def add_member(ctx: RequestContext, name: str, email: str) -> str:
    """Create the member, after checking that the e-mail address can be theirs."""
    if email:
        members.refuse_invalid_email(ctx, email)
    return members.add(ctx, name, email=email)


def _filters(ctx: RequestContext) -> list[ListFilter]:
    roles = ctx.view.policy.kind(TENANT).schema.roles
    known = groups.page(ctx, limit=_MAX_GROUPS).items
    return [
        ListFilter("role", "Role", tuple((name, role.title) for name, role in roles.items())),
        ListFilter("group", "Group", tuple((found.uid, found.name) for found in known)),
        ListFilter("kind", "Kind", _KINDS),
    ]


def _list_members(ctx: RequestContext, listing: ListState) -> tuple[list[Member], int | None, str | None]:
    """Return the members of this page, the total if it is known, and the cursor of the next page."""
    chosen = listing.chosen
    service = {"person": False, "service": True}.get(chosen["kind"])
    member_filter = MemberFilter(listing.search, chosen["role"], chosen["group"], service)
    sort = f"-{listing.sort}" if listing.descending else listing.sort
    if member_filter.is_narrow:
        some = members.filtered_page(
            ctx, member_filter, sort=sort, skip=(listing.page - 1) * listing.size, limit=listing.size
        )
        return some.items, some.total, None
    found = members.page(ctx, search=listing.search, sort=sort, after=listing.after or None, limit=listing.size)
    return found.items, None, found.after
