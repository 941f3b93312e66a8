"""Members, service accounts and roles on the tenant.

Everybody in a tenant may see its members; their e-mail addresses are for those who manage members.
Lists of all members come from the access engine; filtered ones are small and are made from the facts.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lakehold.access import Add, Grant, Remove

# past the access filter: since when a member is there, of one that was asked for before
from lakehold.access.facts.tables import resource
from lakehold.access.facts.view import FactView, role_bit, role_names
from lakehold.access.model.policy import MEMBER, MEMBER_OF
from lakehold.directory import accounts, links
from lakehold.directory.accounts import account_table, valid_email
from lakehold.directory.act_for import MANAGE, need_act_for, need_unrestricted
from lakehold.directory.request_context import MomentLike, RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import CursorPage
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import fold_name, quote


def tenant_roles(ctx: RequestContext, subject: str) -> tuple[str, ...]:
    """Return the roles that a member or a group holds on the tenant directly, in the model's order."""

    def ask(view: FactView) -> tuple[str, ...]:
        tenant = view.resource(ctx.caller.tenant)
        held = set(role_names((view.grants.get(tenant) or {}).get(view.resource(subject), 0)))
        return tuple(role for role in view.policy.kind(view.kind(tenant)).schema.roles if role in held)

    return ctx.session.read_view(ask)


def give_tenant_role(ctx: RequestContext, subject: str, role: str, *, until: MomentLike | None = None) -> None:
    """Give a role on the tenant, for good or for a time."""
    ctx.make(Add(Grant(subject, role, ctx.caller.tenant)), until=until)


def take_tenant_role(ctx: RequestContext, subject: str, role: str) -> None:
    """Take a role on the tenant away."""
    ctx.make(Remove(Grant(subject, role, ctx.caller.tenant)))


def need_set_tenant_roles(ctx: RequestContext, subject: str, roles: Collection[str]) -> None:
    """Refuse unless the caller may give and take all the roles that this changes."""
    held, tenant = set(tenant_roles(ctx, subject)), ctx.caller.tenant
    for role in sorted(set(roles) - held):
        ctx.need_change(Add(Grant(subject, role, tenant)))
    for role in sorted(held - set(roles)):
        # That the last Owner must stay is checked when the change is made.
        ctx.need("give", tenant, role=role)


def set_tenant_roles(ctx: RequestContext, subject: str, roles: Collection[str]) -> None:
    """Set the roles on the tenant to exactly these: first new ones are given, so that there is always an Owner."""
    held = set(tenant_roles(ctx, subject))
    for role in sorted(set(roles) - held):
        give_tenant_role(ctx, subject, role)
    for role in sorted(held - set(roles)):
        take_tenant_role(ctx, subject, role)


@dataclass(frozen=True, slots=True)
class Member:
    """One member, as the caller may see them."""

    uid: str
    name: str
    since: Moment
    email: str | None
    """None if there is none, or if the caller may not see it."""
    service: bool
    roles: tuple[str, ...]
    """The tenant and security roles that they hold themself."""
    groups: tuple[str, ...]
    """The ids of their groups."""


def page(
    ctx: RequestContext, *, search: str = "", sort: str = "name", after: str | None = None, limit: int = 50
) -> CursorPage[Member]:
    """Return one page of the members."""
    found = ctx.session.list(ctx.principal, "see", MEMBER, search=search, sort=sort, after=after, limit=limit)
    return CursorPage(_load(ctx, [(item.uid, item.name, item.since) for item in found.items]), found.after)


def get(ctx: RequestContext, member: str) -> Member:
    """Return one member."""
    ctx.need("see", member)
    (found,) = get_many(ctx, [ctx.view.member(member)])
    return found


def get_many(ctx: RequestContext, numbers: Sequence[int]) -> list[Member]:
    """Return the members with these numbers, in order. Whether the caller may see them has been checked before."""
    c = resource.c
    since = {row.id: int(row.since) for row in ctx.rows(resource).select(c.id.in_(numbers), columns=(c.id, c.since))}
    return _load(ctx, [(ctx.view.uid(one), ctx.view.names.get(one) or "", since[one]) for one in numbers])


def add(ctx: RequestContext, name: str, *, email: str = "", uid: str | None = None) -> str:
    """Create a member without an invite. With an e-mail address they can sign in by a link."""
    created = ctx.create(MEMBER, name, uid=uid, edges={"tenant": ctx.caller.tenant})
    if email:
        accounts.add(ctx, created, email=valid_email(email))
    return created


def refuse_invalid_email(ctx: RequestContext, email: str) -> None:
    """Refuse an invalid e-mail address, or one that is taken."""
    accounts.refuse_taken_email(ctx, valid_email(email))


def need_rename(ctx: RequestContext, member: str) -> None:
    """Refuse unless the caller may rename the member. Everybody may rename themself."""
    ctx.need("see", member)
    ctx.view.member(member)
    if member == ctx.caller.member:
        need_unrestricted(ctx, "rename its member", member)
    else:
        ctx.need("edit", member)


def rename(ctx: RequestContext, member: str, name: str) -> None:
    """Rename a member."""
    need_rename(ctx, member)
    ctx.rename_unchecked(member, name)


