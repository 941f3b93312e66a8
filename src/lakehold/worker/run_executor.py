"""Execution of a run in a worker: begin it, execute its steps, end it. Each may be begun twice with the same effect.

The plan of a run is frozen when it begins: what is changed meanwhile in the definition changes the next run.
"""

import json
import logging
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from itertools import takewhile
from threading import Event

import sqlalchemy as sa

from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.database import Transaction
from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.runs import notifications, run_plan
from lakehold.runs import run_table as states
from lakehold.runs.authors import describe_refusal, need_authors
from lakehold.runs.run_table import (
    STOPPED_MESSAGE,
    RunRow,
    load_caller,
    load_run,
    load_step,
    run_step_table,
    run_table,
    update_step,
    write_log,
)
from lakehold.runs.runnable import EndedRun, RunnableRegistry, Step, StepExecutors
from lakehold.runs.scheduler.due import DueTriggers
from lakehold.runs.service import Runs, load_options, need_start
from lakehold.runs.step_context import StepContext, StepResult
from lakehold.worker.spark_session import SparkRuntime
from lakehold.workspaces import registry

_log = logging.getLogger("lakehold.runs")
_MAX_ATTEMPTS = 3
_STEPS_AT_ONCE = 4
"""How many steps of one stage are executed at the same time."""
_OWNER_ONLY = 0o700
_LOSS_SECONDS = 0.5
"""How much later than its connections the JVM may be seen to end."""


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
        row = load_run(self._platform, number)
        try:
            plan = self._plan(row)
        except LakeholdError as error:
            if error.retryable:
                raise
            return self._log_error(row, -1, error), 0
        with self._platform.database.write() as transaction:
            return "", self._store_plan(transaction, row, plan)

    def _store_plan(self, transaction: Transaction, row: RunRow, plan: run_plan.RunPlan) -> int:
        """Store the steps of a run that begins. One that goes on keeps its plan, and the steps that it did."""
        # What is still to do follows the definition, which may have been corrected.
        c, execute = run_step_table.c, transaction.connection.execute
        known = execute(sa.select(run_step_table).where(c.run == row.n).order_by(c.number)).all()
        for step in known:
            if step.state != states.SUCCEEDED and step.plan:
                which = run_step_table.update().where(c.run == row.n, c.number == step.number)
                execute(which.values(plan=run_plan.replan(step.plan, plan)))
        if known:
            return len(known)
        for place, planned in enumerate(plan):
            stored = run_plan.dump_step(planned)
            values = {"tenant_id": row.tenant_id, "name": planned.step.name, "plan": stored, **_NEW}
            execute(run_step_table.insert().values(run=row.n, number=place, **values))
        return len(plan)

    def execute_step(self, number: int, place: int) -> str:
        """Execute a step unless it has succeeded, and at the same time those behind it that are of its stage.

        Return the error, or an empty text. Steps that were executed with an earlier one have nothing left to do.
        """
        places = self._stage(number, place)
        if len(places) == 1:
            return self._execute_once(number, place)
        with ThreadPoolExecutor(_STEPS_AT_ONCE, thread_name_prefix=f"run-{number}") as pool:
            problems = list(pool.map(partial(self._execute_once, number), places))
        return next(filter(None, problems), "")

    def _stage(self, number: int, place: int) -> list[int]:
        """Return the places of a step and of those behind it that are of the same stage."""
        first = load_step(self._platform, number, place)
        stage = run_plan.stage_of(first.plan)
        if stage is None or first.state == states.SUCCEEDED:
            return [place]
        c = run_step_table.c
        query = sa.select(c.number, c.plan).where(c.run == number, c.number > place).order_by(c.number)
        with self._platform.database.read() as transaction:
            rows = transaction.connection.execute(query).all()
        behind = takewhile(lambda row: run_plan.stage_of(row.plan) == stage, rows)
        return [place, *(row.number for row in behind)]

    def _execute_once(self, number: int, place: int) -> str:
        row, state = load_run(self._platform, number), load_step(self._platform, number, place)
        record, at = partial(update_step, self._platform, number, place), self._platform.clock()
        if state.state == states.SUCCEEDED:
            return ""
        if row.state == states.STOPPING:
            record(state=states.STOPPED, error=STOPPED_MESSAGE, ended_at=at)
            return STOPPED_MESSAGE
        if state.begun >= _MAX_ATTEMPTS + row.tries:
            return f"The worker was stopped {state.begun} times meanwhile; there are no more retries."
        record(state=states.RUNNING, begun=state.begun + 1, started_at=at, ended_at=None, error="")
        _log.info("run %s: %s started", row.id, state.name)
        self._busy.add((number, place))
        outcome, problem, done = self._execute(row, place)
        self._busy.discard((number, place))
        values: dict[str, object] = {"ended_at": self._platform.clock(), "error": problem, "rows": done.rows}
        values |= {"size": done.size, "bad": done.bad}
        if outcome == states.SUCCEEDED:
            values["saved_state"] = json.dumps(dict(done.state))
        record(state=outcome, **values)
        return problem

    def release_steps(self, transaction: Transaction) -> None:
        """Take back the attempts of this process, which exits for its own reasons; others execute the steps."""
        c = run_step_table.c
        for number, place in list(self._busy):
            mine = run_step_table.update().where(c.run == number, c.number == place, c.state == states.RUNNING)
            transaction.connection.execute(mine.values(begun=c.begun - 1))

    def end(self, number: int, problem: str) -> None:
        """Store the outcome of the run and queue its notifications."""
        row = load_run(self._platform, number)
        state = self._end_state(row) if problem else states.SUCCEEDED
        with self._platform.write(load_caller(row)) as ctx:
            c = run_table.c
            values = {"state": state, "error": problem, "ended_at": self._platform.clock()}
            if ctx.rows(run_table).update(c.n == number, c.state.in_(states.BUSY), **values):
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
            step, authors = self._planned_step(row, place)
            with self._step_context(row, place, authors) as step_ctx:
                return states.SUCCEEDED, "", self._executors()[type(step)](step, step_ctx)
        except Exception as error:  # noqa: BLE001 - the edge: whoever waits is told, and the log has the rest
            if self._spark_runtime.is_lost(0 if isinstance(error, LakeholdError) else _LOSS_SECONDS):
                # This process is about to exit, and another one executes the step again.
                Event().wait()
            if load_run(self._platform, row.n).state == states.STOPPING:
                return states.STOPPED, STOPPED_MESSAGE, StepResult()
            return states.FAILED, self._log_error(row, place, error), StepResult()

    def _log_error(self, row: RunRow, place: int, error: Exception) -> str:
        """Log an error and return its text for all who see the run; what they may not know is a private line."""
        private, hides = self._runnables[row.kind].private_errors, False
        if not isinstance(error, LakeholdError):
            _log.exception("run %s failed", row.id)
            from lakehold.lake.spark.guard import query_errors  # noqa: PLC0415 - what failed has loaded Spark

            message = query_errors.error_message(error, values=not private)
        elif private and isinstance(error, DeniedError | HiddenError):
            with self._platform.read(load_caller(row)) as ctx:
                refusal = describe_refusal(ctx, error, _resource(ctx, row))
            message, hides = str(refusal), refusal is not error
        else:
            message, hides = (error.without_foreign(), bool(error.foreign)) if private else (str(error), False)
        write_log(self._platform, row, place, message, "error")
        if hides:
            write_log(self._platform, row, place, str(error), states.PRIVATE)
        return message

    @contextmanager
    def _step_context(self, row: RunRow, place: int, authors: tuple[Caller, ...]) -> Iterator[StepContext]:
        folder = self._platform.settings.data / "runs" / f"{row.n}-{place}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, mode=_OWNER_ONLY)
        step_ctx = StepContext(self._platform, self._spark_runtime, row, place, folder, authors)
        context = step_ctx.spark_runtime.spark.sparkContext
        context.addJobTag(spark_job_tag(row.n))
        try:
            yield step_ctx
        finally:
            context.removeJobTag(spark_job_tag(row.n))
            shutil.rmtree(folder, ignore_errors=True)

    def _plan(self, row: RunRow) -> run_plan.RunPlan:
        with self._platform.read(load_caller(row)) as ctx:
            runnable, uid = self._runnables[row.kind], _resource(ctx, row)
            need_start(ctx, runnable, uid, load_options(row))
            return run_plan.plan_run(ctx, runnable, uid, load_options(row))

    def _planned_step(self, row: RunRow, place: int) -> tuple[Step, tuple[Caller, ...]]:
        """Return a step of the stored plan and its authors, if they and the caller still have the rights to it."""
        state = load_step(self._platform, row.n, place)
        if not state.plan:
            # A release that planned each step anew began the run: its step is the one of the same name.
            planned = run_plan.step_named(state.name, self._plan(row))
            return planned.step, planned.authors
        step = run_plan.parse_step(state.plan, self._executors())
        authors = run_plan.parse_authors(state.plan, row.tenant)
        with self._platform.read(load_caller(row)) as ctx:
            runnable, uid = self._runnables[row.kind], _resource(ctx, row)
            need_start(ctx, runnable, uid, load_options(row))
            runnable.need_step(ctx, uid, step)
            need_authors(ctx, authors, uid, partial(runnable.need_step, uid=uid, step=step))
        return step, authors


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


def _resource(ctx: RequestContext, row: RunRow) -> str:
    uid = ctx.view.uids.get(row.resource_id)
    if uid is None:
        raise NotFoundError("The resource was deleted.", "Create it again.")
    return uid


_NEW = {"state": states.QUEUED, "rows": 0, "size": 0, "bad": 0, "saved_state": "{}", "begun": 0, "error": ""}
