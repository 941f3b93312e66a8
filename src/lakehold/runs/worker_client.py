"""HTTP client for a worker on this machine: queries, descriptions, probes and connection tests, without a queue."""

import json
import socket
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Protocol
from urllib.parse import quote, unquote

import httpx
import pyarrow as pa

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit import errors
from lakehold.kit.errors import LakeholdError, NotFoundError, UnavailableError
from lakehold.lake import catalog_tokens
from lakehold.lake import errors as lake_errors
from lakehold.lake.errors import LimitExceededError
from lakehold.runs import heartbeat

QUERY_PATH = "/query"
DESCRIBE_PATH, PROBE_PATH = "/describe", "/probe"
ARROW_MEDIA_TYPE = "application/vnd.apache.arrow.stream"
COMPLETE_HEADER, READS_HEADER = "x-lakehold-complete", "x-lakehold-reads"
_TICKET_SECONDS = 60
_MAX_READS, _MORE = 300, "…"
"""As many tables as fit into a header, and the sign that there were more."""
_GRACE_SECONDS = 30
_CONNECT_SECONDS = 2
_ERRORS_BY_CODE: dict[str, type[LakeholdError]] = {
    each.code: each
    for each in (
        *(lake_errors.RefusedQueryError, lake_errors.QueryError, LimitExceededError, lake_errors.StoppedError),
        *(errors.InvalidInputError, errors.ConflictError, errors.ForbiddenError, NotFoundError, UnavailableError),
        *(lake_errors.SourceError, lake_errors.DataError, lake_errors.DeliveryError),
    )
}


class NoWorkerError(UnavailableError):
    """No worker is running, or none answers."""

    code = "no_worker"


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

    def rows(self) -> list[tuple[Any, ...]]:
        """Read all rows."""
        return [
            row for batch in self.batches for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        ]


@dataclass(frozen=True, slots=True)
class ReadPurpose:
    """What the audit log says of a query: the action, and the resource that it is about."""

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
    body = {"id": uid or f"q_{token_hex(12)}", "workspace": workspace, "text": text, "rows": rows}
    what = purpose or ReadPurpose("query", caller.tenant)
    read = _QueryRead()
    try:
        with _client(platform, caller) as client, client.stream("POST", QUERY_PATH, json=body) as response:
            read.tables = parse_reads(response.headers.get(READS_HEADER, ""))
            _raise_error(response)
            read.batches = CountedBatches(pa.ipc.open_stream(_ResponseFile(response)))
            yield QueryRows(read.batches, response.headers.get(COMPLETE_HEADER) != "false")
    except lake_errors.RefusedQueryError as error:
        platform.audit_refusal(caller, what.action, what.resource, error.message)
        raise
    except BaseException as error:
        read.failure = error.message if isinstance(error, LakeholdError) else "The result was not read completely."
        read.record(platform, caller, what)
        raise
    read.record(platform, caller, what)


@dataclass(slots=True)
class _QueryRead:
    """What is known of a query's read so far."""

    tables: frozenset[str] = frozenset()
    batches: CountedBatches | None = None
    failure: str = ""

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


@dataclass(frozen=True, slots=True)
class QueryDescription:
    """The fields that a query returns and the tables that it reads."""

    fields: list[dict[str, str]]
    """Each with its name and type."""
    reads: list[str]
    """The tables, by their ids."""


def describe_query(platform: Platform, caller: Caller, *, workspace: str, text: str) -> QueryDescription:
    """Return the fields and the tables of a query without running it."""
    return QueryDescription(**_post(platform, caller, DESCRIBE_PATH, {"workspace": workspace, "text": text}))


def probe(
    platform: Platform, caller: Caller, name: str, request: Mapping[str, object], sampled: str = ""
) -> dict[str, Any]:
    """Test a connection, list what it has, or sample it, by the name of its probe: `lakehouse.source`.

    A sample shows rows, and is audited: of the resource that is given.
    """
    if sampled:
        platform.record_read(caller, "preview", sampled)
    return _post(platform, caller, PROBE_PATH, {"probe": name, "request": request})


def check_connection(platform: Platform, caller: Caller, name: str, request: Mapping[str, object]) -> str:
    """Test a destination without sending anything, and return the result as a message."""
    return str(probe(platform, caller, name, request)["message"])


def _post(platform: Platform, caller: Caller, path: str, body: Mapping[str, object]) -> dict[str, Any]:
    with _client(platform, caller) as client:
        response = client.post(path, json=body)
    _raise_error(response)
    found: dict[str, Any] = response.json()
    return found


def stop_query(platform: Platform, caller: Caller, uid: str) -> None:
    """Stop a query of the caller; raise `NotFoundError` if no worker is running."""
    try:
        with _client(platform, caller) as client:
            response = client.delete(f"{QUERY_PATH}/{uid}")
    except UnavailableError:
        raise NotFoundError("There is no such query.", "It may have ended.") from None
    _raise_error(response)


@contextmanager
def _client(platform: Platform, caller: Caller) -> Iterator[httpx.Client]:
    with platform.database.read() as transaction:
        found = heartbeat.worker_addresses(transaction)
    if not found:
        raise NoWorkerError(
            "No worker is running.", "If one is starting, try again; else start one: lakehold up, or lakehold worker."
        )
    ticket = catalog_tokens.issue_token(platform.keys, caller, platform.clock(), _TICKET_SECONDS)
    timeout = httpx.Timeout(platform.settings.query_seconds + _GRACE_SECONDS, connect=5)
    headers = {"Authorization": f"Bearer {ticket}"}
    try:
        # Whatever the environment says of proxies: it is this very machine.
        with httpx.Client(
            base_url=_first_reachable(found), headers=headers, timeout=timeout, trust_env=False
        ) as client:
            yield client
    except httpx.ReadTimeout:
        raise LimitExceededError("The query takes too long and does not stop.", "Query less data at once.") from None
    except httpx.TransportError as error:
        raise NoWorkerError("The worker does not answer.", "It may be restarting; try again.") from error


def _first_reachable(addresses: Sequence[str]) -> str:
    """Return the first address that accepts a connection: a worker may be dead and not yet counted as dead."""
    for each in addresses[:-1]:
        where = httpx.URL(each)
        with suppress(OSError), socket.create_connection((where.host, where.port or 80), timeout=_CONNECT_SECONDS):
            return each
    return addresses[-1]


def _raise_error(response: httpx.Response) -> None:
    if response.is_error:
        response.read()
        raise _error_from(response)


def _error_from(response: httpx.Response) -> LakeholdError:
    try:
        problem = response.json()
        error = _ERRORS_BY_CODE[problem["type"].rpartition(":")[2]]
        return error(problem["detail"], problem["hint"], field=problem.get("field", ""), code=problem["code"])
    except (ValueError, KeyError):
        return NoWorkerError("The worker could not answer.", "See its log.")


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
