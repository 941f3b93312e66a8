"""Runs queries of users: through the guard, within their limits, stopped on request; and their probes.

Queries of one user share one fair-scheduler pool, so that others are not slowed by them. A query that takes too long,
or whose caller has gone, is cancelled. If Spark is lost, each query is answered with whether it may be the reason.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock, Timer
from time import monotonic
from typing import Any, TypeVar

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lakehold.directory.caller import Caller
from lakehold.kit.daemon_pool import DaemonPool, fail
from lakehold.kit.errors import ConflictError, LakeholdError, LimitExceededError, NotFoundError
from lakehold.kit.settings import Settings
from lakehold.kit.slots import Slots
from lakehold.lake import catalog_tokens
from lakehold.lake.errors import MemoryShortageError, QueryMemoryError, SparkLostError, StoppedError
from lakehold.lake.spark.fair_share import GROUP, POOL, FairShare, Owner, RunningQuery
from lakehold.lake.spark.guard import query_errors
from lakehold.lake.spark.guard.query_guard import QueryGuard
from lakehold.lake.spark.jvm import set_local_properties
from lakehold.lake.spark.query_results import QueryResult, collect_result, write_result
from lakehold.lake.spark.session_pool import USER_SESSION_CONF, UserSessions

T = TypeVar("T")
_INTERRUPT = "spark.job.interruptOnCancel"
_GRACE = 60
_LEAVE_SECONDS = 5
"""After how long whoever waits for a query is answered that it was stopped, whether it has stopped or not."""
_MOST_AT_ONCE = 100
_WARM_UP = "SELECT count(*), max(id * 2) FROM range(1000)"
_SETTLED_SECONDS = 1.0
"""A query that runs for longer may hold up others."""
_AFTERMATH_SECONDS = 30.0
"""For how long the memory may be short of what was stopped or found none: its tasks may go on, and others clean up."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query that a user runs."""

    id: str
    caller: Caller
    workspace: str
    """The workspace in which unqualified names are resolved; empty for none."""
    text: str
    rows: int
    is_suspect: bool = False
    """Whether a query of this caller may have ended Spark before."""


@dataclass(frozen=True, slots=True)
class QueryLoad:
    """The queries of a process, as a caller meets them."""

    own: int = 0
    """How many queries of the caller run."""
    others: int = 0
    crowding: int = 0
    """Who was there before the caller: 2 if a suspect query, 1 if one that takes longer or was stopped, else 0."""


