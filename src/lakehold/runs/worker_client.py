"""HTTP client for a worker on this machine: queries, descriptions, probes and connection tests, without a queue.

Each person may wait for so many answers at once as they may run queries, and all together for so many that threads are
left for everything else: this is the one way to a worker, so that no page or endpoint has to think of it.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from secrets import token_hex
from time import monotonic
from typing import Any, Protocol
from urllib.parse import quote, unquote
from weakref import WeakKeyDictionary

import httpx
import pyarrow as pa

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.lake.errors import RefusedQueryError
from lakehold.runs import worker_pool
from lakehold.runs.worker_pool import QUERY_PATH, NoWorkerError, TakeHeaders

__all__ = ["QUERY_PATH", "NoWorkerError"]
RESULT_PATH, DESCRIBE_PATH, PROBE_PATH = "/result", "/describe", "/probe"
ARROW_MEDIA_TYPE = "application/vnd.apache.arrow.stream"
COMPLETE_HEADER, READS_HEADER = "x-lakehold-complete", "x-lakehold-reads"
_MAX_READS, _MORE = 300, "…"
"""As many tables as fit into a header, and the sign that there were more."""


class RecordBatches(Protocol):
    """Record batches, read as they arrive."""

    @property
    def schema(self) -> pa.Schema:
        """The schema of the batches."""

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches one by one."""


class CountedBatches:
    """Record batches that are counted as they are read."""

    def __init__(self, batches: RecordBatches) -> None:
        self.schema = batches.schema
        self.count = 0
        self._batches = batches

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches one by one."""
        for batch in self._batches:
            self.count += batch.num_rows
            yield batch


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The rows that a query returned."""

    batches: CountedBatches
    complete: bool
    """Whether there were no more."""
    next_page: str = ""
    """The address of the next rows; empty if there are none, or the rows are not read in pages."""

    def rows(self) -> list[tuple[Any, ...]]:
        """Read all rows."""
        return [
            row for batch in self.batches for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        ]


@dataclass(frozen=True, slots=True)
class ReadPurpose:
    """The purpose of a query for the audit log: the action, and the resource that it is about."""

    action: str
    resource: str
    details: Mapping[str, object] = field(default_factory=dict)


@contextmanager
def run_query(
    platform: Platform,
    caller: Caller,
    *,
    text: str,
    rows: int,
    uid: str = "",
    workspace: str = "",
    purpose: ReadPurpose | None = None,
) -> Iterator[QueryRows]:
    """Run a query as the caller; which tables it may read is decided while it runs. `stop_query` stops it by its id.

    Whatever becomes of it, the audit log has one entry of it, with the tables that it read.
    """
    body = {"id": uid or _new_id(), "workspace": workspace, "text": text, "rows": rows}
    what = _purpose(caller, purpose)
    with _audit_failure(platform, caller, what) as read, ExitStack() as stack:
        # Rows that have been computed are read by whoever asked, as fast as they can.
        with _place(platform, caller):
            sending = worker_pool.send_query(platform, caller, QUERY_PATH, body, read.take_headers)
            response = stack.enter_context(sending)
        read.batches = CountedBatches(pa.ipc.open_stream(_ResponseFile(response)))
        yield QueryRows(read.batches, response.headers.get(COMPLETE_HEADER) != "false")
    read.record(platform, caller, what)


def _new_id() -> str:
    return f"q_{token_hex(12)}"


def _purpose(caller: Caller, purpose: ReadPurpose | None) -> ReadPurpose:
    return purpose or ReadPurpose("query", caller.tenant)


@contextmanager
def _audit_failure(platform: Platform, caller: Caller, what: ReadPurpose) -> Iterator["_QueryRead"]:
    """Record a read that fails, and what it has read till then."""
    read = _QueryRead()
    try:
        yield read
    except RefusedQueryError as error:
        platform.audit_refusal(caller, what.action, what.resource, error.message)
        raise
    except BaseException as error:
        read.failure = error.message if isinstance(error, LakeholdError) else "The result was not read completely."
        read.record(platform, caller, what)
        raise


@dataclass(slots=True)
class _QueryRead:
    """The state of a query's read: its tables, and the batches or the failure."""

    tables: frozenset[str] = frozenset()
    batches: CountedBatches | None = None
    failure: str = ""

    def take_headers(self, headers: Mapping[str, str]) -> None:
        """Take the tables from the headers of an answer, be it rows or an error."""
        self.tables = parse_reads(headers.get(READS_HEADER, ""))

    def record(self, platform: Platform, caller: Caller, what: ReadPurpose) -> None:
        rows = self.batches.count if self.batches else 0
        details = {**what.details, "rows": rows}
        platform.record_read(caller, what.action, what.resource, tables=self.tables, reason=self.failure, **details)


