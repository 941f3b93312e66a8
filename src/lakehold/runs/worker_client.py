"""HTTP client for a worker on this machine: queries, descriptions, probes and connection tests, without a queue."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Protocol

import httpx
import pyarrow as pa

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.errors import NotFoundError
from lakehold.runs import worker_pool
from lakehold.runs.worker_pool import QUERY_PATH, NoWorkerError

__all__ = ["QUERY_PATH", "NoWorkerError"]
DESCRIBE_PATH, PROBE_PATH = "/describe", "/probe"
ARROW_MEDIA_TYPE = "application/vnd.apache.arrow.stream"
COMPLETE_HEADER = "x-lakehold-complete"


class RecordBatches(Protocol):
    """Record batches, read as they arrive."""

    @property
    def schema(self) -> pa.Schema:
        """The schema of the batches."""

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches one by one."""


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The rows that a query returned."""

    batches: RecordBatches
    complete: bool
    """Whether there were no more."""

    def rows(self) -> list[tuple[Any, ...]]:
        """Read all rows."""
        return [
            row for batch in self.batches for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        ]


@contextmanager
def run_query(
    platform: Platform, caller: Caller, *, text: str, rows: int, uid: str = "", workspace: str = ""
) -> Iterator[QueryRows]:
    """Run a query as the caller; which tables it may read is decided while it runs. `stop_query` stops it by its id."""
    body = {"id": uid or f"q_{token_hex(12)}", "workspace": workspace, "text": text, "rows": rows}
    with worker_pool.send_query(platform, caller, QUERY_PATH, body) as response:
        yield QueryRows(pa.ipc.open_stream(_ResponseFile(response)), response.headers.get(COMPLETE_HEADER) != "false")


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


def probe(platform: Platform, caller: Caller, name: str, request: Mapping[str, object]) -> dict[str, Any]:
    """Test a connection, list what it has, or sample it, by the name of its probe: `lakehouse.source`."""
    return _post(platform, caller, PROBE_PATH, {"probe": name, "request": request})


def check_connection(platform: Platform, caller: Caller, name: str, request: Mapping[str, object]) -> str:
    """Test a destination without sending anything, and return the result as a message."""
    return str(probe(platform, caller, name, request)["message"])


def _post(platform: Platform, caller: Caller, path: str, body: Mapping[str, object]) -> dict[str, Any]:
    with worker_pool.send_query(platform, caller, path, body) as response:
        response.read()
        found: dict[str, Any] = response.json()
        return found


def stop_query(platform: Platform, caller: Caller, uid: str) -> None:
    """Stop a query of the caller; raise `NotFoundError` if no worker runs it."""
    if not worker_pool.stop_query(platform, caller, uid):
        raise NotFoundError("There is no such query.", "It may have ended.")


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
