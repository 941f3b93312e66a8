"""Asking a worker on this machine: straight, and never through a queue."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

import httpx
import pyarrow as pa

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.errors import (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    LakeholdError,
    NotFoundError,
    UnavailableError,
)
from lakehold.lake import catalog_tokens
from lakehold.lake.errors import (
    DataError,
    DeliveryError,
    LimitExceededError,
    QueryError,
    RefusedQueryError,
    SourceError,
    StoppedError,
)
from lakehold.runs import beats

PATH = "/query"
DESCRIBE, TRY = "/describe", "/try"
LOOK, LOOK_INTO, LOOK_AT_FEED = "/look", "/look/storage", "/look/feed"
ARROW = "application/vnd.apache.arrow.stream"
COMPLETE = "x-lakehold-complete"
_TICKET_SECONDS = 60
_GRACE = 30
_SOON = 2
_KINDS: dict[str, type[LakeholdError]] = {
    each.code: each
    for each in (
        *(RefusedQueryError, QueryError, LimitExceededError, StoppedError),
        *(InvalidInputError, NotFoundError, ConflictError, ForbiddenError, UnavailableError),
        *(SourceError, DataError, DeliveryError),
    )
}


class Batches(Protocol):
    """Rows as they come."""

    @property
    def schema(self) -> pa.Schema:
        """Their fields."""

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Some at a time."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What a query gave."""

    batches: Batches
    complete: bool
    """Whether there were no more."""


@contextmanager
def ask(platform: Platform, caller: Caller, *, uid: str, workspace: str, text: str, rows: int) -> Iterator[Rows]:
    """Run a query as the caller. What it may read is decided while it runs."""
    body = {"id": uid, "workspace": workspace, "text": text, "rows": rows}
    with _client(platform, caller) as client, client.stream("POST", PATH, json=body) as response:
        if response.is_error:
            response.read()
            raise _told(response)
        yield Rows(pa.ipc.open_stream(_Body(response)), response.headers.get(COMPLETE) != "false")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a query means to its asker."""

    fields: list[dict[str, str]]
    """Each with its name and type."""
    reads: list[str]
    """The tables, by their ids."""


def describe(platform: Platform, caller: Caller, *, workspace: str, text: str) -> Meaning:
    """What a query would give, and what it reads, without running it."""
    return Meaning(**_answer(platform, caller, DESCRIBE, {"workspace": workspace, "text": text}))


def look(platform: Platform, caller: Caller, asked: Mapping[str, object]) -> dict[str, Any]:
    """A look at a source: its streams, or a sample of one."""
    return _answer(platform, caller, LOOK, asked)


def look_into(platform: Platform, caller: Caller, asked: Mapping[str, object]) -> dict[str, Any]:
    """A look into a storage: its tables, or a sample of one or of a query."""
    return _answer(platform, caller, LOOK_INTO, asked)


def look_at_feed(platform: Platform, caller: Caller, asked: Mapping[str, object]) -> dict[str, Any]:
    """A look at what would feed a data mart: its streams, or a sample of one."""
    return _answer(platform, caller, LOOK_AT_FEED, asked)


def try_out(platform: Platform, caller: Caller, asked: Mapping[str, object]) -> str:
    """A destination tried out, without anything being sent: what was found, in words."""
    return str(_answer(platform, caller, TRY, asked)["said"])


def _answer(platform: Platform, caller: Caller, path: str, body: Mapping[str, object]) -> dict[str, Any]:
    with _client(platform, caller) as client:
        response = client.post(path, json=body)
    if response.is_error:
        raise _told(response)
    found: dict[str, Any] = response.json()
    return found


def stop(platform: Platform, caller: Caller, uid: str) -> None:
    """Stop a query of the caller's own. Where no worker is, there is no query."""
    try:
        with _client(platform, caller) as client:
            response = client.delete(f"{PATH}/{uid}")
    except UnavailableError:
        raise NotFoundError("There is no such query.", "It may have ended.") from None
    if response.is_error:
        raise _told(response)


@contextmanager
def _client(platform: Platform, caller: Caller) -> Iterator[httpx.Client]:
    with platform.database.read() as transaction:
        found = beats.addresses(transaction)
    if not found:
        raise UnavailableError(
            "No worker is running.", "If one is starting, try again; else start one: lakehold up, or lakehold worker."
        )
    ticket = catalog_tokens.issue_token(platform.keys, caller, platform.clock(), _TICKET_SECONDS)
    timeout = httpx.Timeout(platform.settings.query_seconds + _GRACE, connect=5)
    headers = {"Authorization": f"Bearer {ticket}"}
    try:
        # Whatever the environment says of proxies: it is this very machine.
        with httpx.Client(base_url=_listening(found), headers=headers, timeout=timeout, trust_env=False) as client:
            yield client
    except httpx.ReadTimeout:
        raise LimitExceededError("It takes too long, and does not stop.", "Ask for less at once.") from None
    except httpx.TransportError as error:
        raise UnavailableError("The worker does not answer.", "It may be starting anew; try again.") from error


def _listening(addresses: Sequence[str]) -> str:
    """The first that takes a call: one may have died, and not be counted as dead yet."""
    for each in addresses[:-1]:
        where = httpx.URL(each)
        with suppress(OSError), socket.create_connection((where.host, where.port or 80), timeout=_SOON):
            return each
    return addresses[-1]


def _told(response: httpx.Response) -> LakeholdError:
    """What the worker said against it, as it said it."""
    try:
        told = response.json()
        return _KINDS[told["code"]](told["detail"], told["hint"])
    except (ValueError, KeyError):
        return UnavailableError("The worker could not answer.", "Its log says why.")


class _Body:
    """A response as a file that can only be read on."""

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
