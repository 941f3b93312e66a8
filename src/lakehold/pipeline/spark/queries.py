"""Queries of persons: through the guard, within their limits, and stopped when they say so.

One person's queries share what Spark gives them; another's are not slowed by these. Of a query that takes too long, or
whose asker has gone, the work is stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Timer

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lakehold.directory.caller import Caller
from lakehold.kit.errors import ConflictError, NotFoundError, UnavailableError
from lakehold.pipeline import loads, sights
from lakehold.pipeline.errors import OutOfMemoryError, StoppedError, TooMuchError
from lakehold.pipeline.limits import Limits
from lakehold.pipeline.spark import results
from lakehold.pipeline.spark.guard import words
from lakehold.pipeline.spark.guard.guard import Guard
from lakehold.pipeline.spark.jvm import tell_tasks
from lakehold.pipeline.spark.lending import Lending, Lent
from lakehold.pipeline.spark.persons import ALWAYS, Persons
from lakehold.pipeline.spark.results import Result
from lakehold.pipeline.spark.sharing import GROUP, POOL, Running, Sharing

_INTERRUPT = "spark.job.interruptOnCancel"
_GRACE, _SOON = 60, 60


@dataclass(frozen=True, slots=True)
class Query:
    """What somebody asks."""

    id: str
    caller: Caller
    workspace: str
    """The name of the workspace in which names are looked for; empty for none."""
    text: str
    rows: int


class Queries:
    """Those that run here."""

    def __init__(
        self,
        spark: SparkSession,
        persons: Persons,
        limits: Limits,
        data: Path,
        end: Callable[[str], object] | None = None,
    ) -> None:
        self._spark = spark
        self._data = data
        self._persons = persons
        self._lending = Lending(persons, persons.clock)
        self._limits = limits
        self._guard = Guard(spark)
        self._sharing = Sharing(spark, limits.patience, self._stop, end)
        self._running: dict[str, Running] = {}
        self._lock = Lock()

    def ask(self, query: Query) -> Result:
        """Run it; the rows, or what stands against it."""
        lent = self._lending.lent(query.caller, query.workspace, self._limits.seconds + _GRACE)
        with self._counted(query) as running, self._timed(query.id), lent as own, sights.opened(own.ticket, self._data):
            try:
                return self._rows(query, own, running)
            except OutOfMemoryError:
                if not self._others(running):
                    raise
                # All have the same memory: it may be another's query that took it.
                return self._rows(query, own, running)

    def _rows(self, query: Query, own: Lent, running: Running) -> Result:
        limits = self._limits
        try:
            rows = self._analysed(query, own, running)
            if running.stopped:
                raise _stopped(running)
            return results.collected(
                rows, most_rows=min(query.rows, limits.rows), most_bytes=limits.megabytes * 1_000_000
            )
        except (PySparkException, Py4JJavaError) as error:
            if running.stopped:
                raise _stopped(running) from None
            raise words.told(error) from error
        except (Py4JError, OSError) as error:
            raise UnavailableError("Spark has ended meanwhile.", "It is starting anew; try again.") from error

    def _others(self, running: Running) -> bool:
        """Whether somebody else asks something at the same time."""
        with self._lock:
            return any(each.owner != running.owner for each in self._running.values())

    def stop(self, uid: str, caller: Caller, said: str = "The query was stopped.") -> None:
        """Stop a query of the caller's own."""
        running = self._running.get(uid)
        if running is None or running.owner != (caller.tenant, caller.member):
            raise NotFoundError("There is no such query.", "It may have ended.")
        self._stop(running, said)

    def known(self, caller: Caller, workspace: str, text: str, *, seconds: int) -> tuple[DataFrame, frozenset[str]]:
        """What a query means to its asker, ready to be run within so many seconds, and the tables that it reads."""
        ticket = self._persons.ticket(caller, seconds)
        return self._meant(self._persons.session(ticket, workspace), ticket, text)

    def described(self, caller: Caller, workspace: str, text: str) -> tuple[StructType, frozenset[str]]:
        """The fields of the rows that a query would have, and the tables that it would read."""
        with self._lending.lent(caller, workspace, _SOON) as own:
            rows, reads = self._meant(own.session, own.ticket, text)
            return rows.schema, reads

    def _meant(self, session: SparkSession, ticket: str, text: str) -> tuple[DataFrame, frozenset[str]]:
        with loads.watched(ticket) as loaded:
            try:
                rows = self._guard.analysed(session, text)
            except (PySparkException, Py4JJavaError) as error:
                raise words.told(error) from error
            return rows, frozenset(loaded)

    def _analysed(self, query: Query, own: Lent, running: Running) -> DataFrame:
        tell_tasks(self._spark, {**ALWAYS, POOL: running.pool, GROUP: running.group, _INTERRUPT: "true"})
        return self._guard.analysed(own.session, query.text)

    @contextmanager
    def _counted(self, query: Query) -> Iterator[Running]:
        owner = (query.caller.tenant, query.caller.member)
        with self._lock:
            if query.id in self._running:
                raise ConflictError("A query of this id runs already.", "Give each query an id of its own.")
            most = self._limits.at_once
            if Counter(each.owner for each in self._running.values())[owner] >= most:
                raise TooMuchError(f"You have {most} queries running.", "Wait for one to end, or stop one.")
            running = self._running[query.id] = Running(owner)
        self._sharing.begin(running)
        try:
            yield running
        finally:
            self._sharing.over(running)
            with self._lock:
                del self._running[query.id]
            # The thread goes on to others.
            tell_tasks(self._spark, {})

    @contextmanager
    def _timed(self, uid: str) -> Iterator[None]:
        running = self._running[uid]
        said = f"The query took longer than {self._limits.seconds} seconds."
        timer = Timer(self._limits.seconds, self._stop, (running, said))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _stop(self, running: Running, said: str) -> None:
        with self._lock:
            running.stopped = running.stopped or said
        # Also what it has not begun yet.
        self._spark.sparkContext._jsc.sc().cancelJobGroupAndFutureJobs(running.group)  # noqa: SLF001 - Python lacks it


def _stopped(running: Running) -> StoppedError:
    return StoppedError(running.stopped, "Ask for less, or save the query as a table.")
