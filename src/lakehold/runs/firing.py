"""Triggers that are due: each starts its run once, however many workers ask. Only a worker imports this."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import replace

import sqlalchemy as sa

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import LakeholdError
from lakehold.runs import run_table as states
from lakehold.runs.run_table import run_table
from lakehold.runs.runnable import RunOptions
from lakehold.runs.runs import Runs
from lakehold.runs.trigger_table import TriggerRow, at, parameters_of, trigger_table, when_of
from lakehold.runs.triggers import is_there

_log = logging.getLogger("lakehold.runs")
_MOST, _TOGETHER = 1_000, 50
_COUNTED = "counted"
"""Among what was heard of: the runs after which it was started the last time, so that none of them counts twice."""


class Firing:
    """Starts what is due."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def fire(self, platform: Platform, now: Moment) -> int:
        """Start what is due; how many runs that were. However many workers ask, each is started once."""
        c = trigger_table.c
        due = sa.select(trigger_table).where(c.active, c.next_at <= now).order_by(c.next_at).limit(_MOST)
        with platform.database.read() as transaction:
            rows = transaction.connection.execute(due).all()
        by_saver: dict[Caller, list[TriggerRow]] = {}
        for row in rows:
            by_saver.setdefault(_saver(row), []).append(row)
        together = (
            same[first : first + _TOGETHER] for same in by_saver.values() for first in range(0, len(same), _TOGETHER)
        )
        return sum(self._started(platform, batch, now) for batch in together)

    def hear(self, platform: Platform, number: int) -> int:
        """A run has succeeded: start what comes after it; how many that were. Told of twice, it counts once."""
        with platform.database.read() as transaction:
            run = transaction.connection.execute(sa.select(run_table).where(run_table.c.n == number)).one()
            c = trigger_table.c
            waiting = sa.select(trigger_table).where(c.tenant_id == run.tenant_id, c.active, c.next_at.is_(None))
            rows = transaction.connection.execute(waiting).all()
        if run.state != states.SUCCEEDED:
            return 0
        after = str(run.resource_id)
        return sum(self._heard(platform, row, after, run.id) for row in rows if after in when_of(row).after)

    def _started(self, platform: Platform, rows: Sequence[TriggerRow], now: Moment) -> int:
        """Start those of one saver in one transaction; one that cannot be started leaves the others alone."""
        try:
            with platform.write(_saver(rows[0])) as ctx:
                return sum(self._fired(ctx, row, now) for row in rows)
        except LakeholdError as error:
            if len(rows) > 1:
                return sum(self._started(platform, [row], now) for row in rows)
            _log.warning("trigger %s: %s", rows[0].id, error)
            return 0

    def _fired(self, ctx: RequestContext, row: TriggerRow, now: Moment) -> bool:
        when = when_of(row)
        values = {"next_at": when.due(max(now, row.next_at)), "last_at": now}
        moved = trigger_table.update().where(*_mine(row), trigger_table.c.next_at == row.next_at).values(**values)
        if not ctx.session.transaction.connection.execute(moved).rowcount:
            # Another worker was first.
            return False
        return self._begun(ctx, row, f"by schedule {when.cron} {when.zone}")

    def _heard(self, platform: Platform, row: TriggerRow, after: str, run: str) -> bool:
        c = trigger_table.c
        with platform.write(_saver(row)) as ctx:
            connection = ctx.session.transaction.connection
            # Read anew: of two runs that end at once, the second one finds here what the first one has left.
            now = connection.execute(sa.select(c.heard).where(*_mine(row), c.active)).one_or_none()
            told = {} if now is None else json.loads(now.heard)
            if now is None or run in told.get(_COUNTED, ()):
                return False
            heard = {name: each for name, each in told.items() if name != _COUNTED} | {after: run}
            if when_of(row).every and set(heard) < set(when_of(row).after):
                kept = json.dumps({**heard, _COUNTED: told.get(_COUNTED, [])})
                connection.execute(trigger_table.update().where(*_mine(row)).values(heard=kept))
                return False
            counted = json.dumps({_COUNTED: sorted(heard.values())})
            values = {"heard": counted, "last_at": platform.clock()}
            connection.execute(trigger_table.update().where(*_mine(row)).values(**values))
            return self._begun(ctx, row, f"after {run}")

    def _begun(self, ctx: RequestContext, row: TriggerRow, cause: str) -> bool:
        resource = ctx.view.uids.get(row.resource_id)
        if resource is None or not is_there(ctx, self._runs.runnables, row):
            # There is nothing left to run, or to run it.
            return False
        # Whether they still may is asked when it begins, so that a refusal is a run that says so.
        self._runs.write(ctx, resource, RunOptions(parameters=parameters_of(row)), cause=cause)
        return True


def _saver(row: TriggerRow) -> Caller:
    """As whom it runs. The request in which they saved it is not what starts it."""
    return replace(Caller.from_stored(row.tenant, json.loads(row.caller), address="worker"), request="")


def _mine(row: TriggerRow) -> list[sa.ColumnElement[bool]]:
    return at({"tenant_id": row.tenant_id, "id": row.id})
