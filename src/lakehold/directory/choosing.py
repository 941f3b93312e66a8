"""Members by what they are: who holds a role on the tenant, who is in a group, which are service accounts.

All members of a tenant are a list of the engine; these are few of them, and are put together from the facts.
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
class Wanted:
    """What the members are to be; what is empty or None is not asked for."""

    search: str = ""
    role: str = ""
    """A role on the tenant, held by themself."""
    group: str = ""
    service: bool | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether it asks for more than a name."""
        return bool(self.role or self.group) or self.service is not None


@dataclass(frozen=True, slots=True)
class Chosen:
    """Some of those that fit, and how many fit in all."""

    items: list[Member]
    total: int


def page(ctx: RequestContext, wanted: Wanted, *, sort: str = "name", skip: int = 0, limit: int = 50) -> Chosen:
    """Those that fit and that the caller may know of, by name or by when they came."""
    if wanted.group:
        ctx.see(wanted.group)
    services = _services(ctx) if wanted.service is not None else frozenset()
    fitting = ctx.session.read_view(lambda view: _fitting(view, ctx.caller.tenant, wanted, services))
    visible = [number for number in fitting if ctx.session.can_see(ctx.asker, ctx.view.uid(number))]
    # Numbers are given in the order in which members came.
    visible.sort(reverse=sort.startswith("-"))
    if not sort.endswith("created"):
        names = ctx.view.names
        visible.sort(key=lambda number: fold_name(names.get(number) or ""), reverse=sort.startswith("-"))
    return Chosen(members.numbered(ctx, visible[skip : skip + limit]), len(visible))


def _fitting(view: FactView, tenant: str, wanted: Wanted, services: frozenset[int]) -> list[int]:
    found = set(view.by_kind.get(MEMBER) or ())
    if wanted.role:
        held = view.grants.get(view.resource(tenant)) or {}
        found &= {subject for subject, mask in held.items() if mask & role_bit(wanted.role)}
    if wanted.group:
        found &= set(view.edges_in[MEMBER_OF].get(view.resource(wanted.group)) or ())
    if wanted.service is not None:
        found = found & services if wanted.service else found - services
    searched = fold_name(wanted.search)
    return [number for number in found if searched in fold_name(view.names.get(number) or "")]


def _services(ctx: RequestContext) -> frozenset[int]:
    c = account_table.c
    query = sa.select(c.member_id).where(c.tenant_id == ctx.session.tenant, c.service.is_(True))
    return frozenset(ctx.session.transaction.connection.execute(query).scalars())
