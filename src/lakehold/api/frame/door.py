"""The outermost layer: every request gets an id, is measured and written down, and always gets an answer."""

from __future__ import annotations

import re
import time
from http import HTTPStatus
from secrets import token_hex

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lakehold.api.frame import logs, problems
from lakehold.api.frame.metrics import Metrics
from lakehold.directory.caller import Caller

MOST_BYTES = 2 * 1024 * 1024
_SANE = re.compile(rb"[\x20-\x7e]{1,128}")
_SECRET = re.compile(rb"lh[a-z]?_")
_ROOM = "lakehold.most_bytes"
_LEFT = 499
"""What the log says of a caller who went before all was sent."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ALWAYS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
]


def make_room(scope: Scope, most: int) -> None:
    """Let a request have a longer body than most: asked by an endpoint that takes files, before it reads."""
    scope[_ROOM] = most


class Door:
    """Around everything else."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request in, and its answer out."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        passing = _Passing(scope, receive, send)
        start = time.perf_counter()
        try:
            await self._app(scope, passing.receive, passing.send)
        except ClientDisconnect:
            # There is nobody left to answer.
            passing.status = passing.status or _LEFT
        except Exception:  # noqa: BLE001 - this is the edge: nothing gets past it
            logs.errors.exception("unexpected", extra={"told": {"request": passing.id, "route": passing.route}})
            await passing.answer(problems.unexpected(passing.id))
        finally:
            taken = time.perf_counter() - start
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.seen(method, passing.route, passing.status, taken)
            if logs.requests.isEnabledFor(20):
                logs.requests.info("request", extra={"told": passing.told(method, taken)})


class _Passing:
    """One request on its way through."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._read = 0
        self.status = 0
        self.id = scope["lakehold.request_id"] = _request_id(scope)

    @property
    def route(self) -> str:
        """The template of the route; nothing of the address itself."""
        return getattr(self._scope.get("route"), "path_format", "") or "unknown"

    def told(self, method: str, taken: float) -> dict[str, object]:
        """What the log says of it."""
        caller: Caller | None = self._scope.get("lakehold.caller")
        told: dict[str, object] = {
            "request": self.id,
            "method": method,
            "route": self.route,
            "status": self.status,
            "ms": round(taken * 1_000, 2),
        }
        if caller is not None:
            who = {
                "tenant": caller.tenant,
                "member": caller.member,
                "token": caller.token_id,
                "behind": caller.impersonator,
            }
            told.update((name, value) for name, value in who.items() if value)
        return told

    async def receive(self) -> Message:
        """A part of the body, unless there were too many, or it is said that there will be."""
        message = {} if self._says_too_much() else await self._receive()
        self._read += len(message.get("body", b""))
        if not message or self._read > _most_bytes(self._scope):
            # Whoever reads the body takes any other error for one in the body.
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        return message

    def _says_too_much(self) -> bool:
        lengths = (value for name, value in self._scope["headers"] if name == b"content-length")
        return any(not value.isdigit() or int(value) > _most_bytes(self._scope) for value in lengths)

    async def send(self, message: Message) -> None:
        """The answer, with what every answer has."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            there = {name for name, _ in message["headers"]}
            always = [header for header in _ALWAYS if header[0] not in there]
            message["headers"] = [*message["headers"], *always, (b"x-request-id", self.id.encode())]
        await self._send(message)

    async def answer(self, response: Response) -> None:
        """Instead of an answer that never came. One that has begun cannot be taken back, only broken off."""
        if self.status:
            raise ConnectionAbortedError
        await response(self._scope, self._receive, self.send)


def _request_id(scope: Scope) -> str:
    """The sender's own id, if it is a sensible one, or a new one. A token is not one: ids are written down."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _SANE.fullmatch(value) and not _SECRET.search(value):
            given: bytes = value
            return given.decode()
    return token_hex(8)


def _most_bytes(scope: Scope) -> int:
    most: int = scope.get(_ROOM, MOST_BYTES)
    return most