def format_reads(reads: Collection[str]) -> str:
    """Return the ids of tables as the value of a header."""
    some = sorted(reads)[:_MAX_READS]
    return quote(json.dumps([*some, *([_MORE] if len(some) < len(reads) else [])]))


def parse_reads(header: str) -> frozenset[str]:
    """Return the ids of tables that a header names."""
    return frozenset(json.loads(unquote(header))) if header else frozenset()


def store_result(platform: Platform, caller: Caller, text: str, purpose: ReadPurpose) -> tuple[str, frozenset[str]]:
    """Run a query as the caller, let the worker store its rows, and return the name of the result and what it read.

    It is audited if it fails; else those who read the rows are.
    """
    name = token_hex(16)
    with _audit_failure(platform, caller, purpose) as read:
        body = {"id": name, "workspace": "", "text": text, "name": name}
        _post(platform, caller, RESULT_PATH, body, read.take_headers)
    return name, read.tables


@dataclass(frozen=True, slots=True)
class QueryDescription:
    """The fields that a query returns and the tables that it reads."""

    fields: list[dict[str, str]]
    """Each with its name and type."""
    reads: list[str]
    """The tables, by their ids."""


def describe_query(
    platform: Platform,
    caller: Caller,
    *,
    text: str,
    uid: str = "",
    workspace: str = "",
    purpose: ReadPurpose | None = None,
) -> QueryDescription:
    """Return the fields and the tables of a query without running it; a refusal is audited. Its id as for a query."""
    body, what = {"id": uid or _new_id(), "workspace": workspace, "text": text}, _purpose(caller, purpose)
    try:
        return QueryDescription(**_post(platform, caller, DESCRIBE_PATH, body))
    except RefusedQueryError as error:
        if _is_news(platform, (caller.tenant, caller.member, what.action, what.resource, error.message)):
            platform.audit_refusal(caller, what.action, what.resource, error.message)
        raise


_REPEAT_SECONDS = 60
_refusals: WeakKeyDictionary[Platform, dict[tuple[str, ...], float]] = WeakKeyDictionary()
"""When a description was refused, by tenant, member, action, resource and reason."""


def _is_news(platform: Platform, refusal: tuple[str, ...]) -> bool:
    """Return whether it was not refused a minute ago: an editor describes a query at each pause of typing."""
    now = monotonic()
    recent = {key: at for key, at in _refusals.get(platform, {}).items() if at > now - _REPEAT_SECONDS}
    _refusals[platform] = {refusal: now, **recent}
    return refusal not in recent


def probe(
    platform: Platform, caller: Caller, name: str, request: Mapping[str, object], sampled: str = "", *, uid: str = ""
) -> dict[str, Any]:
    """Test a connection, list what it has, or sample it, by the name of its probe: `lakehouse.source`.

    A sample shows rows, and is audited: of the resource that is given. Its id as for a query.
    """
    if sampled:
        platform.record_read(caller, "preview", sampled)
    return _post(platform, caller, PROBE_PATH, {"id": uid or _new_id(), "probe": name, "request": request})


def check_connection(platform: Platform, caller: Caller, name: str, request: Mapping[str, object]) -> str:
    """Test a destination without sending anything, and return the result as a message."""
    return str(probe(platform, caller, name, request)["message"])


def _post(
    platform: Platform, caller: Caller, path: str, body: Mapping[str, object], take_headers: TakeHeaders | None = None
) -> dict[str, Any]:
    with _place(platform, caller), worker_pool.send_query(platform, caller, path, body, take_headers) as response:
        response.read()
        found: dict[str, Any] = response.json()
        return found


def stop_query(platform: Platform, caller: Caller, uid: str) -> None:
    """Stop a query of the caller; raise `NotFoundError` if no worker runs it."""
    if not worker_pool.stop_query(platform, caller, uid):
        raise NotFoundError("There is no such query.", "It may have ended.")


def _place(platform: Platform, caller: Caller) -> AbstractContextManager[None]:
    return platform.worker_calls.take((caller.tenant, caller.member))


class _ResponseFile:
    """A response body as a file that can only be read forward."""

    def __init__(self, response: httpx.Response) -> None:
        self._parts = response.iter_bytes()
        self._left = b""
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        while size < 0 or len(self._left) < size:
            part = next(self._parts, b"")
            if not part:
                break
            self._left += part
        taken, self._left = (self._left, b"") if size < 0 else (self._left[:size], self._left[size:])
        return taken
