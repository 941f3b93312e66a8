"""The process of a gateway: asks the platform for work orders, executes them side by side, and reconnects when cut."""

import json
import logging
import queue
import random
import secrets
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from threading import Event, Lock, Thread
from typing import Any, TypeVar

import psycopg
import pyarrow as pa

from lakehold.kit.clock import now
from lakehold.kit.errors import LakeholdError
from lakehold.workspaces.spaces.gateways.agent.identity_folder import GatewayConfiguration, IdentityFolder
from lakehold.workspaces.spaces.gateways.agent.platform_client import (
    ConnectionLostError,
    GatewayRefusedError,
    OrderGoneError,
    OrderMovedError,
    PlatformClient,
)
from lakehold.workspaces.spaces.gateways.agent.readers import open_reader
from lakehold.workspaces.spaces.gateways.agent.streams import StreamPart, StreamReader
from lakehold.workspaces.spaces.gateways.key_pairs import KeyPairs

T = TypeVar("T")
_log = logging.getLogger("lakehold.gateway")
_MIN_WAIT, _MAX_WAIT = 0.2, 5.0
_MAX_LINES, _AHEAD = 200, 2


@dataclass(slots=True)
class RunningOrder:
    """A work order that a thread of this process executes."""

    id: str
    stopped: Event = field(default_factory=Event)


class GatewayProcess:
    """A process of the gateway in a folder. There is one at a time: a later one takes the place of an earlier one."""

    def __init__(self, folder: IdentityFolder) -> None:
        self._folder, self._instance = folder, secrets.token_hex(8)
        self._client = PlatformClient(folder.load(), self._instance)
        self._running: dict[str, RunningOrder] = {}
        self._lines: deque[dict[str, object]] = deque(maxlen=_MAX_LINES)
        self._lock, self._stop = Lock(), Event()
        self._refused: GatewayRefusedError | None = None

    def run(self, stop: Event) -> None:
        """Work until the event is set; raise `GatewayRefusedError` when the platform does not know it any more."""
        self._stop = stop
        try:
            self._persist(self._hello, stop)
            self.log("connected")
            while not stop.is_set():
                self._handle(self._persist(self._next, stop))
        except _StoppedError:
            pass
        finally:
            for each in list(self._running.values()):
                each.stopped.set()
        if self._refused:
            raise self._refused

    def join(self, seconds: float) -> bool:
        """Wait until the work orders have ended, and return whether they have."""
        deadline = time.monotonic() + seconds
        while self._running and time.monotonic() < deadline:
            time.sleep(_MIN_WAIT)
        return not self._running

    def log(self, text: str, level: str = "info") -> None:
        """Write a line to the own log, which is sent with the next call."""
        _log.log(logging.getLevelNamesMapping()[level.upper()], "%s", text)
        self._lines.append({"at": now(), "level": level, "text": text})

    def _hello(self) -> None:
        try:
            self._client.call("hello", {"version": version("lakehold")})
        except GatewayRefusedError:
            found = self._client.configuration
            if found.other is None:
                raise
            # The platform may have had the new keys before this process knew.
            self._use(found.swap_keys())
            try:
                self._client.call("hello", {"version": version("lakehold")})
            except GatewayRefusedError:
                self._use(found)
                raise

    def _next(self) -> Mapping[str, Any]:
        sent = list(self._lines)
        try:
            answer = self._client.call("next", {"working": list(self._running), "log": sent})
        except GatewayRefusedError as error:
            self._hello_again(error)
            answer = self._client.call("next", {"working": list(self._running), "log": sent})
        for _ in sent:
            self._lines.popleft()
        return answer

    def _hello_again(self, refused: GatewayRefusedError) -> None:
        """Say hello with the other keys, if there are some; not with the same, which another process may have."""
        found = self._client.configuration
        if found.other is None:
            raise refused
        with self._lock:
            client = PlatformClient(found.swap_keys(), self._instance)
            client.call("hello", {"version": version("lakehold")})
            self._use(found.swap_keys())

    def _handle(self, answer: Mapping[str, Any]) -> None:
        for order in answer["void"]:
            if found := self._running.get(order):
                found.stopped.set()
        for order in answer["orders"]:
            running = self._running[order] = RunningOrder(order)
            Thread(target=self._work, args=(running,), daemon=True, name=f"order {order[:8]}").start()
        if answer["rotate"]:
            self._rotate()

    def _rotate(self) -> None:
        """Make new keys. They are in the folder before the platform knows them: a crash in between loses neither."""
        with self._lock:
            found, fresh = self._client.configuration, KeyPairs.generate()
            self._use(replace(found, other=fresh))
            body = {"signing_key": fresh.public.signing, "sealing_key": fresh.public.sealing}
            try:
                self._client.call("rotate", {**body, "proof": fresh.prove("rotate", found.gateway)})
            except ConnectionLostError:
                # The next call tells which of them the platform knows.
                return
            self._use(replace(found, keys=fresh, other=found.keys))
        self.log(f"new keys: {fresh.public.fingerprint}")

    def _use(self, found: GatewayConfiguration) -> None:
        # What still calls with the old client repeats the call with the new one.
        self._folder.save(found)
        self._client = PlatformClient(found, self._instance)

    def _work(self, running: RunningOrder) -> None:
        try:
            while not running.stopped.is_set():
                try:
                    self._execute(running)
                except OrderMovedError:
                    running.stopped.wait(_MIN_WAIT)
                else:
                    return
        except (OrderGoneError, _StoppedError):
            self.log("a work order was cancelled")
        except GatewayRefusedError as error:
            self._refused = error
            self._stop.set()
        except Exception:  # noqa: BLE001 - the edge: the other work orders go on, and this one is taken again
            _log.exception("a work order failed")
            self.log("a work order failed for a reason that this gateway does not know", "error")
            running.stopped.wait(_MAX_WAIT)
        finally:
            self._running.pop(running.id, None)

    def _execute(self, running: RunningOrder) -> None:
        order = self._call(running, "take", {"order": running.id})
        try:
            result = self._result(running, order)
        except (LakeholdError, psycopg.Error, pa.ArrowException) as error:
            self.log(f"{order['kind']}: {type(error).__name__}", "error")
            result = {"error": _error_json(error)}
        self._call(running, "finish", {"order": running.id, **result})

    def _result(self, running: RunningOrder, order: Mapping[str, Any]) -> dict[str, object]:
        body = order["body"]
        reader = open_reader(body, self._unseal(order))
        match order["kind"]:
            case "streams":
                return {"result": {"streams": reader.streams()}}
            case "sample":
                return {"result": reader.sample(body["stream"], int(body["limit"]))}
            case _:
                return {"parts": self._read(running, order, reader)}

    def _unseal(self, order: Mapping[str, Any]) -> dict[str, str]:
        found = self._client.configuration
        try:
            text = found.keys.unseal(order["sealed"], order["id"])
        except LakeholdError:
            if found.other is None:
                raise
            text = found.other.unseal(order["sealed"], order["id"])
        secrets_: dict[str, str] = json.loads(text)
        return secrets_

    def _read(self, running: RunningOrder, order: Mapping[str, Any], reader: StreamReader) -> int:
        body, count, offset = order["body"], int(order["parts"]), list(order["offset"])
        with reader.open(body["stream"], body.get("since") or {}) as stream:
            if count and (body.get("one_snapshot") or not (offset and stream.has_keys)):
                # Without a key nothing says where it was; and a new snapshot has rows that were changed meanwhile.
                order = self._call(running, "take", {"order": running.id, "anew": True})
                count, offset = 0, []
            self.log(f"reads a table from part {count + 1}")
            with closing(_prefetch(stream.parts(offset))) as parts:
                for part in parts:
                    count += 1
                    sent = {
                        "order": running.id,
                        "epoch": order["epoch"],
                        "part": count,
                        "rows": part.rows,
                        "offset": part.offset,
                    }
                    self._send(running, sent, part)
        self.log(f"read a table in {count} parts")
        return count

    def _send(self, running: RunningOrder, body: Mapping[str, object], part: StreamPart) -> None:
        self._persist(lambda: self._client.send_part(body, part.batches), running.stopped)

    def _call(self, running: RunningOrder, action: str, body: Mapping[str, object]) -> dict[str, Any]:
        return self._persist(lambda: self._client.call(action, body), running.stopped)

    def _persist(self, call: Callable[[], T], stopped: Event) -> T:
        """Repeat a call until the platform answers it."""
        wait, lost = _MIN_WAIT, False
        while not stopped.is_set() and not self._stop.is_set():
            client = self._client
            try:
                found = call()
            except GatewayRefusedError:
                with self._lock:
                    if client is self._client:
                        raise
            except ConnectionLostError as error:
                if not lost:
                    self.log(f"connection lost: {error}", "warning")
                lost = True
                stopped.wait(wait * (0.5 + random.random()))  # noqa: S311 - only spreads the load
                wait = min(2 * wait, _MAX_WAIT)
            else:
                return found
        raise _StoppedError