class QueryService:
    """Runs and tracks the queries of this worker."""

    def __init__(
        self,
        spark: SparkSession,
        user_sessions: UserSessions,
        settings: Settings,
        end: Callable[[str], object] | None = None,
        *,
        is_expendable: bool = False,
    ) -> None:
        self._spark = spark
        self._settings = settings
        self._user_sessions = user_sessions
        self._guard = QueryGuard(spark, settings.query_parts)
        self._is_expendable = is_expendable
        self._fair_share = FairShare(spark, settings.query_patience, self._stop, end, is_expendable=is_expendable)
        self._running: dict[str, RunningQuery] = {}
        self._outcomes: dict[str, Future[Any]] = {}
        """What those who wait for the running queries get, by group."""
        self._lost: list[Owner] | None = None
        """Whose queries ran when Spark was lost, the longest first."""
        self._aftermath: dict[Owner, float] = {}
        """When a query of somebody's that was stopped, or found no memory, has ended."""
        self._slots = Slots("queries", _MOST_AT_ONCE, settings.queries_at_once)
        self._pool = DaemonPool("query")
        self._lock = Lock()

    def run(self, query: Query, reads: set[str] | None = None) -> QueryResult:
        """Run a query and return its rows. The ids of the tables that it reads are added, also if it fails."""
        most_rows = min(query.rows, self._settings.query_rows)
        most_bytes = self._settings.query_megabytes * 1_000_000
        return self._run(query, partial(collect_result, most_rows=most_rows, most_bytes=most_bytes), reads)

    def store(self, query: Query, file: Path, *, most_bytes: int, reads: set[str] | None = None) -> int:
        """Run a query, write its rows into a file, and return how many there are; `reads` as for `run`."""
        return self._run(query, partial(write_result, file=file, most_bytes=most_bytes), reads)

    def _run(self, query: Query, take: Callable[[DataFrame], T], reads: set[str] | None) -> T:
        return self._run_apart(query, partial(self._run_registered, query, take, reads))

    def _run_registered(
        self, query: Query, take: Callable[[DataFrame], T], reads: set[str] | None, running: RunningQuery
    ) -> T:
        lent = self._user_sessions.borrow(query.caller, query.workspace, self._settings.query_seconds + _GRACE)
        with (
            lent as own,
            catalog_tokens.open_system_folder(own.token, self._settings.data),
            catalog_tokens.track_loaded_tables(own.token, reads),
        ):
            set_local_properties(self._spark, {**USER_SESSION_CONF, **_task_properties(running)})
            with self._limit_analysis(running):
                rows = self._guard.analyse(own.session, query.text)
            if running.stop_reason:
                raise _stopped_error(running)
            return take(rows)

    @contextmanager
    def _explained_errors(self, running: RunningQuery) -> Iterator[None]:
        """Raise errors as the caller may read them."""
        try:
            yield
        except (LakeholdError, PySparkException, Py4JError, OSError) as error:
            found = self._explain(running, error)
            if found is error:
                raise
            raise found from error

    def _explain(self, running: RunningQuery, error: Exception) -> Exception:
        """Return what happened in Spark, if that is the cause; the error of a probe may tell of the other system."""
        cause, translated = error.__cause__ or error, error
        if isinstance(cause, PySparkException | Py4JError | OSError):
            if running.stop_reason:
                return _stopped_error(running)
            if self._has_stopped():
                return self._lost_error(running)
        if isinstance(cause, PySparkException | Py4JJavaError):
            translated = query_errors.translate_error(cause)
        if isinstance(translated, QueryMemoryError):
            return self._memory_error(running, translated)
        if isinstance(error, LakeholdError) or (running.waits_elsewhere and isinstance(error, OSError)):
            return error
        return self._lost_error(running) if translated is error else translated

    def _memory_error(self, running: RunningQuery, error: QueryMemoryError) -> LakeholdError:
        """Return the error for a query that found no memory.

        All queries have the same memory: beside those of others, any of them can have taken it, and the one that ran
        the longest is the suspect. After those of others that left it behind, it is none of the running ones.
        """
        with self._lock:
            known, is_aftermath = self._longest_first(), self._is_aftermath(running.owner)
        is_alone = all(each.owner == running.owner for each in known)
        if is_alone and not is_aftermath:
            return error
        field = "sql" if not is_alone and known[0].owner == running.owner else ""
        return MemoryShortageError("Other queries use all memory.", "Try again.", field=field)

    def _has_stopped(self) -> bool:
        try:
            return bool(self._spark.sparkContext._jsc.sc().isStopped())  # noqa: SLF001 - Python lacks it
        except (Py4JError, OSError):
            return True

    def _lost_error(self, running: RunningQuery) -> LakeholdError:
        """Return the error for a query under which Spark was lost.

        The query that ran the longest is the suspect, unless one that was told to stop is still there: that one kept
        Spark from going on. A suspect beside which nobody else's query ran is the reason.
        """
        with self._lock:
            if self._lost is None:
                known = self._longest_first()
                is_other = any(each.stop_reason for each in known) or self._is_aftermath(running.owner)
                self._lost = [] if is_other else [each.owner for each in known]
        is_suspect = self._lost[:1] == [running.owner]
        if is_suspect and self._is_expendable and set(self._lost) == {running.owner}:
            return QueryMemoryError("The query needs more memory than is available.", "Query less data at once.")
        return SparkLostError("Spark has stopped.", "It is restarting; try again.", field="sql" if is_suspect else "")

    def _longest_first(self) -> list[RunningQuery]:
        """Return the queries that use Spark."""
        return sorted((each for each in self._running.values() if not each.has_left), key=lambda each: each.since)

    def _is_aftermath(self, owner: Owner) -> bool:
        """Return whether somebody else's query has ended lately that may have left no memory behind."""
        since = monotonic() - _AFTERMATH_SECONDS
        return any(at > since for each, at in self._aftermath.items() if each != owner)

    def load(self, owner: Owner) -> QueryLoad:
        """Return what somebody's next query would meet here."""
        with self._lock:
            there = [each for each in self._running.values() if not each.stop_reason]
            blocking = [each for each in self._longest_first() if each.owner != owner]
            least = int(self._is_aftermath(owner))
        own = [each for each in there if each.owner == owner]
        since = min([monotonic() - _SETTLED_SECONDS, *(each.since for each in own)])
        crowding = max((least, *(2 if each.is_suspect else int(each.since < since) for each in blocking)))
        return QueryLoad(len(own), len(blocking), crowding)

    def warm_up(self, caller: Caller) -> None:
        """Run a query that reads no table, so that Spark has loaded what the first real one would wait for."""
        with self._user_sessions.borrow(caller, "", self._settings.analysis_seconds) as own:
            collect_result(self._guard.analyse(own.session, _WARM_UP), most_rows=1, most_bytes=1_000_000)

    @contextmanager
    def join(self, uid: str, caller: Caller, *, is_suspect: bool = False) -> Iterator[None]:
        """Count what this thread does as a query of the caller: limited, stopped, seen and suspected like one.

        It is a probe, which waits for another system as well; its errors tell of that, not of Spark.
        """
        query = Query(uid, caller, "", "", 0, is_suspect)
        with self._register(query, waits_elsewhere=True) as running, self._explained_errors(running):
            set_local_properties(self._spark, _task_properties(running))
            yield

    def stop(self, uid: str, caller: Caller) -> None:
        """Stop a query of the caller's own."""
        running = self._running.get(uid)
        if running is None or running.owner != (caller.tenant, caller.member):
            raise NotFoundError("There is no such query.", "It may have ended.")
        self._stop(running, "The query was stopped.")

    def analyse(self, caller: Caller, workspace: str, text: str, *, seconds: int) -> tuple[DataFrame, frozenset[str]]:
        """Return the rows of a query, to be run within so many seconds, and the ids of the tables that it reads."""
        token = self._user_sessions.issue_token(caller, seconds)
        session = self._user_sessions.create_session(token, workspace)
        outcome = self._pool.submit(partial(self._analyse_tracked, session, token, text))
        try:
            return outcome.result(self._settings.analysis_seconds)
        except TimeoutError:
            raise self._analysis_error() from None
        except (PySparkException, Py4JJavaError) as error:
            raise query_errors.translate_error(error) from error

    def describe(self, query: Query) -> tuple[StructType, frozenset[str]]:
        """Return the schema of a query's result, and the ids of the tables that it would read."""

        def analyse(running: RunningQuery) -> tuple[StructType, frozenset[str]]:
            seconds = self._settings.analysis_seconds + _GRACE
            lent = self._user_sessions.borrow(query.caller, query.workspace, seconds)
            with lent as own, self._limit_analysis(running):
                rows, reads = self._analyse_tracked(own.session, own.token, query.text)
                return rows.schema, reads

        return self._run_apart(query, analyse)

    def _analyse_tracked(self, session: SparkSession, token: str, text: str) -> tuple[DataFrame, frozenset[str]]:
        with catalog_tokens.track_loaded_tables(token) as loaded:
            return self._guard.analyse(session, text), frozenset(loaded)

    def _run_apart(self, query: Query, do: Callable[[RunningQuery], T]) -> T:
        """Run a query in a thread of its own, so that a waiting caller can leave.

        Nothing stops Spark while it analyses or plans, nor some tasks. The query stays registered until its thread
        ends, and so it counts as one of its user's; one that never ends is a matter of the fair share.
        """
        outcome: Future[T] = Future()

        def work() -> T:
            with self._register(query) as running:
                self._outcomes[running.group] = outcome
                try:
                    with self._explained_errors(running):
                        return do(running)
                finally:
                    del self._outcomes[running.group]

        return self._pool.submit(work, outcome).result()

    @contextmanager
    def _limit_analysis(self, running: RunningQuery) -> Iterator[None]:
        """Give up an analysis that takes too long: it goes on, and nobody waits for it."""
        error = self._analysis_error()

        def give_up() -> None:
            self._free(running, error)
            self._stop(running, error.message)

        timer = Timer(self._settings.analysis_seconds, give_up)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _analysis_error(self) -> LimitExceededError:
        seconds = self._settings.analysis_seconds
        return LimitExceededError(
            f"The query is not understood within {seconds} seconds.", "Break it into parts, and save some as tables."
        )

    def _free(self, running: RunningQuery, error: LakeholdError) -> None:
        """Answer those who wait for a query, if nobody has."""
        if outcome := self._outcomes.get(running.group):
            fail(outcome, error)

    @contextmanager
    def _register(self, query: Query, *, waits_elsewhere: bool = False) -> Iterator[RunningQuery]:
        """Track a query while it runs, within the limits of its user and for so many seconds at most."""
        owner = (query.caller.tenant, query.caller.member)
        with self._slots.take(owner):
            with self._lock:
                if query.id in self._running:
                    raise ConflictError("A query of this id runs already.", "Give each query an id of its own.")
                running = RunningQuery(owner, is_suspect=query.is_suspect, waits_elsewhere=waits_elsewhere)
                self._running[query.id] = running
            with self._tracked(query, running):
                yield running

    @contextmanager
    def _tracked(self, query: Query, running: RunningQuery) -> Iterator[None]:
        self._fair_share.start(running)
        seconds = self._settings.query_seconds
        timer = Timer(seconds, self._stop, (running, f"The query took longer than {seconds} seconds."))
        timer.daemon = True
        try:
            timer.start()
            yield
        except (QueryMemoryError, MemoryShortageError, StoppedError):
            with self._lock:
                self._aftermath[running.owner] = monotonic()
            raise
        finally:
            timer.cancel()
            self._fair_share.finish(running)
            with self._lock:
                del self._running[query.id]
            # The thread goes on to others.
            with suppress(Py4JError, OSError):
                set_local_properties(self._spark, {})

    def _stop(self, running: RunningQuery, reason: str) -> None:
        with self._lock:
            is_first, running.stop_reason = not running.stop_reason, running.stop_reason or reason
        if is_first:
            leaving = Timer(_LEAVE_SECONDS, self._free, (running, _stopped_error(running)))
            leaving.daemon = True
            leaving.start()
        # Also what it has not begun yet. If Spark is lost, nothing of it is left.
        with suppress(Py4JError, OSError):
            self._spark.sparkContext._jsc.sc().cancelJobGroupAndFutureJobs(running.group)  # noqa: SLF001 - Python lacks it


def _task_properties(running: RunningQuery) -> dict[str, str]:
    return {POOL: running.pool, GROUP: running.group, _INTERRUPT: "true"}


def _stopped_error(running: RunningQuery) -> StoppedError:
    return StoppedError(running.stop_reason, "Query less data, or save the query as a table.")
