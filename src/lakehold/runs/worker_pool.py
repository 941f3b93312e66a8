"""The workers on this machine that answer queries: which of them is sent a query, and what happens when one is lost.

A person's queries stay together, and apart from those that have run for a while for others, as far as there are
processes. A query that waits beside such a one is sent to another process. One whose process is lost, or has no memory
left beside others, is sent again; queries only read, so that it does not matter how often they are begun.

Whoever had a query stopped, or lost a process, is a suspect for some time: their queries go to query workers only, so
that the process that executes runs is not lost to them.
"""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from threading import Thread
from weakref import WeakKeyDictionary

import httpx

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit import errors
from lakehold.kit.errors import LakeholdError, LimitExceededError, UnavailableError
from lakehold.lake import catalog_tokens
from lakehold.lake import errors as lake_errors
from lakehold.lake.errors import MemoryShortageError, QueryMemoryError, SparkLostError, StoppedError
from lakehold.runs import heartbeat

QUERY_PATH = "/query"
_log = logging.getLogger("lakehold.queries")
_TICKET_SECONDS = 60
_GRACE_SECONDS = 30
_CONNECT_SECONDS, _LOAD_SECONDS = 2, 3
_RESTART_SECONDS, _POLL_SECONDS = 60, 0.2
"""How long a query waits for a process that was lost to be replaced."""
_MOVE_SECONDS, _CHECK_SECONDS = 1, 0.5
"""After how long it is asked whether a query would be better off elsewhere, and how often from then on."""
_MAX_LOSSES = 3
_SUSPECT_SECONDS = 300
_ERRORS_BY_CODE: dict[str, type[LakeholdError]] = {
    each.code: each
    for each in (
        *(lake_errors.RefusedQueryError, lake_errors.QueryError, LimitExceededError, StoppedError, SparkLostError),
        lake_errors.MemoryShortageError,
        *(errors.InvalidInputError, errors.ConflictError, errors.ForbiddenError, errors.NotFoundError),
        *(UnavailableError, lake_errors.SourceError, lake_errors.DataError, lake_errors.DeliveryError),
    )
}


TakeHeaders = Callable[[Mapping[str, str]], None]


class NoWorkerError(UnavailableError):
    """No worker is running, or none answers."""

    code = "no_worker"


@dataclass(frozen=True, slots=True)
class WorkerLoad:
    """The load of a worker process, as a caller's query would meet it."""

    address: str
    own: int = 0
    others: int = 0
    crowding: int = 0
    """Whether somebody else was there before: 2 if a suspect, 1 if for a while, else 0."""
    ready: bool = False
    """Whether Spark has started there."""
    runs: bool = True
    """Whether the process executes runs as well."""

    @property
    def rank(self) -> tuple[int, bool, bool, bool, int]:
        """The process of the lowest rank is sent the query."""
        return self.crowding, not self.own, not self.ready, self.runs, self.others


@dataclass(slots=True)
class _Memory:
    """The state of the workers as one server remembers it. Several servers need not agree."""

    suspects: dict[tuple[str, str], float] = field(default_factory=dict)
    """Until when."""
    seen: dict[bool, float] = field(default_factory=dict)
    """When a process last answered, by whether it executes runs."""
    sending: dict[tuple[str, str, str], WorkerPool] = field(default_factory=dict)
    """The queries that wait for an answer, by tenant, member and id."""


_memories: WeakKeyDictionary[Platform, _Memory] = WeakKeyDictionary()


@contextmanager
def send_query(
    platform: Platform,
    caller: Caller,
    path: str,
    body: Mapping[str, object],
    take_headers: TakeHeaders | None = None,
) -> Iterator[httpx.Response]:
    """Send a query, or a question about one, to a worker, and yield its answer; raise the error that it answers.

    The headers of the answer are passed on, those of an error too.
    """
    attempt = WorkerPool(platform, caller, str(body.get("id", "")), take_headers).send(path, body)
    try:
        yield attempt.response
    finally:
        attempt.give_up()


def stop_query(platform: Platform, caller: Caller, uid: str) -> bool:
    """Stop a query of the caller, wherever it runs; return whether it did."""
    pool = WorkerPool(platform, caller, uid)
    found = [pool.mark_stopped(), *map(pool.stop, pool.addresses())]
    return any(found)


