"""Queries of persons: through the guard, within their limits, and stopped when they say so.

One person's queries share what Spark gives them; another's are not slowed by these. Of a query that takes too long, or
whose asker has gone, the work is stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Timer
from uuid import uuid4

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lakehold.directory.caller import Caller
from lakehold.kit.errors import ConflictError, NotFoundError
from lakehold.pipeline import loads, sights
from lakehold.pipeline.errors import StoppedError, TooMuchError
from lakehold.pipeline.limits import Limits
from lakehold.pipeline.spark import results
from lakehold.pipeline.spark.guard import words
from lakehold.pipeline.spark.guard.guard import Guard
from lakehold.pipeline.spark.jvm import tell_tasks
from lakehold.pipeline.spark.lending import Lending, Lent
from lakehold.pipeline.spark.persons import ALWAYS, Persons
from lakehold.pipeline.spark.results import Result

_POOL, _GROUP = "spark.scheduler.pool", "spark.jobGroup.id"
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


@dataclass(slots=True)
class _Running:
    owner: tuple[str, str]
    group: str = field(default_factory=lambda: uuid4().hex)
    """What Spark calls all that it does for the query."""
    stopped: str = ""
    lock: Lock = field(default_factory=Lock)


class Queries:
    """Those that run here."""

    def __init__(self, spark: SparkSession, persons: Persons, limits: Limits, data: Path) -> None:
        self._spark = spark
        self._data = data
        self._persons = persons
        self._lending = Lending(persons, persons.clock)
        self._limits = limits
        self._guard = Guard(spark)
        self._running: dict[str, _Running] = {}
        self._lock = Lock()

    def ask(self, query: Query) -> Result:
        """Run it; the rows, or what stands against it."""
        limits = self._limits
        lent = self._lending.lent(query.caller, query.workspace, limits.seconds + _GRACE)
        with self._counted(query) as running, self._timed(query.id), lent as own, sights.opened(own.ticket, self._data):
            try:
                rows = self._analysed(query, own, running)
                return results.collected(
                    rows, most_rows=min(query.rows, limits.rows), most_bytes=limits.megabytes * 1_000_000
                )
            except (PySparkException, Py4JJavaError) as error:
                if running.stopped:
                    raise StoppedError(running.stopped, "Ask for less, or save the query as a table.") from None
                raise words.told(error) from error

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

    def _analysed(self, query: Query, own: Lent, running: _Running) -> DataFrame:
        pool = f"{query.caller.tenant} {query.caller.member}"
        tell_tasks(self._spark, {**ALWAYS, _POOL: pool, _GROUP: running.group, _INTERRUPT: "true"})
        return self._guard.analysed(own.session, query.text)

    @contextmanager
    def _counted(self, query: Query) -> Iterator[_Running]:
        owner = (query.caller.tenant, query.caller.member)
        with self._lock:
            if query.id in self._running:
                raise ConflictError("A query of this id runs already.", "Give each query an id of its own.")
            most = self._limits.at_once
            if Counter(each.owner for each in self._running.values())[owner] >= most:
                raise TooMuchError(f"You have {most} queries running.", "Wait for one to end, or stop one.")
            running = self._running[query.id] = _Running(owner)
        try:
            yield running
        finally:
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

    def _stop(self, running: _Running, said: str) -> None:
        with running.lock:
            running.stopped = running.stopped or said
        # Also what it has not begun yet.
        self._spark.sparkContext._jsc.sc().cancelJobGroupAndFutureJobs(running.group)  # noqa: SLF001 - Python lacks it
