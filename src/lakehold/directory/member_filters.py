"""Members filtered by a role on the tenant, a group, or whether they are service accounts.

Lists of all members come from the access engine; filtered ones are small and are made from the facts.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from lakehold.access.facts.view import FactView, role_bit
from lakehold.access.model.policy import MEMBER, MEMBER_OF
from lakehold.directory import members
from lakehold.directory.accounts import account_table
from lakehold.directory.members import Member
from lakehold.directory.request_context import RequestContext
from lakehold.kit.ids import fold_name


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
    return MemberSelection(members.get_many(ctx, visible[skip : skip + limit]), len(visible))


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
    query = sa.select(c.member_id).where(c.tenant_id == ctx.session.tenant, c.service.is_(True))
    return frozenset(ctx.session.transaction.connection.execute(query).scalars())