class WorkerPool:
    """The workers, as they are for one query of a caller."""

    def __init__(
        self, platform: Platform, caller: Caller, uid: str = "", take_headers: TakeHeaders | None = None
    ) -> None:
        self._platform = platform
        self._caller = caller
        self._uid = uid
        self._take_headers = take_headers
        self._is_stopped = False
        self._memory = _memories.setdefault(platform, _Memory())
        self._given_up: set[str] = set()
        """Processes that the query was taken from."""
        self._lost: dict[str, float] = {}
        """Since when processes are known to be lost."""
        self._losses = 0
        self._suspicions = 0

    def send(self, path: str, body: Mapping[str, object]) -> _Attempt:
        """Send the query until it is answered; raise the error that it is answered with."""
        sending = self._memory.sending
        if not self._uid or self._key in sending:
            return self._send(path, body)
        sending[self._key] = self
        try:
            return self._send(path, body)
        finally:
            del sending[self._key]

    def mark_stopped(self) -> bool:
        """Keep the query from being sent again, if this server is at it; return whether it is."""
        found = self._memory.sending.get(self._key)
        if found is not None:
            found._is_stopped = True  # noqa: SLF001 - our own
        return found is not None

    @property
    def _key(self) -> tuple[str, str, str]:
        return self._caller.tenant, self._caller.member, self._uid

    def _send(self, path: str, body: Mapping[str, object]) -> _Attempt:
        while True:
            load, is_suspect = self._pick(), self._is_suspect()
            attempt = _Attempt(self._platform, self._caller, load, path, {**body, "suspect": is_suspect})
            try:
                if self._is_answered(attempt):
                    attempt.raise_error(self._take_headers)
                    return attempt
                self._take_away(load.address)
            except SparkLostError as error:
                attempt.give_up()
                self._count_loss(error, load.address)
            except LakeholdError as error:
                attempt.give_up()
                if isinstance(error, StoppedError | LimitExceededError):
                    self._suspect()
                raise
            else:
                attempt.give_up()

    def stop(self, address: str) -> bool:
        """Stop the query in one process; return whether it was there."""
        with suppress(httpx.TransportError), _client(self._platform, self._caller, _CONNECT_SECONDS) as client:
            response = client.delete(f"{address}{QUERY_PATH}/{self._uid}")
            if response.is_error and response.status_code != httpx.codes.NOT_FOUND:
                raise error_from(response)
            return response.is_success
        return False

    def addresses(self) -> list[str]:
        """Return where workers answer, the longest-running one first."""
        with self._platform.database.read() as transaction:
            return heartbeat.worker_addresses(transaction)

    def _is_answered(self, attempt: _Attempt) -> bool:
        """Wait for an answer; return False if the query is better sent elsewhere. It is taken away only once."""
        if attempt.wait(_MOVE_SECONDS):
            return True
        while not attempt.wait(_CHECK_SECONDS):
            if self._is_stopped:
                # It may not have been there yet when it was to be stopped.
                self.stop(attempt.load.address)
            elif not self._given_up and self._is_held_up(attempt.load.address):
                return False
        return True

    def _is_held_up(self, address: str) -> bool:
        """Return whether somebody else was in the process before, or it does not answer, and another one is free."""
        loads = self._loads(self.addresses())
        here = next((each for each in loads if each.address == address), None)
        if here is not None and not here.crowding:
            return False
        return any(each.ready and not each.crowding for each in self._allowed(loads) if each is not here)

    def _take_away(self, address: str) -> None:
        _log.info("a query of %s is held up by somebody else's, and is sent to another worker", self._caller.member)
        self._given_up.add(address)
        if self._uid:
            # A process that is held up may be slow to hear of it.
            Thread(target=self.stop, args=(address,), daemon=True, name="take away").start()

    def _count_loss(self, error: SparkLostError, address: str) -> None:
        """Count that the query was lost; raise an error if it is not sent again.

        Where memory was short and another query is the suspect, that one stays and this one leaves.
        """
        is_shortage = isinstance(error, MemoryShortageError)
        if not is_shortage and self._is_known_loss(error, address):
            return
        self._losses += 1
        what, why = "found no memory" if is_shortage else "lost its worker", ", maybe by itself" if error.field else ""
        _log.warning("a query of %s %s%s", self._caller.member, what, why)
        if error.field:
            self._suspicions += 1
            if not is_shortage:
                self._suspect()
        elif is_shortage:
            self._given_up.add(address)
        if self._suspicions > 1 or (is_shortage and self._losses == _MAX_LOSSES):
            self._suspect()
            raise QueryMemoryError(
                "The query needs more memory than is available.", "Query less data at once."
            ) from error
        if self._losses == _MAX_LOSSES:
            raise error

    def _is_known_loss(self, error: SparkLostError, address: str) -> bool:
        """Return whether the process was lost before and has not exited yet: that is one loss, however often seen.

        Raise the error if it never exits.
        """
        now = time.monotonic()
        since = self._lost.setdefault(address, now)
        if now > since + _RESTART_SECONDS:
            raise error
        if since < now:
            time.sleep(_POLL_SECONDS)
        return since < now

    def _pick(self) -> WorkerLoad:
        """Return the process to which the query is sent; wait for it if one was there not long ago."""
        end = time.monotonic() + _RESTART_SECONDS
        while True:
            if self._is_stopped:
                raise StoppedError("The query was stopped.", "Query less data, or save the query as a table.")
            addresses = self.addresses()
            left = self._given_up | self._lost.keys()
            found = self._allowed(self._loads([each for each in addresses if each not in left]))
            if not found and self._losses:
                found = self._allowed(self._loads(addresses))
            if found:
                return min(found, key=lambda each: each.rank)
            if time.monotonic() > end or not (self._losses or any(map(self._was_there, (True, False)))):
                break
            time.sleep(_POLL_SECONDS)
        if addresses:
            raise NoWorkerError("The worker does not answer.", "It may be restarting; try again.")
        raise NoWorkerError(
            "No worker is running.", "If one is starting, try again; else start one: lakehold up, or lakehold worker."
        )

    def _loads(self, addresses: Sequence[str]) -> list[WorkerLoad]:
        """Ask the processes what the query would meet there; those that do not exist any more are left out."""
        found = []
        with _client(self._platform, self._caller, _LOAD_SECONDS) as client:
            for address in addresses:
                try:
                    response = client.get(f"{address}{QUERY_PATH}")
                except httpx.ReadTimeout:
                    found.append(WorkerLoad(address, crowding=1))
                except httpx.TransportError:
                    continue
                else:
                    # One of an earlier release does not know.
                    found.append(WorkerLoad(address, **(response.json() if response.is_success else {})))
        now = time.monotonic()
        self._memory.seen |= {each.runs: now for each in found}
        return found

    def _was_there(self, runs: bool) -> bool:  # noqa: FBT001 - a kind of process
        return self._memory.seen.get(runs, -_RESTART_SECONDS) > time.monotonic() - _RESTART_SECONDS

    def _allowed(self, loads: Sequence[WorkerLoad]) -> list[WorkerLoad]:
        """Return the processes to which the caller's queries may be sent."""
        if self._is_suspect() and self._was_there(runs=False):
            return [each for each in loads if not each.runs]
        return list(loads)

    def _is_suspect(self) -> bool:
        return (
            bool(self._suspicions)
            or self._memory.suspects.get((self._caller.tenant, self._caller.member), 0) > time.monotonic()
        )

    def _suspect(self) -> None:
        now = time.monotonic()
        known = {owner: until for owner, until in self._memory.suspects.items() if until > now}
        self._memory.suspects = {**known, (self._caller.tenant, self._caller.member): now + _SUSPECT_SECONDS}


