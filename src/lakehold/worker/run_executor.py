"""Execution of a run in a worker: begin it, execute its steps, end it.

Each may be begun twice with the same effect.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.database import Transaction
from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.lake.errors import StoppedError
from lakehold.runs import notifications, step_plan
from lakehold.runs import run_table as states
from lakehold.runs.run_table import RunRow, run_log_table, run_step_table, run_table
from lakehold.runs.runnable import EndedRun, RunnableRegistry, Step, StepExecutors, StepResult
from lakehold.runs.scheduler.due import DueTriggers
from lakehold.runs.service import Runs, load_options, need_start
from lakehold.worker.spark_session import SparkRuntime
from lakehold.workspaces import registry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakehold.lake.spark.tables import Tables

_log = logging.getLogger("lakehold.runs")
_MAX_ATTEMPTS = 3
_OWNER_ONLY = 0o700
_QUERY_SECONDS = 24 * 3600
_STOPPED_MESSAGE = "It was stopped."


class RunExecutor:
    """Executes the runs of this process."""

    def __init__(
        self,
        platform: Platform,
        runnables: RunnableRegistry,
        executors: Callable[[], StepExecutors],
        spark_runtime: SparkRuntime,
    ) -> None:
        self._platform = platform
        self._runnables = runnables
        self._executors = executors
        self.due_triggers = DueTriggers(Runs(runnables))
        self._spark_runtime = spark_runtime
        self._busy: set[tuple[int, int]] = set()
        """The steps that this process is at: the number of the run, and the place of the step."""

    def begin(self, number: int) -> tuple[str, int]:
        """Check access again, and store the plan of the run; return the error, and the number of steps."""
        row = self._row(number)
        try:
            steps = self._steps(row)
        except LakeholdError as error:
            if error.retryable:
                raise
            self._write_log(row, -1, str(error), "error")
            return str(error), 0
        with self._platform.database.write() as transaction:
            return "", self._store_plan(transaction, row, steps)

    def _store_plan(self, transaction: Transaction, row: RunRow, steps: Sequence[Step]) -> int:
        """Store the steps of a run that begins. One that goes on keeps its plan, and the steps that it did; what is
        still to do follows the definition, which may have been corrected.
        """
        c, execute = run_step_table.c, transaction.connection.execute
        known = execute(sa.select(run_step_table).where(c.run == row.n).order_by(c.number)).all()
        for step in known:
            if step.state != states.SUCCEEDED and step.plan:
                which = run_step_table.update().where(c.run == row.n, c.number == step.number)
                execute(which.values(plan=step_plan.replan(step.plan, steps)))
        if known:
            return len(known)
        for place, planned in enumerate(steps):
            values = {"tenant_id": row.tenant_id, "name": planned.name, "plan": step_plan.dump_step(planned), **_NEW}
            execute(run_step_table.insert().values(run=row.n, number=place, **values))
        return len(steps)

    def execute_step(self, number: int, place: int) -> str:
        """Execute one step unless it has succeeded; return the error, or an empty text."""
        row, state = self._row(number), self._step_row(number, place)
        if state.state == states.SUCCEEDED:
            return ""
        if row.state == states.STOPPING:
            self._update_step(
                number, place, state=states.STOPPED, error=_STOPPED_MESSAGE, ended_at=self._platform.clock()
            )
            return _STOPPED_MESSAGE
        if state.begun >= _MAX_ATTEMPTS + row.tries:
            return f"The worker was stopped {state.begun} times while it did this; it is not tried again."
        at = self._platform.clock()
        self._update_step(
            number, place, state=states.RUNNING, begun=state.begun + 1, started_at=at, ended_at=None, error=""
        )
        _log.info("run %s: %s started", row.id, state.name)
        self._busy.add((number, place))
        outcome, problem, done = self._execute(row, place)
        self._busy.discard((number, place))
        values: dict[str, object] = {"ended_at": self._platform.clock(), "error": problem, "rows": done.rows}
        values |= {"size": done.size, "bad": done.bad}
        if outcome == states.SUCCEEDED:
            values["told"] = json.dumps(dict(done.state))
        self._update_step(number, place, state=outcome, **values)
        return problem

    def release_steps(self, transaction: Transaction) -> None:
        """Do not count the attempts of this process, which exits for reasons of its own: other workers begin the
        steps again.
        """
        c = run_step_table.c
        for number, place in list(self._busy):
            mine = run_step_table.update().where(c.run == number, c.number == place, c.state == states.RUNNING)
            transaction.connection.execute(mine.values(begun=c.begun - 1))

    def end(self, number: int, problem: str) -> None:
        """Store the outcome of the run and queue its notifications."""
        row = self._row(number)
        state = self._end_state(row) if problem else states.SUCCEEDED
        with self._platform.write(load_caller(row)) as ctx:
            c = run_table.c
            still = run_table.update().where(c.n == number, c.state.in_(states.BUSY))
            values = {"state": state, "error": problem, "ended_at": self._platform.clock()}
            moved = ctx.session.transaction.connection.execute(still.values(**values)).rowcount
            if moved:
                ended = EndedRun(row.id, state, problem, row.started_by, row.started_at or 0)
                notifications.notify(ctx, self._platform.settings, self._runnables, row, ended)
        _log.info("run %s has %s", row.id, state)

    def start_dependents(self, number: int) -> None:
        """Start the runs that wait for the success of this one."""
        self.due_triggers.start_dependents(self._platform, number)

    def _end_state(self, row: RunRow) -> str:
        """Return how a run with a problem has ended: stopped by somebody, unless a step had failed before."""
        c = run_step_table.c
        failed = sa.select(c.number).where(c.run == row.n, c.state == states.FAILED)
        with self._platform.database.read() as transaction:
            has_failed = transaction.connection.execute(failed).first() is not None
        return states.STOPPED if row.state == states.STOPPING and not has_failed else states.FAILED

    def _execute(self, row: RunRow, place: int) -> tuple[str, str, StepResult]:
        """Execute a step; return its state, the error, and what it did."""
        try:
            step = self._planned_step(row, place)
            with self._step_context(row, place) as step_ctx:
                return states.SUCCEEDED, "", self._executors()[type(step)](step, step_ctx)
        except LakeholdError as error:
            if self._row(row.n).state == states.STOPPING:
                return states.STOPPED, _STOPPED_MESSAGE, StepResult()
            self._write_log(row, place, str(error), "error")
            return states.FAILED, str(error), StepResult()
        except Exception as error:  # noqa: BLE001 - the edge: whoever waits is told, and the log has the rest
            if self._row(row.n).state == states.STOPPING:
                return states.STOPPED, _STOPPED_MESSAGE, StepResult()
            _log.exception("run %s failed", row.id)
            from lakehold.lake.spark.guard import query_errors  # noqa: PLC0415 - what failed has loaded Spark

            message = query_errors.error_message(error)
            self._write_log(row, place, message, "error")
            return states.FAILED, message, StepResult()

    @contextmanager
    def _step_context(self, row: RunRow, place: int) -> Iterator[RunStepContext]:
        folder = self._platform.settings.data / "runs" / f"{row.n}-{place}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, mode=_OWNER_ONLY)
        step_ctx = RunStepContext(self, row, place, folder)
        context = step_ctx.spark.sparkContext
        context.addJobTag(spark_job_tag(row.n))
        try:
            yield step_ctx
        finally:
            context.removeJobTag(spark_job_tag(row.n))
            shutil.rmtree(folder, ignore_errors=True)

    def _steps(self, row: RunRow) -> Sequence[Step]:
        with self._platform.read(load_caller(row)) as ctx:
            runnable, uid = self._runnables[row.kind], _resource(ctx, row)
            need_start(ctx, runnable, uid, load_options(row))
            return runnable.steps(ctx, uid, load_options(row))

    def _planned_step(self, row: RunRow, place: int) -> Step:
        """Return a step of the stored plan, if the caller still has the rights to all that it does."""
        state = self._step_row(row.n, place)
        if not state.plan:
            # A release that planned each step anew began the run: its step is the one of the same name.
            return step_plan.step_named(state.name, self._steps(row))
        step = step_plan.load_step(state.plan, self._executors())
        with self._platform.read(load_caller(row)) as ctx:
            runnable, uid = self._runnables[row.kind], _resource(ctx, row)
            need_start(ctx, runnable, uid, load_options(row))
            runnable.need_step(ctx, uid, step)
        return step

    def _row(self, number: int) -> RunRow:
        with self._platform.database.read() as transaction:
            return transaction.connection.execute(sa.select(run_table).where(run_table.c.n == number)).one()

    def _step_row(self, number: int, place: int) -> RunRow:
        c = run_step_table.c
        query = sa.select(run_step_table).where(c.run == number, c.number == place)
        with self._platform.database.read() as transaction:
            return transaction.connection.execute(query).one()

    def _update_step(self, number: int, place: int, **values: object) -> None:
        c = run_step_table.c
        update = run_step_table.update().where(c.run == number, c.number == place).values(**values)
        with self._platform.database.write() as transaction:
            transaction.connection.execute(update)

    def _write_log(self, row: RunRow, place: int, text: str, level: str = "info") -> None:
        line = {"tenant_id": row.tenant_id, "run": row.n, "step": place, "at": self._platform.clock()}
        with self._platform.database.write() as transaction:
            transaction.connection.execute(run_log_table.insert().values(**line, level=level, text=text))


@dataclass(frozen=True, slots=True)
class RunStepContext:
    """The context of a step that is executed by this process."""

    _executor: RunExecutor
    _row: RunRow
    _number: int
    folder: Path

    @property
    def platform(self) -> Platform:
        """The platform."""
        return self._executor._platform  # noqa: SLF001 - it is made there

    @property
    def caller(self) -> Caller:
        """The caller that the run is executed as."""
        return load_caller(self._row)

    @property
    def mark(self) -> str:
        """The idempotency mark of this step of this run."""
        return f"{self._row.id}/{self._number}"

    @property
    def retained_folder(self) -> Path:
        """A folder for what an interrupted step must find again."""
        folder = self.platform.settings.data / "runs" / "kept" / f"{self._row.n}-{self._number}"
        folder.mkdir(parents=True, exist_ok=True, mode=_OWNER_ONLY)
        return folder

    def load_progress(self) -> Mapping[str, object]:
        """Return the progress that was saved for this step."""
        progress: Mapping[str, object] = json.loads(self._executor._step_row(self._row.n, self._number).told)  # noqa: SLF001
        return progress

    def save_progress(self, progress: Mapping[str, object]) -> None:
        """Save the progress of this step."""
        self._executor._update_step(self._row.n, self._number, told=json.dumps(dict(progress)))  # noqa: SLF001 - as above

    @property
    def spark(self) -> SparkSession:
        """A Spark session that knows no table."""
        return self._executor._spark_runtime.spark  # noqa: SLF001 - as above

    @property
    def tables(self) -> Tables:
        """The tables, as the platform sees them."""
        return self._executor._spark_runtime.tables  # noqa: SLF001 - as above

    def run_query(self, workspace: str, text: str) -> tuple[DataFrame, frozenset[str]]:
        """Return the rows of a query, run as the caller of the run, and the tables that it reads."""
        queries = self._executor._spark_runtime.queries  # noqa: SLF001 - as above
        return queries.analyse(self.caller, workspace, text, seconds=_QUERY_SECONDS)

    def log(self, text: str, level: str = "info") -> None:
        """Write a line to the log of the run."""
        self._executor._write_log(self._row, self._number, text, level)  # noqa: SLF001 - as above

    def check_stopped(self) -> None:
        """Raise `StoppedError` if the run is being stopped."""
        if self._executor._row(self._row.n).state == states.STOPPING:  # noqa: SLF001 - as above
            raise StoppedError(_STOPPED_MESSAGE)


@cache
def step_executors() -> StepExecutors:
    """Return the executors of the steps of all ways of working. They import Spark."""
    found = {step: do for workspace in registry.all_workspaces() for step, do in workspace.executors().items()}
    # Stored plans name their steps by type.
    assert len({step.__name__ for step in found}) == len(found)  # noqa: S101 - ours
    return found


def spark_job_tag(number: int) -> str:
    """Return the tag of a run's Spark jobs."""
    return f"run-{number}"


def load_caller(row: RunRow) -> Caller:
    """Return the caller that a run is executed as."""
    return Caller.from_stored(row.tenant, json.loads(row.caller), address="worker")


def _resource(ctx: RequestContext, row: RunRow) -> str:
    uid = ctx.view.uids.get(row.resource_id)
    if uid is None:
        raise NotFoundError("What was to be run is gone.", "Make it anew.")
    return uid


_NEW = {"state": states.QUEUED, "rows": 0, "size": 0, "bad": 0, "told": "{}", "begun": 0, "error": ""}
