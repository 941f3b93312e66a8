"""Groups, which hold roles like a member does and pass them on to their members. The group All is built in."""

from dataclasses import dataclass

from lakehold.access import Add, Edge, Remove
from lakehold.access.facts.view import ALL_MEMBERS, FactView
from lakehold.access.model.policy import GROUP, MEMBER_OF
from lakehold.access.query.listing import ListingPage
from lakehold.directory.members import tenant_roles
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ForbiddenError, InvalidInputError
from lakehold.kit.ids import quote


@dataclass(frozen=True, slots=True)
class Group:
    """One group."""

    uid: str
    name: str
    built_in: bool
    """Whether it is the built-in group All, which contains every member."""
    members: tuple[str, ...]
    """The ids of those who are in it, by name. Empty for All, which has no list."""
    roles: tuple[str, ...]
    """The roles that it holds on the tenant."""


def page(
    ctx: RequestContext, *, search: str = "", sort: str = "name", after: str | None = None, limit: int = 50
) -> ListingPage:
    """Return one page of the groups that people created."""
    return ctx.session.list(ctx.principal, "see", GROUP, search=search, sort=sort, after=after, limit=limit)


def get(ctx: RequestContext, group: str) -> Group:
    """Return one group with its members."""
    _need_group(ctx, group)
    ctx.need("see", group)
    member_ids, name, built_in = ctx.session.read_view(lambda view: _load(view, group))
    visible = tuple(member for member in member_ids if ctx.session.can_see(ctx.principal, member))
    return Group(group, name, built_in, visible, tenant_roles(ctx, group))


def all_members_group(ctx: RequestContext) -> str:
    """Return the id of the group All."""
    return ctx.session.read_view(lambda view: view.uid(view.everyone))


def create(ctx: RequestContext, name: str, *, uid: str | None = None) -> str:
    """Create an empty group."""
    return ctx.create(GROUP, name, uid=uid, edges={"tenant": ctx.caller.tenant})


def rename(ctx: RequestContext, group: str, name: str) -> None:
    """Rename a group. Its roles and members stay."""
    need_edit(ctx, group)
    ctx.rename_unchecked(group, name)


def need_edit(ctx: RequestContext, group: str) -> None:
    """Refuse unless the caller may change the group."""
    _refuse_built_in(ctx, group)
    ctx.need("edit", group)


def delete(ctx: RequestContext, group: str) -> None:
    """Delete a group. Its members lose what they had by it, and nothing else."""
    _refuse_built_in(ctx, group)
    ctx.delete(group)


def add(ctx: RequestContext, group: str, member: str, *, until: Moment | None = None) -> None:
    """Add a member, permanently or for a time."""
    _refuse_built_in(ctx, group)
    ctx.make(Add(Edge(MEMBER_OF, member, group)), until=until)


def remove(ctx: RequestContext, group: str, member: str) -> None:
    """Remove a member from a group."""
    _refuse_built_in(ctx, group)
    ctx.make(Remove(Edge(MEMBER_OF, member, group)))


def _refuse_built_in(ctx: RequestContext, group: str) -> None:
    _need_group(ctx, group)
    if ctx.view.kind(ctx.view.resource(group)) == ALL_MEMBERS:
        raise ForbiddenError("The group All is built in and cannot be changed.", "Create another group.")


def _need_group(ctx: RequestContext, group: str) -> None:
    ctx.need_visible(group)
    if ctx.view.kind(ctx.view.resource(group)) not in {GROUP, ALL_MEMBERS}:
        raise InvalidInputError(f"{quote(group)} is not a group.", "Check the ID in the list of groups.")


def _load(view: FactView, group: str) -> tuple[list[str], str, bool]:
    here = view.resource(group)
    inside = sorted(view.edges_in[MEMBER_OF].get(here) or (), key=lambda number: (view.names.get(number) or "", number))
    return [view.uid(number) for number in inside], view.names.get(here) or "", view.kind(here) == ALL_MEMBERS