class _Attempt:
    """A request to one worker, in a thread of its own so that it can be given up."""

    def __init__(
        self, platform: Platform, caller: Caller, load: WorkerLoad, path: str, body: Mapping[str, object]
    ) -> None:
        self.load = load
        self._answer: Future[httpx.Response] = Future()
        self._client = _client(platform, caller, platform.settings.query_seconds + _GRACE_SECONDS)
        self._request = self._client.build_request("POST", f"{load.address}{path}", json=dict(body))
        Thread(target=self._send, daemon=True, name="query").start()

    @property
    def response(self) -> httpx.Response:
        """The answer, whose body is still to be read."""
        return self._answer.result()

    def wait(self, seconds: float) -> bool:
        """Wait for so many seconds; return whether there is an answer."""
        with suppress(NotYetError):
            self._answer.exception(seconds)
            return True
        return False

    def raise_error(self, take_headers: TakeHeaders | None) -> None:
        """Raise the error that is the answer, if it is one, after its headers were taken."""
        try:
            response = self._answer.result()
            if take_headers:
                take_headers(response.headers)
            if response.is_error:
                response.read()
                raise error_from(response)
        except httpx.ReadTimeout:
            raise LimitExceededError("The query takes too long and does not stop.", "Query less at once.") from None
        except httpx.TransportError as error:
            raise SparkLostError("The worker does not answer.", "It may be restarting; try again.") from error

    def give_up(self) -> None:
        """Close the connection as soon as there is an answer, which nobody reads any more."""
        self._answer.add_done_callback(self._close)

    def _send(self) -> None:
        try:
            self._answer.set_result(self._client.send(self._request, stream=True))
        except httpx.HTTPError as error:
            self._answer.set_exception(error)

    def _close(self, answer: Future[httpx.Response]) -> None:
        if answer.exception() is None:
            answer.result().close()
        self._client.close()


def _client(platform: Platform, caller: Caller, seconds: float) -> httpx.Client:
    ticket = catalog_tokens.issue_token(platform.keys, caller, platform.clock(), _TICKET_SECONDS)
    timeout = httpx.Timeout(seconds, connect=_CONNECT_SECONDS)
    # Whatever the environment says of proxies: it is this very machine.
    headers = {"Authorization": f"Bearer {ticket}"}
    return httpx.Client(headers=headers, timeout=timeout, trust_env=False, verify=_unused_tls())


@cache
def _unused_tls() -> ssl.SSLContext:
    """Return a context without certificates: to load them takes longer than a request that needs none."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def error_from(response: httpx.Response) -> LakeholdError:
    """Return the error that a worker has answered."""
    try:
        problem = response.json()
        error = _ERRORS_BY_CODE[problem["type"].rpartition(":")[2]]
        return error(problem["detail"], problem["hint"], field=problem.get("field", ""), code=problem["code"])
    except (ValueError, KeyError):
        return NoWorkerError("The worker could not answer.", "See its log.")
