"""When who last did what with what, by day. Collected in memory, written in the background.

What a process has noted is lost if it is killed before it wrote: this tells who uses something, it is no proof. The
audit log is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from lakehold.access.facts.view import FactView
from lakehold.catalog import sharing
from lakehold.catalog.shapes import Ref, VisibleRefs
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
_MOST_SHOWN = 1_000


class _Use(NamedTuple):
    tenant: int
    resource: int
    member: int
    action: str


@dataclass(frozen=True, slots=True)
class LastUse:
    """On which day somebody last did something with something. `at` is the beginning of the day."""

    member: Ref
    resource: Ref
    action: str
    at: Moment


class Usage:
    """What this process has noted and not written yet. Threads share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: dict[_Use, int] = {}
        self._written: dict[_Use, int] = {}

    def note(self, ctx: RequestContext, action: str, uid: str, *, at: Moment | None = None) -> None:
        """The caller has done this now, or at that moment. Who only views as somebody uses nothing."""
        if ctx.caller.impersonator or not ctx.caller.member:
            return
        use = ctx.session.read_view(lambda view: _use(view, ctx, action, uid))
        day = (ctx.at if at is None else at) // DAY
        with self._lock:
            if use is not None and self._written.get(use) != day:
                self._waiting[use] = day

    def write(self, database: Database) -> int:
        """Write what waits, and tell how much it was. What cannot be written now waits for the next time."""
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        if not waiting:
            return 0
        try:
            with database.write() as transaction:
                for start in range(0, len(waiting), _AT_ONCE):
                    _put(transaction, dict(sorted(waiting.items())[start : start + _AT_ONCE]))
        except BusyError:
            with self._lock:
                self._waiting = waiting | self._waiting
            return 0
        with self._lock:
            today = max(waiting.values())
            # Only today's: what was written on other days will be written again.
            self._written = {use: day for use, day in (self._written | waiting).items() if day == today}
        return len(waiting)


class Background:
    """Writes what was noted every now and then, in a thread of its own, and once more at the end."""

    def __init__(self, write: Callable[[], object], every: float = 10.0) -> None:
        self._write = write
        self._every = every
        self._stop = Event()
        self._thread = Thread(target=self._run, name="lakehold-usage", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Write the rest, and end."""
        self._stop.set()
        self._thread.join()
        self._write()

    def _run(self) -> None:
        while not self._stop.wait(self._every):
            self._write()


def of_resource(ctx: RequestContext, uid: str) -> list[LastUse]:
    """Who last used a resource, newest first: all for who gives roles here or may ask about others, else one's own."""
    ctx.see(uid)
    which = last_use_table.c.resource_id == ctx.view.resource(uid)
    if not (sharing.gives_here(ctx, uid) or sharing.may_ask_about_others(ctx)):
        which &= last_use_table.c.member_id == ctx.view.member(ctx.caller.member)
    return _read(ctx, which)


def of_member(ctx: RequestContext, member: str) -> list[LastUse]:
    """What a member last used, newest first, of what the caller may see: one's own, or for who may ask about others."""
    ctx.see(member)
    if member != ctx.caller.member:
        ctx.need(sharing.ASK, ctx.caller.tenant)
    return _read(ctx, last_use_table.c.member_id == ctx.view.member(member))


def _use(view: FactView, ctx: RequestContext, action: str, uid: str) -> _Use | None:
    resource, member = view.ids.get(uid), view.ids.get(ctx.caller.member)
    return None if resource is None or member is None else _Use(ctx.session.tenant, resource, member, action)


def _put(transaction: Transaction, uses: dict[_Use, int]) -> None:
    rows = [
        {
            "tenant_id": use.tenant,
            "resource_id": use.resource,
            "member_id": use.member,
            "action": use.action,
            "day": day,
        }
        for use, day in uses.items()
    ]
    insert = (sqlite if transaction.dialect == "sqlite" else postgresql).insert(last_use_table).values(rows)
    later = insert.excluded.day > last_use_table.c.day
    keys = ["tenant_id", "resource_id", "member_id", "action"]
    transaction.connection.execute(
        insert.on_conflict_do_update(index_elements=keys, set_={"day": insert.excluded.day}, where=later)
    )


def _read(ctx: RequestContext, which: sa.ColumnElement[bool]) -> list[LastUse]:
    c = last_use_table.c
    query = (
        sa.select(c.member_id, c.resource_id, c.action, c.day)
        .where(c.tenant_id == ctx.session.tenant, which)
        .order_by(c.day.desc(), c.resource_id, c.member_id, c.action)
        .limit(_MOST_SHOWN)
    )
    eyes = VisibleRefs(ctx)
    found = []
    for member, resource, action, day in ctx.session.transaction.connection.execute(query):
        who, what = eyes.numbered(member), eyes.numbered(resource)
        if who and what:
            found.append(LastUse(who, what, action, day * DAY))
    return found
