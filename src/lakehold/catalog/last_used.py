"""When a role was last made use of: the last day on which one of its holders did anything with what it is on.

What lies in it counts too: who may edit a layer makes use of that by editing a table in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import sqlalchemy as sa

from lakehold.access.facts.view import ALL_MEMBERS, FactView
from lakehold.access.model.policy import GROUP, MEMBER_OF
from lakehold.catalog.usage import last_use_table
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, Moment

Held = tuple[str, str]
"""The ids of who holds a role, and of what it is on."""
_AT_ONCE = 500
_MOST = 50_000


def of(ctx: RequestContext, held: Iterable[Held]) -> dict[Held, Moment]:
    """The last days of some roles; of those that were ever used. Who calls has asked whether the caller may know."""
    wanted = list(held)
    holders = ctx.session.read_view(lambda view: {who: _members(view, who) for who, _ in wanted})
    uses = _uses(ctx, {member for members in holders.values() for member in members})
    return ctx.session.read_view(lambda view: _found(view, wanted, holders, uses))


def _members(view: FactView, subject: str) -> Collection[int]:
    number = view.ids.get(subject)
    if number is None:
        return ()
    match view.kind(number):
        case kind if kind == ALL_MEMBERS:
            return view.members.keys()
        case kind if kind == GROUP:
            return (view.edges_in[MEMBER_OF].get(number) or {}).keys()
        case _:
            return (number,)


def _uses(ctx: RequestContext, members: Collection[int]) -> dict[int, list[tuple[int, int]]]:
    """What each of them used, and on which day, newest first."""
    c, wanted = last_use_table.c, sorted(members)
    found: dict[int, list[tuple[int, int]]] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        last = sa.func.max(c.day)
        query = (
            sa.select(c.member_id, c.resource_id, last)
            .where(c.tenant_id == ctx.session.tenant, c.member_id.in_(wanted[start : start + _AT_ONCE]))
            .group_by(c.member_id, c.resource_id)
            .order_by(last.desc())
            .limit(_MOST)
        )
        for member, resource, day in ctx.session.transaction.connection.execute(query):
            found.setdefault(member, []).append((resource, day))
    return found


def _found(
    view: FactView, wanted: list[Held], holders: dict[str, Collection[int]], uses: dict[int, list[tuple[int, int]]]
) -> dict[Held, Moment]:
    places: dict[int, frozenset[int]] = {}
    found = {}
    for who, what in wanted:
        here = view.ids.get(what)
        days = [
            next((day for resource, day in uses.get(member, ()) if here in _place(view, resource, places)), 0)
            for member in holders[who]
        ]
        if here is not None and any(days):
            found[who, what] = max(days) * DAY
    return found


def _place(view: FactView, resource: int, known: dict[int, frozenset[int]]) -> frozenset[int]:
    """The resource, and all that it lies in."""
    if resource not in known:
        parent = view.policy.kinds[view.kind(resource)].parent if view.kind(resource) else None
        above = view.edges_out[parent.edge].get(resource) if parent else None
        known[resource] = frozenset({resource}) | (_place(view, above[0], known) if above else frozenset())
    return known[resource]