def need_set_email(ctx: RequestContext, member: str) -> None:
    """Refuse unless the caller may set the member's e-mail address."""
    need_act_for(ctx, "set the e-mail", member)
    ctx.view.member(member)


def set_email(ctx: RequestContext, member: str, email: str) -> None:
    """Set the e-mail address with which a member signs in. It is guarded like a link: its reader could sign in."""
    ctx.need_writable()
    need_set_email(ctx, member)
    address = valid_email(email)
    account = accounts.get(ctx, member)
    if account is not None and account.service:
        raise ConflictError(f"{quote(member)} is a service account, which nobody signs in to.", "Add a member.")
    if account is None:
        accounts.add(ctx, member, email=address)
    elif account.email != address:
        accounts.set_email(ctx, member, address)
        links.delete_all(ctx, member)
    ctx.note("set e-mail", member, before={"email": account.email} if account else {}, after={"email": address})


def _load(ctx: RequestContext, rows: Sequence[tuple[str, str, Moment]]) -> list[Member]:
    numbers = {uid: ctx.view.member(uid) for uid, _, _ in rows}
    accounts_by_number = accounts.get_many(ctx, numbers.values())
    manages = ctx.session.check(ctx.principal, MANAGE, ctx.caller.tenant)

    def to_member(uid: str, name: str, since: Moment) -> Member:
        account = accounts_by_number.get(numbers[uid])
        may = manages or (uid == ctx.caller.member and ctx.caller.narrowed is None)
        email = account.email or None if account is not None and may else None
        groups = ctx.session.read_view(
            lambda view: list(map(view.uid, view.edges_out[MEMBER_OF].get(numbers[uid]) or ()))
        )
        visible = tuple(group for group in groups if ctx.session.can_see(ctx.principal, group))
        is_service = account is not None and account.service
        return Member(uid, name, since, email, is_service, tenant_roles(ctx, uid), visible)

    return [to_member(*row) for row in rows]


def create_service_account(ctx: RequestContext, name: str, *, uid: str | None = None) -> str:
    """Create a service account. It can do nothing until it is given roles and a token."""
    ctx.need(MANAGE, ctx.caller.tenant)
    created = ctx.create(MEMBER, name, uid=uid, edges={"tenant": ctx.caller.tenant})
    accounts.add(ctx, created, service=True)
    ctx.note("make service account", created)
    return created


def list_service_accounts(ctx: RequestContext) -> list[Member]:
    """Return all service accounts by name, for those who manage members."""
    ctx.need(MANAGE, ctx.caller.tenant)
    uids = [uid for number in _service_accounts(ctx) if (uid := ctx.view.uids.get(number)) is not None]
    return sorted((get(ctx, uid) for uid in uids), key=lambda member: (member.name, member.uid))


@dataclass(frozen=True, slots=True)
class MemberFilter:
    """Criteria for members; those that are empty or None do not filter."""

    search: str = ""
    role: str = ""
    """A role on the tenant, held by themself."""
    group: str = ""
    service: bool | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether it filters by more than a name."""
        return bool(self.role or self.group) or self.service is not None


@dataclass(frozen=True, slots=True)
class MemberSelection:
    """A page of matching members, and the number of all that match."""

    items: list[Member]
    total: int


def filtered_page(
    ctx: RequestContext, criteria: MemberFilter, *, sort: str = "name", skip: int = 0, limit: int = 50
) -> MemberSelection:
    """Return the matching members that the caller may see, by name or by creation time."""
    if criteria.group:
        ctx.need_visible(criteria.group)
    services = _service_accounts(ctx) if criteria.service is not None else frozenset()
    matching = ctx.session.read_view(lambda view: _matching(view, ctx.caller.tenant, criteria, services))
    visible = [number for number in matching if ctx.session.can_see(ctx.principal, ctx.view.uid(number))]
    # Numbers are given in the order in which members came.
    visible.sort(reverse=sort.startswith("-"))
    if not sort.endswith("created"):
        names = ctx.view.names
        visible.sort(key=lambda number: fold_name(names.get(number) or ""), reverse=sort.startswith("-"))
    return MemberSelection(get_many(ctx, visible[skip : skip + limit]), len(visible))


def _matching(view: FactView, tenant: str, criteria: MemberFilter, services: frozenset[int]) -> list[int]:
    found = set(view.by_kind.get(MEMBER) or ())
    if criteria.role:
        held = view.grants.get(view.resource(tenant)) or {}
        found &= {subject for subject, mask in held.items() if mask & role_bit(criteria.role)}
    if criteria.group:
        found &= set(view.edges_in[MEMBER_OF].get(view.resource(criteria.group)) or ())
    if criteria.service is not None:
        found = found & services if criteria.service else found - services
    searched = fold_name(criteria.search)
    return [number for number in found if searched in fold_name(view.names.get(number) or "")]


def _service_accounts(ctx: RequestContext) -> frozenset[int]:
    c = account_table.c
    return frozenset(ctx.rows(account_table).select(c.service.is_(True), columns=(c.member_id,)).scalars())
