"""Last use of resources and roles, by member, action and day. Collected in memory and written from time to time.

What a process has not written is lost if it is killed. Usage statistics are no proof; the audit log is.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from lakehold.access.facts.view import ALL_MEMBERS, FactView
from lakehold.access.model.policy import GROUP, MEMBER_OF
from lakehold.catalog import change_preview
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, Moment
from lakehold.kit.database import Database, IdType, Transaction, metadata
from lakehold.kit.errors import BusyError

last_use_table = sa.Table(
    "last_use",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("resource_id", IdType, primary_key=True),
    sa.Column("member_id", IdType, primary_key=True),
    sa.Column("action", sa.Text, primary_key=True),
    # Whole days since 1970, UTC.
    sa.Column("day", sa.Integer, nullable=False),
)
sa.Index("last_use_by_member", last_use_table.c.tenant_id, last_use_table.c.member_id, last_use_table.c.day)

_AT_ONCE = 500
_MAX_LISTED = 1_000


class _Use(NamedTuple):
    tenant_id: int
    resource_id: int
    member_id: int
    action: str


@dataclass(frozen=True, slots=True)
class LastUse:
    """The last day on which a member did an action with a resource. `at` is the beginning of the day."""

    member: ResourceRef
    resource: ResourceRef
    action: str
    at: Moment


class UsageRecorder:
    """Uses that this process has recorded and not written yet, shared by its threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: dict[_Use, int] = {}
        self._written: dict[_Use, int] = {}

    def record(self, ctx: RequestContext, action: str, uid: str, *, at: Moment | None = None) -> None:
        """Record that the caller did this now, or at that moment. Impersonated callers are not recorded."""
        if ctx.caller.impersonator or not ctx.caller.member:
            return
        numbers = ctx.session.read_view(lambda view: (view.ids.get(uid), view.ids.get(ctx.caller.member)))
        day = (ctx.at if at is None else at) // DAY
        if numbers[0] is None or numbers[1] is None:
            return
        use = _Use(ctx.session.tenant, numbers[0], numbers[1], action)
        with self._lock:
            if self._written.get(use) != day:
                self._waiting[use] = day

    def flush(self, database: Database) -> int:
        """Write the recorded uses and return their number. If the database is busy they are kept for the next time."""
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        if not waiting:
            return 0
        try:
            with database.write() as transaction:
                rows = [use._asdict() | {"day": day} for use, day in sorted(waiting.items())]
                for start in range(0, len(rows), _AT_ONCE):
                    _save(transaction, rows[start : start + _AT_ONCE])
        except BusyError:
            with self._lock:
                self._waiting = waiting | self._waiting
            return 0
        with self._lock:
            today = max(waiting.values())
            # Only today's: what was written on other days will be written again.
            self._written = {use: day for use, day in (self._written | waiting).items() if day == today}
        return len(waiting)


def list_for_resource(ctx: RequestContext, uid: str) -> list[LastUse]:
    """Return the last uses of a resource, newest first: all for those who may know its holders, else one's own."""
    ctx.need_visible(uid)
    which = last_use_table.c.resource_id == ctx.view.resource(uid)
    if not change_preview.may_know_holders(ctx, uid):
        which &= last_use_table.c.member_id == ctx.view.member(ctx.caller.member)
    return _load(ctx, which)


def list_for_member(ctx: RequestContext, member: str) -> list[LastUse]:
    """Return a member's last uses that the caller may see, newest first. For oneself, or with the right to ask."""
    ctx.need_visible(member)
    if member != ctx.caller.member:
        ctx.need(change_preview.ASK, ctx.caller.tenant)
    return _load(ctx, last_use_table.c.member_id == ctx.view.member(member))


def _save(transaction: Transaction, rows: list[dict[str, object]]) -> None:
    insert = (sqlite if transaction.dialect == "sqlite" else postgresql).insert(last_use_table).values(rows)
    later = insert.excluded.day > last_use_table.c.day
    transaction.connection.execute(
        insert.on_conflict_do_update(index_elements=_Use._fields, set_={"day": insert.excluded.day}, where=later)
    )


def _load(ctx: RequestContext, which: sa.ColumnElement[bool]) -> list[LastUse]:
    c = last_use_table.c
    order = (c.day.desc(), c.resource_id, c.member_id, c.action)
    visible_refs = VisibleRefs(ctx)
    found = []
    for row in ctx.rows(last_use_table).select(which, order_by=order, limit=_MAX_LISTED):
        who, what = visible_refs.by_number(row.member_id), visible_refs.by_number(row.resource_id)
        if who and what:
            found.append(LastUse(who, what, row.action, row.day * DAY))
    return found


RoleHolding = tuple[str, str]
"""The ids of who holds a role, and of what it is on."""
_MEMBERS_PER_QUERY = 500
_MAX_ROWS = 50_000


def last_role_uses(ctx: RequestContext, pairs: Iterable[RoleHolding]) -> dict[RoleHolding, Moment]:
    """Return the last day of use of those roles that were ever used. That the caller may know was checked before."""
    holdings = list(pairs)
    holders = ctx.session.read_view(lambda view: {who: _subject_members(view, who) for who, _ in holdings})
    uses = _load_uses(ctx, {member for members in holders.values() for member in members})
    return ctx.session.read_view(lambda view: _match_uses(view, holdings, holders, uses))


def _subject_members(view: FactView, subject: str) -> Collection[int]:
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


def _load_uses(ctx: RequestContext, members: Collection[int]) -> dict[int, list[tuple[int, int]]]:
    """Return what each member used, and on which day, newest first."""
    c, numbers = last_use_table.c, sorted(members)
    found: dict[int, list[tuple[int, int]]] = {}
    for start in range(0, len(numbers), _MEMBERS_PER_QUERY):
        last = sa.func.max(c.day)
        query = (
            sa.select(c.member_id, c.resource_id, last)
            .where(c.tenant_id == ctx.session.tenant, c.member_id.in_(numbers[start : start + _MEMBERS_PER_QUERY]))
            .group_by(c.member_id, c.resource_id)
            .order_by(last.desc())
            .limit(_MAX_ROWS)
        )
        for member, resource, day in ctx.session.transaction.connection.execute(query):
            found.setdefault(member, []).append((resource, day))
    return found


def _match_uses(
    view: FactView,
    holdings: list[RoleHolding],
    holders: dict[str, Collection[int]],
    uses: dict[int, list[tuple[int, int]]],
) -> dict[RoleHolding, Moment]:
    places: dict[int, frozenset[int]] = {}
    found = {}
    for who, what in holdings:
        here = view.ids.get(what)
        days = [
            next((day for resource, day in uses.get(member, ()) if here in _ancestors(view, resource, places)), 0)
            for member in holders[who]
        ]
        if here is not None and any(days):
            found[who, what] = max(days) * DAY
    return found


def _ancestors(view: FactView, resource: int, known: dict[int, frozenset[int]]) -> frozenset[int]:
    """Return the resource, and all that it lies in."""
    if resource not in known:
        parent = view.policy.kinds[view.kind(resource)].parent if view.kind(resource) else None
        above = view.edges_out[parent.edge].get(resource) if parent else None
        known[resource] = frozenset({resource}) | (_ancestors(view, above[0], known) if above else frozenset())
    return known[resource]
