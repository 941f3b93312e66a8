"""Runs queries of users: through the guard, within their limits, stopped on request, with results as Arrow.

Queries of one user share one fair-scheduler pool, so that others are not slowed by them. A query that takes too long,
or whose caller has gone, is cancelled.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock, Timer

import pyarrow as pa
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException, PySparkTypeError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import CalendarIntervalType, DataType, StructType, VariantType, YearMonthIntervalType

from lakehold.directory.caller import Caller
from lakehold.kit.errors import ConflictError, NotFoundError, UnavailableError
from lakehold.kit.settings import Settings
from lakehold.lake import catalog_tokens
from lakehold.lake.errors import LimitExceededError, QueryError, QueryMemoryError, StoppedError
from lakehold.lake.spark.fair_share import GROUP, POOL, FairShare, RunningQuery
from lakehold.lake.spark.guard import query_errors
from lakehold.lake.spark.guard.query_guard import QueryGuard
from lakehold.lake.spark.jvm import active_session, set_local_properties
from lakehold.lake.spark.session_pool import USER_SESSION_CONF, UserSession, UserSessions

_TEXTS = (CalendarIntervalType, VariantType, YearMonthIntervalType)


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Rows of a query as Arrow batches."""

    schema: pa.Schema
    batches: list[pa.RecordBatch]
    complete: bool
    """Whether there were no more."""


def collect_result(rows: DataFrame, *, most_rows: int, most_bytes: int) -> QueryResult:
    """Run the query and collect its rows. One row more than allowed is requested, to know whether there are more."""
    rows = _with_text_columns(rows)
    try:
        schema = to_arrow_schema(rows.schema)
    except PySparkTypeError as error:
        raise QueryError("A column has a type that cannot be sent.", "Make it a text: CAST(… AS STRING).") from error
    with active_session(rows.sparkSession):
        found = list(_collect_batches(rows.limit(most_rows + 1), schema, most_bytes))
    whole = pa.Table.from_batches(found, schema)
    return QueryResult(schema, whole.slice(0, most_rows).to_batches(), complete=len(whole) <= most_rows)


def _with_text_columns(rows: DataFrame) -> DataFrame:
    """Replace columns that Arrow has no type for by text: variants as JSON, month and mixed intervals."""
    kinds = [field.dataType for field in rows.schema]
    if not any(isinstance(kind, _TEXTS) for kind in kinds):
        return rows
    numbered = rows.toDF(*(str(number) for number in range(len(kinds))))
    return numbered.select(
        [
            _as_text(f.col(f"`{number}`"), kind).alias(name)
            for number, (name, kind) in enumerate(zip(rows.columns, kinds, strict=True))
        ]
    )


def _as_text(column: Column, kind: DataType) -> Column:
    if isinstance(kind, VariantType):
        return f.to_json(column)
    return column.cast("string") if isinstance(kind, _TEXTS) else column


def _collect_batches(rows: DataFrame, schema: pa.Schema, most_bytes: int) -> Iterator[pa.RecordBatch]:
    """Run the query in this thread and yield its batches.

    Spark's own `toArrow` runs it in another thread, which reports nothing if memory ends there, and writes the rows
    from the thread that every query waits for.
    """
    found = rows._jdf.toArrowBatchRdd().collect()  # noqa: SLF001 - only the JVM has them
    size = 0
    for number in range(len(found)):
        part = found[number]
        size += len(part)
        if size > most_bytes:
            message = f"The result is larger than {most_bytes // 1_000_000:,} MB."
            raise LimitExceededError(message, "Select fewer columns or rows, or save the query as a table.")
        yield pa.ipc.read_record_batch(pa.py_buffer(part), schema)


_INTERRUPT = "spark.job.interruptOnCancel"
_GRACE, _ANALYSIS_SECONDS = 60, 60


@dataclass(frozen=True, slots=True)
class Query:
    """A query that a user runs."""

    id: str
    caller: Caller
    workspace: str
    """The workspace in which unqualified names are resolved; empty for none."""
    text: str
    rows: int


