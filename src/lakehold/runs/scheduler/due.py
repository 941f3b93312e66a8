"""Due triggers: each starts its run once, however many workers ask. Only a worker imports this."""

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
from lakehold.runs.cause import CauseKind, RunCause
from lakehold.runs.run_table import load_caller
from lakehold.runs.runnable import RunOptions
from lakehold.runs.scheduler.schedule import TriggerRow, load_parameters, load_schedule, trigger_table
from lakehold.runs.scheduler.service import exists
from lakehold.runs.service import Runs

_log = logging.getLogger("lakehold.runs")
_MAX_DUE, _BATCH = 1_000, 50
_COUNTED = "counted"
"""Among what was heard of: the runs after which it was started the last time, so that none of them counts twice."""


class DueTriggers:
    """Starts the runs of due triggers."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def start_due(self, platform: Platform, now: Moment) -> int:
        """Start the runs that are due; return how many. Each is started once, however many workers ask."""
        c = trigger_table.c
        due = sa.select(trigger_table).where(c.active, c.next_at <= now).order_by(c.next_at).limit(_MAX_DUE)
        with platform.database.read() as transaction:
            rows = transaction.connection.execute(due).all()
        by_saver: dict[Caller, list[TriggerRow]] = {}
        for row in rows:
            by_saver.setdefault(_load_caller(row), []).append(row)
        together = (same[first : first + _BATCH] for same in by_saver.values() for first in range(0, len(same), _BATCH))
        return sum(self._start_batch(platform, batch, now) for batch in together)

    def start_dependents(self, platform: Platform, number: int) -> int:
        """Start the runs that wait for the success of this one; return how many. A repeated report starts nothing."""
        run, c = states.load_run(platform, number), trigger_table.c
        if run.state != states.SUCCEEDED:
            return 0
        with platform.database.read() as transaction:
            waiting = sa.select(trigger_table).where(c.tenant_id == run.tenant_id, c.active, c.next_at.is_(None))
            rows = transaction.connection.execute(waiting).all()
        after = str(run.resource_id)
        return sum(
            self._start_dependent(platform, row, after, run.id) for row in rows if after in load_schedule(row).after
        )

    def _start_batch(self, platform: Platform, rows: Sequence[TriggerRow], now: Moment) -> int:
        """Start the triggers of one saver in one transaction. One that cannot be started does not affect the others."""
        try:
            with platform.write(_load_caller(rows[0])) as ctx:
                return sum(self._start_scheduled(ctx, row, now) for row in rows)
        except LakeholdError as error:
            if len(rows) > 1:
                return sum(self._start_batch(platform, [row], now) for row in rows)
            _log.warning("trigger %s: %s", rows[0].id, error)
            return 0

    def _start_scheduled(self, ctx: RequestContext, row: TriggerRow, now: Moment) -> bool:
        when = load_schedule(row)
        values = {"next_at": when.next_moment(max(now, row.next_at)), "last_at": now}
        c = trigger_table.c
        if not ctx.rows(trigger_table).update(c.id == row.id, c.next_at == row.next_at, **values):
            # Another worker was first.
            return False
        if _is_waiting(ctx, row):
            # It will do what this one would: runs that take longer than their schedule do not pile up.
            return False
        return self._start_run(ctx, row, RunCause(CauseKind.SCHEDULE, cron=when.cron, zone=when.zone))

    def _start_dependent(self, platform: Platform, row: TriggerRow, after: str, run: str) -> bool:
        c = trigger_table.c
        with platform.write(_load_caller(row)) as ctx:
            rows, this = ctx.rows(trigger_table), c.id == row.id
            # Read anew: of two runs that end at once, the second one finds here what the first one has left.
            now = rows.select(this, c.active, columns=(c.heard,)).one_or_none()
            seen = {} if now is None else json.loads(now.heard)
            if now is None or run in seen.get(_COUNTED, ()):
                return False
            heard = {name: each for name, each in seen.items() if name != _COUNTED} | {after: run}
            if load_schedule(row).every and set(heard) < set(load_schedule(row).after):
                rows.update(this, heard=json.dumps({**heard, _COUNTED: seen.get(_COUNTED, [])}))
                return False
            rows.update(this, heard=json.dumps({_COUNTED: sorted(heard.values())}), last_at=platform.clock())
            return self._start_run(ctx, row, RunCause(CauseKind.DEPENDENCY, run))

    def _start_run(self, ctx: RequestContext, row: TriggerRow, cause: RunCause) -> bool:
        if not exists(ctx, self._runs.runnables, row):
            # There is nothing left to run, or to run it.
            return False
        # Their access is checked when it begins, so that a refusal is a failed run with a message.
        options = RunOptions(parameters=load_parameters(row))
        self._runs.insert(ctx, ctx.view.uid(row.resource_id), options, cause=cause)
        return True


def _is_waiting(ctx: RequestContext, row: TriggerRow) -> bool:
    """Return whether a run of this schedule has not begun yet."""
    c, when = states.run_table.c, load_schedule(row)
    same = (c.resource_id == row.resource_id, c.cause_kind == CauseKind.SCHEDULE.value, c.cause_cron == when.cron)
    caller = json.dumps(ctx.caller.to_stored())
    mine = (c.cause_zone == when.zone, c.caller == caller, c.state.in_({states.QUEUED, states.WAITING}))
    found = ctx.rows(states.run_table).select(*same, *mine, columns=(c.options,))
    options = RunOptions(parameters=load_parameters(row)).to_json()
    return any(json.loads(each.options) == options for each in found)


def _load_caller(row: TriggerRow) -> Caller:
    """Return the caller that the run is started as, without the request in which the trigger was saved."""
    return replace(load_caller(row), request="")
