"""What starts runs by itself: a schedule with its time zone, or the success of others.

A trigger runs as whoever last saved it. What they may no longer do when it is due is refused, and the run says so.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import sqlalchemy as sa
from cronsim import CronSim, CronSimError

from lakehold.catalog import kinds
from lakehold.directory.caller import Caller
from lakehold.directory.installation import Installation
from lakehold.directory.work import Work
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.database import Exact, Id, metadata
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import shown
from lakehold.runs import run_table as states
from lakehold.runs.run_table import run_table
from lakehold.runs.runnable import Wanted
from lakehold.runs.runs import Runs

trigger_table = sa.Table(
    "run_trigger",
    metadata,
    sa.Column("tenant_id", Id, primary_key=True),
    sa.Column("id", Exact, primary_key=True),
    sa.Column("tenant", Exact, nullable=False),
    # What is run.
    sa.Column("resource_id", Id, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
    # As whom: whoever saved it last, as JSON.
    sa.Column("caller", sa.Text, nullable=False),
    sa.Column("saved_by", Exact, nullable=False),
    sa.Column("saved_at", Id, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    # Of those whose success is waited for: the run of each that has been heard of.
    sa.Column("heard", sa.Text, nullable=False),
    sa.Column("next_at", Id),
    sa.Column("last_at", Id),
)
sa.Index("run_trigger_due", trigger_table.c.active, trigger_table.c.next_at)
sa.Index("run_trigger_by_resource", trigger_table.c.tenant_id, trigger_table.c.resource_id)

TriggerRow = sa.Row[tuple[object, ...]]

ACTIVATE, DEACTIVATE = "activate", "deactivate"
_MOST = 1_000
_LONGEST = 200
_COUNTED = "counted"
"""Among what was heard of: the runs after which it was started the last time, so that none of them counts twice."""


@dataclass(frozen=True, slots=True)
class When:
    """A schedule, or others whose success is waited for."""

    cron: str = ""
    zone: str = "UTC"
    after: tuple[str, ...] = ()
    every: bool = False
    """Whether all of them have to succeed; else any one does."""

    def checked(self) -> When:
        """Itself, if it can ever be due."""
        if bool(self.cron) == bool(self.after):
            raise InvalidInputError("A trigger has a schedule, or others that it comes after.", "Give one of the two.")
        if self.cron:
            self.next(datetime.now(self._zone()))
        return self

    def next(self, behind: datetime) -> datetime:
        """When the schedule is due the next time."""
        try:
            return next(CronSim(self.cron[:_LONGEST], behind.astimezone(self._zone())))
        except CronSimError:
            raise InvalidInputError(
                f"{shown(self.cron)} is no schedule.", "Write minute, hour, day, month and weekday: 30 6 * * 1-5."
            ) from None
        except StopIteration:
            raise InvalidInputError(f"{shown(self.cron)} is never due.", "Choose days that there are.") from None

    def _zone(self) -> ZoneInfo:
        try:
            return ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise InvalidInputError(f"There is no time zone {shown(self.zone)}.", "Write Europe/Berlin.") from None


@dataclass(frozen=True, slots=True)
class Trigger:
    """When what is run, and as whom."""

    id: str
    resource: str
    when: When
    active: bool
    saved_by: str
    saved_at: Moment
    next_at: Moment | None
    last_at: Moment | None


class Triggers:
    """The triggers of an installation."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def save(self, work: Work, resource: str, when: When, *, uid: str | None = None, active: bool = True) -> Trigger:
        """Make one, or change it. It runs as the caller from now on."""
        work.writing()
        work.need(self._runs.runnables.of(work, resource).schedule, resource)
        checked = when.checked()
        for other in checked.after:
            work.need(self._runs.runnables.of(work, other).see, other)
        if uid is not None and self.get(work, uid).resource != resource:
            raise InvalidInputError("A trigger stays with what it runs.", "Make another one.")
        chosen = uid or f"trigger_{secrets.token_hex(8)}"
        told = {
            "settings": json.dumps(_plain(work, checked)),
            "caller": json.dumps(work.caller.told()),
            "saved_by": work.caller.member,
            "saved_at": work.at,
            "active": active,
            "heard": "{}",
            "next_at": _next(checked, work.at) if active else None,
        }
        here = {"tenant_id": work.session.tenant, "id": chosen}
        connection = work.session.transaction.connection
        if uid is None:
            made = {"tenant": work.caller.tenant, "resource_id": work.view.resource(resource), "last_at": None}
            connection.execute(trigger_table.insert().values(**here, **made, **told))
        else:
            connection.execute(trigger_table.update().where(*_at(here)).values(**told))
        work.note("save trigger", resource, after={"trigger": chosen, "cron": checked.cron, "after": [*checked.after]})
        return self.get(work, chosen)

    def get(self, work: Work, uid: str) -> Trigger:
        """One that the caller may see."""
        query = sa.select(trigger_table).where(*_at({"tenant_id": work.session.tenant, "id": uid}))
        row = work.session.transaction.connection.execute(query).one_or_none()
        resource = None if row is None else work.view.uids.get(row.resource_id)
        if row is None or resource is None or not work.session.sees(work.asker, resource):
            raise NotFoundError(f"There is no trigger {shown(uid)}.", "Look the id up in a list.")
        work.need(self._runs.runnables.of(work, resource).see, resource)
        return _told(work, row)

    def of(self, work: Work, resource: str) -> list[Trigger]:
        """Those of one resource."""
        work.need(self._runs.runnables.of(work, resource).see, resource)
        c = trigger_table.c
        mine = sa.and_(c.tenant_id == work.session.tenant, c.resource_id == work.view.resource(resource))
        rows = work.session.transaction.connection.execute(sa.select(trigger_table).where(mine).order_by(c.id))
        return [_told(work, row) for row in rows]

    def switch(self, work: Work, uid: str, *, active: bool) -> Trigger:
        """Let it pause, or go on as the caller. What it comes after stays, whether or not they see it."""
        work.writing()
        found = self.get(work, uid)
        work.need(self._runs.runnables.of(work, found.resource).schedule, found.resource)
        return self._switched(work, found, active=active)

    def activate(self, work: Work, resource: str, *, active: bool) -> list[Trigger]:
        """Let all triggers of a pipeline go on as the caller, or pause."""
        work.writing()
        own = ACTIVATE if active else DEACTIVATE
        known = kinds.schema_of(work.view, resource).actions if work.view.ids.get(resource) else ()
        work.need(own if own in known else self._runs.runnables.of(work, resource).schedule, resource)
        there = self.of(work, resource)
        return [each if each.active == active else self._switched(work, each, active=active) for each in there]

    def _switched(self, work: Work, found: Trigger, *, active: bool) -> Trigger:
        told: dict[str, object] = {"active": active, "heard": "{}", "next_at": None}
        if active:
            told |= {"next_at": _next(found.when, work.at), "saved_by": work.caller.member, "saved_at": work.at}
            told["caller"] = json.dumps(work.caller.told())
        mine = _at({"tenant_id": work.session.tenant, "id": found.id})
        work.session.transaction.connection.execute(trigger_table.update().where(*mine).values(**told))
        work.note("resume trigger" if active else "pause trigger", found.resource, after={"trigger": found.id})
        return self.get(work, found.id)

    def remove(self, work: Work, uid: str) -> None:
        """End it."""
        found = self.get(work, uid)
        work.writing()
        work.need(self._runs.runnables.of(work, found.resource).schedule, found.resource)
        gone = trigger_table.delete().where(*_at({"tenant_id": work.session.tenant, "id": uid}))
        work.session.transaction.connection.execute(gone)
        work.note("remove trigger", found.resource, before={"trigger": uid})

    # In a worker

    def fire(self, house: Installation, at: Moment) -> int:
        """Start what is due; how many runs that were. However many workers ask, each is started once."""
        c = trigger_table.c
        due = sa.select(trigger_table).where(c.active, c.next_at <= at).order_by(c.next_at).limit(_MOST)
        with house.database.read() as transaction:
            rows = transaction.connection.execute(due).all()
        return sum(self._fired(house, row, at) for row in rows)

    def hear(self, house: Installation, number: int) -> int:
        """A run has succeeded: start what comes after it; how many that were. Told of twice, it counts once."""
        with house.database.read() as transaction:
            run = transaction.connection.execute(sa.select(run_table).where(run_table.c.n == number)).one()
            c = trigger_table.c
            waiting = sa.select(trigger_table).where(c.tenant_id == run.tenant_id, c.active, c.next_at.is_(None))
            rows = transaction.connection.execute(waiting).all()
        if run.state != states.SUCCEEDED:
            return 0
        after = str(run.resource_id)
        return sum(self._heard(house, row, after, run.id) for row in rows if after in _after(row))

    def _fired(self, house: Installation, row: TriggerRow, at: Moment) -> bool:
        when = _when(row)
        values = {"next_at": _next(when, max(at, row.next_at)), "last_at": at}
        with _as_saver(house, row) as work:
            moved = trigger_table.update().where(*_mine(row), trigger_table.c.next_at == row.next_at).values(**values)
            if not work.session.transaction.connection.execute(moved).rowcount:
                # Another worker was first.
                return False
            return self._begun(work, row, f"by schedule {when.cron} {when.zone}")

    def _heard(self, house: Installation, row: TriggerRow, after: str, run: str) -> bool:
        c = trigger_table.c
        with _as_saver(house, row) as work:
            connection = work.session.transaction.connection
            # Read anew: of two runs that end at once, the second one finds here what the first one has left.
            now = connection.execute(sa.select(c.heard).where(*_mine(row), c.active)).one_or_none()
            told = {} if now is None else json.loads(now.heard)
            if now is None or run in told.get(_COUNTED, ()):
                return False
            heard = {name: each for name, each in told.items() if name != _COUNTED} | {after: run}
            if _when(row).every and set(heard) < set(_after(row)):
                kept = json.dumps({**heard, _COUNTED: told.get(_COUNTED, [])})
                connection.execute(trigger_table.update().where(*_mine(row)).values(heard=kept))
                return False
            counted = json.dumps({_COUNTED: sorted(heard.values())})
            values = {"heard": counted, "last_at": house.clock()}
            connection.execute(trigger_table.update().where(*_mine(row)).values(**values))
            return self._begun(work, row, f"after {run}")

    def _begun(self, work: Work, row: TriggerRow, cause: str) -> bool:
        resource = work.view.uids.get(row.resource_id)
        if resource is None:
            # There is nothing left to run.
            return False
        # Whether they still may is asked when it begins, so that a refusal is a run that says so.
        self._runs.write(work, resource, Wanted(), cause=cause)
        return True