class QueryService:
    """Runs and tracks the queries of this worker."""

    def __init__(
        self,
        spark: SparkSession,
        user_sessions: UserSessions,
        settings: Settings,
        end: Callable[[str], object] | None = None,
    ) -> None:
        self._spark = spark
        self._settings = settings
        self._user_sessions = user_sessions
        self._guard = QueryGuard(spark)
        self._fair_share = FairShare(spark, settings.query_patience, self._stop, end)
        self._running: dict[str, RunningQuery] = {}
        self._lock = Lock()

    def run(self, query: Query, reads: set[str] | None = None) -> QueryResult:
        """Run a query and return its rows. The ids of the tables that it reads are added, also if it fails."""
        lent = self._user_sessions.borrow(query.caller, query.workspace, self._settings.query_seconds + _GRACE)
        with (
            self._register(query) as running,
            lent as own,
            catalog_tokens.open_system_folder(own.token, self._settings.data),
            catalog_tokens.track_loaded_tables(own.token, reads),
        ):
            try:
                return self._collect_rows(query, own, running)
            except QueryMemoryError:
                with self._lock:
                    others = any(each.owner != running.owner for each in self._running.values())
                if not others:
                    raise
                # All have the same memory: it may be another's query that took it.
                return self._collect_rows(query, own, running)

    def _collect_rows(self, query: Query, own: UserSession, running: RunningQuery) -> QueryResult:
        most_rows = min(query.rows, self._settings.query_rows)
        try:
            properties = {**USER_SESSION_CONF, POOL: running.pool, GROUP: running.group, _INTERRUPT: "true"}
            set_local_properties(self._spark, properties)
            rows = self._guard.analyse(own.session, query.text)
            if running.stop_reason:
                raise _stopped_error(running)
            return collect_result(rows, most_rows=most_rows, most_bytes=self._settings.query_megabytes * 1_000_000)
        except (PySparkException, Py4JJavaError) as error:
            if running.stop_reason:
                raise _stopped_error(running) from None
            raise query_errors.translate_error(error) from error
        except (Py4JError, OSError) as error:
            raise UnavailableError("Spark has stopped.", "It is restarting; try again.") from error

    def stop(self, uid: str, caller: Caller) -> None:
        """Stop a query of the caller's own."""
        running = self._running.get(uid)
        if running is None or running.owner != (caller.tenant, caller.member):
            raise NotFoundError("There is no such query.", "It may have ended.")
        self._stop(running, "The query was stopped.")

    def analyse(self, caller: Caller, workspace: str, text: str, *, seconds: int) -> tuple[DataFrame, frozenset[str]]:
        """Return the rows of a query, to be run within so many seconds, and the ids of the tables that it reads."""
        token = self._user_sessions.issue_token(caller, seconds)
        return self._analyse_tracked(self._user_sessions.create_session(token, workspace), token, text)

    def describe(self, caller: Caller, workspace: str, text: str) -> tuple[StructType, frozenset[str]]:
        """Return the schema of a query's result, and the ids of the tables that it would read."""
        with self._user_sessions.borrow(caller, workspace, _ANALYSIS_SECONDS) as own:
            rows, reads = self._analyse_tracked(own.session, own.token, text)
            return rows.schema, reads

    def _analyse_tracked(self, session: SparkSession, token: str, text: str) -> tuple[DataFrame, frozenset[str]]:
        with catalog_tokens.track_loaded_tables(token) as loaded:
            try:
                rows = self._guard.analyse(session, text)
            except (PySparkException, Py4JJavaError) as error:
                raise query_errors.translate_error(error) from error
            return rows, frozenset(loaded)

    @contextmanager
    def _register(self, query: Query) -> Iterator[RunningQuery]:
        """Track a query while it runs, within the limits of its user and for so many seconds at most."""
        owner = (query.caller.tenant, query.caller.member)
        with self._lock:
            if query.id in self._running:
                raise ConflictError("A query of this id runs already.", "Give each query an id of its own.")
            most = self._settings.queries_at_once
            if Counter(each.owner for each in self._running.values())[owner] >= most:
                raise LimitExceededError(f"You have {most} queries running.", "Wait for one to end, or stop one.")
            running = self._running[query.id] = RunningQuery(owner)
        self._fair_share.start(running)
        seconds = self._settings.query_seconds
        timer = Timer(seconds, self._stop, (running, f"The query took longer than {seconds} seconds."))
        timer.daemon = True
        try:
            timer.start()
            yield running
        finally:
            timer.cancel()
            self._fair_share.finish(running)
            with self._lock:
                del self._running[query.id]
            # The thread goes on to others.
            set_local_properties(self._spark, {})

    def _stop(self, running: RunningQuery, reason: str) -> None:
        with self._lock:
            running.stop_reason = running.stop_reason or reason
        # Also what it has not begun yet.
        self._spark.sparkContext._jsc.sc().cancelJobGroupAndFutureJobs(running.group)  # noqa: SLF001 - Python lacks it


def _stopped_error(running: RunningQuery) -> StoppedError:
    return StoppedError(running.stop_reason, "Query less data, or save the query as a table.")