class _StoppedError(Exception):
    """The process or a work order is to end."""


def _prefetch(parts: Iterator[StreamPart]) -> Generator[StreamPart]:
    """Yield parts that a thread reads ahead, while those before them are sent."""
    ready: queue.Queue[StreamPart | BaseException | None] = queue.Queue(_AHEAD)
    closed = Event()

    def put(item: StreamPart | BaseException | None) -> None:
        while not closed.is_set():
            try:
                ready.put(item, timeout=0.5)
            except queue.Full:
                continue
            return

    def read() -> None:
        try:
            for part in parts:
                put(part)
                if closed.is_set():
                    return
            put(None)
        except Exception as error:  # noqa: BLE001 - it is raised where the parts are taken
            put(error)

    thread = Thread(target=read, daemon=True, name="read ahead")
    thread.start()
    try:
        while (item := ready.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        closed.set()
        thread.join()


def _error_json(error: Exception) -> dict[str, object]:
    """Return an error for the platform, which translates what the database says."""
    if isinstance(error, LakeholdError):
        return {"code": error.code, "message": error.message, "hint": error.hint, "field": error.field}
    if isinstance(error, psycopg.Error):
        # A host that does not answer has no SQLSTATE.
        unreachable = "08001" if isinstance(error, psycopg.OperationalError) else ""
        return {"state": error.sqlstate or unreachable, "text": str(error)}
    return {"state": "", "text": str(error)}
