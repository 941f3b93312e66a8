"""A run in its worker: begin it, do its steps, end it. Each may be begun twice, and leaves the same behind."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.database import Transaction
from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.lake.errors import StoppedError
from lakehold.runs import notices
from lakehold.runs import run_table as states
from lakehold.runs.firing import Firing
from lakehold.runs.run_table import RunRow, run_log_table, run_step_table, run_table
from lakehold.runs.runnable import Done, Ended, Runnables, Step, StepExecutors
from lakehold.runs.runs import Runs, need_start, wanted_of
from lakehold.runs.warm import Warm

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakehold.lake.spark.tables import Tables

_log = logging.getLogger("lakehold.runs")
_MOST_BEGUN = 3
_OWNER_ONLY = 0o700
_SECONDS = 24 * 3600
STOPPED = "It was stopped."


class Running:
    """The runs of this process."""

    def __init__(
        self, platform: Platform, runnables: Runnables, doers: Callable[[], StepExecutors], warm: Warm
    ) -> None:
        self._platform = platform
        self._runnables = runnables
        self._doers = doers
        self.firing = Firing(Runs(runnables))
        self._warm = warm
        self._busy: set[tuple[int, int]] = set()
        """The steps that this process is at: the number of the run, and the place of the step."""

    def begin(self, number: int) -> tuple[str, int]:
        """Ask once more whether whom it is for may; what stands against it, and how many steps there are."""
        row = self._row(number)
        try:
            steps = self._steps(row)
        except LakeholdError as error:
            if error.retryable:
                raise
            self._say(row, -1, str(error), "error")
            return str(error), 0
        c = run_step_table.c
        with self._platform.database.write() as transaction:
            known = set(transaction.connection.execute(sa.select(c.number).where(c.run == number)).scalars())
            for place, step in enumerate(steps):
                if place not in known:
                    transaction.connection.execute(
                        run_step_table.insert().values(
                            run=number, number=place, tenant_id=row.tenant_id, name=step.name, **_NEW
                        )
                    )
        return "", len(steps)

    def step(self, number: int, place: int) -> str:
        """Do one step, unless it was done; what went wrong, or nothing."""
        row, state = self._row(number), self._step_row(number, place)
        if state.state == states.SUCCEEDED:
            return ""
        if row.state == states.STOPPING:
            return STOPPED
        if state.begun >= _MOST_BEGUN + row.tries:
            return f"The worker was stopped {state.begun} times while it did this; it is not tried again."
        at = self._platform.clock()
        self._move(number, place, state=states.RUNNING, begun=state.begun + 1, started_at=at, ended_at=None, error="")
        _log.info("run %s: %s is begun", row.id, state.name)
        self._busy.add((number, place))
        problem, done = self._done(row, place)
        self._busy.discard((number, place))
        values: dict[str, object] = {"ended_at": self._platform.clock(), "error": problem, "rows": done.rows}
        values |= {"size": done.size, "bad": done.bad}
        if not problem:
            values["told"] = json.dumps(dict(done.told))
        outcome = states.SUCCEEDED if not problem else states.STOPPED if problem == STOPPED else states.FAILED
        self._move(number, place, state=outcome, **values)
        return problem

    def give_back(self, transaction: Transaction) -> None:
        """Do not count what this process is at: it ends for reasons of its own, and others begin it anew."""
        c = run_step_table.c
        for number, place in list(self._busy):
            mine = run_step_table.update().where(c.run == number, c.number == place, c.state == states.RUNNING)
            transaction.connection.execute(mine.values(begun=c.begun - 1))

    def end(self, number: int, problem: str) -> None:
        """Write down what became of it."""
        state = states.SUCCEEDED if not problem else states.STOPPED if problem == STOPPED else states.FAILED
        row = self._row(number)
        with self._platform.write(caller_of(row)) as ctx:
            c = run_table.c
            still = run_table.update().where(c.n == number, c.state.in_(states.BUSY))
            values = {"state": state, "error": problem, "ended_at": self._platform.clock()}
            moved = ctx.session.transaction.connection.execute(still.values(**values)).rowcount
            if moved:
                ended = Ended(row.id, state, problem, row.started_by, row.started_at or 0)
                notices.tell(ctx, self._platform.settings, self._runnables, row, ended)
        _log.info("run %s has %s", row.id, state)

    def follow(self, number: int) -> None:
        """Start what comes after it."""
        self.firing.hear(self._platform, number)

    def _done(self, row: RunRow, place: int) -> tuple[str, Done]:
        try:
            step = self._steps(row)[place]
            with self._doing(row, place) as doing:
                return "", self._doers()[type(step)](step, doing)
        except LakeholdError as error:
            if self._row(row.n).state == states.STOPPING:
                return STOPPED, Done()
            self._say(row, place, str(error), "error")
            return str(error), Done()
        except Exception as error:  # noqa: BLE001 - the edge: whoever waits is told, and the log has the rest
            if self._row(row.n).state == states.STOPPING:
                return STOPPED, Done()
            _log.exception("run %s failed", row.id)
            from lakehold.lake.spark.guard import query_errors  # noqa: PLC0415 - what failed has loaded Spark

            told = query_errors.error_message(error)
            self._say(row, place, told, "error")
            return told, Done()

    @contextmanager
    def _doing(self, row: RunRow, place: int) -> Iterator[Doing]:
        folder = self._platform.settings.data / "runs" / f"{row.n}-{place}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, mode=_OWNER_ONLY)
        doing = Doing(self, row, place, folder)
        context = doing.spark.sparkContext
        context.addJobTag(tag(row.n))
        try:
            yield doing
        finally:
            context.removeJobTag(tag(row.n))
            shutil.rmtree(folder, ignore_errors=True)

    def _steps(self, row: RunRow) -> Sequence[Step]:
        with self._platform.read(caller_of(row)) as ctx:
            runnable, uid = self._runnables[row.kind], _resource(ctx, row)
            need_start(ctx, runnable, uid, wanted_of(row))
            return runnable.steps(ctx, uid, wanted_of(row))

    def _row(self, number: int) -> RunRow:
        with self._platform.database.read() as transaction:
            return transaction.connection.execute(sa.select(run_table).where(run_table.c.n == number)).one()

    def _step_row(self, number: int, place: int) -> RunRow:
        c = run_step_table.c
        query = sa.select(run_step_table).where(c.run == number, c.number == place)
        with self._platform.database.read() as transaction:
            return transaction.connection.execute(query).one()

    def _move(self, number: int, place: int, **values: object) -> None:
        c = run_step_table.c
        update = run_step_table.update().where(c.run == number, c.number == place).values(**values)
        with self._platform.database.write() as transaction:
            transaction.connection.execute(update)

    def _say(self, row: RunRow, place: int, text: str, level: str = "info") -> None:
        line = {"tenant_id": row.tenant_id, "run": row.n, "step": place, "at": self._platform.clock()}
        with self._platform.database.write() as transaction:
            transaction.connection.execute(run_log_table.insert().values(**line, level=level, text=text))


@dataclass(frozen=True, slots=True)
class Doing:
    """What a step is done with."""

    _running: Running
    _row: RunRow
    _place: int
    folder: Path

    @property
    def platform(self) -> Platform:
        """Where it is done."""
        return self._running._platform  # noqa: SLF001 - it is made there

    @property
    def caller(self) -> Caller:
        """As whom."""
        return caller_of(self._row)

    @property
    def mark(self) -> str:
        """Names this step of this run."""
        return f"{self._row.id}/{self._place}"

    @property
    def kept(self) -> Path:
        """To keep in what a step has to find again."""
        made = self.platform.settings.data / "runs" / "kept" / f"{self._row.n}-{self._place}"
        made.mkdir(parents=True, exist_ok=True, mode=_OWNER_ONLY)
        return made

    def reached(self) -> Mapping[str, object]:
        """What was noted of how far this step has come."""
        told: Mapping[str, object] = json.loads(self._running._step_row(self._row.n, self._place).told)  # noqa: SLF001
        return told

    def note(self, reached: Mapping[str, object]) -> None:
        """Note how far it has come."""
        self._running._move(self._row.n, self._place, told=json.dumps(dict(reached)))  # noqa: SLF001 - as above

    @property
    def spark(self) -> SparkSession:
        """A session that knows no table."""
        return self._running._warm.spark  # noqa: SLF001 - as above

    @property
    def tables(self) -> Tables:
        """Tables, as the platform sees them."""
        return self._running._warm.tables  # noqa: SLF001 - as above

    def asked(self, workspace: str, text: str) -> tuple[DataFrame, frozenset[str]]:
        """The rows of a query, as the person whom the run is for, and which tables it reads."""
        queries = self._running._warm.queries  # noqa: SLF001 - as above
        return queries.analyse(self.caller, workspace, text, seconds=_SECONDS)

    def log(self, text: str, level: str = "info") -> None:
        """Write a line for those who may see the run."""
        self._running._say(self._row, self._place, text, level)  # noqa: SLF001 - as above

    def go_on(self) -> None:
        """Refuse if somebody wants it to stop."""
        if self._running._row(self._row.n).state == states.STOPPING:  # noqa: SLF001 - as above
            raise StoppedError(STOPPED)


def tag(number: int) -> str:
    """What the work of a run is known by in Spark."""
    return f"run-{number}"


def caller_of(row: RunRow) -> Caller:
    """As whom it runs."""
    return Caller.from_stored(row.tenant, json.loads(row.caller), address="worker")


def _resource(ctx: RequestContext, row: RunRow) -> str:
    uid = ctx.view.uids.get(row.resource_id)
    if uid is None:
        raise NotFoundError("What was to be run is gone.", "Make it anew.")
    return uid


_NEW = {"state": states.QUEUED, "rows": 0, "size": 0, "bad": 0, "told": "{}", "begun": 0, "error": ""}