def _as_saver(house: Installation, row: TriggerRow) -> AbstractContextManager[Work]:
    return house.write(Caller.of(row.tenant, json.loads(row.caller), address="worker"))


def _mine(row: TriggerRow) -> list[sa.ColumnElement[bool]]:
    return _at({"tenant_id": row.tenant_id, "id": row.id})


def _at(here: Mapping[str, object]) -> list[sa.ColumnElement[bool]]:
    return [trigger_table.c[name] == value for name, value in here.items()]


def _next(when: When, at: Moment) -> Moment | None:
    if not when.cron:
        return None
    due = when.next(datetime.fromtimestamp(at / SECOND, ZoneInfo("UTC")))
    return int(due.timestamp()) * SECOND


def _plain(work: Work, when: When) -> dict[str, object]:
    # By number: a name may change, and an id is looked up anew where it is shown.
    after = [str(work.view.resource(uid)) for uid in when.after]
    return {"cron": when.cron, "zone": when.zone, "after": after, "every": when.every}


def _when(row: TriggerRow) -> When:
    told = json.loads(row.settings)
    return When(told["cron"], told["zone"], tuple(told["after"]), told["every"])


def _after(row: TriggerRow) -> Sequence[str]:
    return _when(row).after


def _told(work: Work, row: TriggerRow) -> Trigger:
    when = _when(row)
    uids = (work.view.uids.get(int(number)) for number in when.after)
    seen = tuple(uid for uid in uids if uid is not None and work.session.sees(work.asker, uid))
    shown_when = When(when.cron, when.zone, seen, when.every)
    resource = work.view.uid(row.resource_id)
    return Trigger(row.id, resource, shown_when, row.active, row.saved_by, row.saved_at, row.next_at, row.last_at)
