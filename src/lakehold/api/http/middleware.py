"""The outermost middleware: gives every request an id, limits its body, logs and measures it, and handles unexpected
errors.
"""

import re
import time
from http import HTTPStatus
from secrets import token_hex

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lakehold.api.http import json_logging, problems
from lakehold.api.http.dependencies import is_secure
from lakehold.api.http.health import Metrics
from lakehold.directory.caller import Caller

MAX_BODY_BYTES = 2 * 1024 * 1024
_VALID_REQUEST_ID = re.compile(r"[\x20-\x7e]{1,128}")
_SECRET = re.compile(r"lh[a-z]?_")
_BODY_LIMIT_KEY = "lakehold.most_bytes"
_CLIENT_CLOSED_REQUEST = 499
"""The logged status of a request whose client disconnected before the response was sent."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_TRANSPORT_SECURITY = (b"strict-transport-security", b"max-age=31536000")
"""For a year, browsers ask this host by HTTPS only."""
_DEFAULT_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
]


def allow_body_size(scope: Scope, max_bytes: int) -> None:
    """Allow a longer body for this request. Endpoints that take files call it before they read."""
    scope[_BODY_LIMIT_KEY] = max_bytes


class RequestMiddleware:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        tracker = _RequestTracker(scope, receive, send)
        start = time.perf_counter()
        try:
            await self._app(scope, tracker.receive, tracker.send)
        except ClientDisconnect:
            # There is nobody left to answer.
            tracker.status = tracker.status or _CLIENT_CLOSED_REQUEST
        except Exception:  # noqa: BLE001 - this is the edge: nothing gets past it
            json_logging.error_log.exception(
                "unexpected", extra={"fields": {"request": tracker.id, "route": tracker.route}}
            )
            await tracker.send_response(problems.unexpected_response(tracker.id))
        finally:
            seconds = time.perf_counter() - start
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.record_request(method, tracker.route, tracker.status, seconds)
            if json_logging.request_log.isEnabledFor(20):
                json_logging.request_log.info("request", extra={"fields": tracker.log_fields(method, seconds)})


class _RequestTracker:
    """The state of one request while it passes the middleware."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._read = 0
        self.status = 0
        self.id = scope["lakehold.request_id"] = _request_id(scope)

    @property
    def route(self) -> str:
        """Return the path template of the route, never the path itself."""
        return getattr(self._scope.get("route"), "path_format", "") or "unknown"

    def log_fields(self, method: str, seconds: float) -> dict[str, object]:
        """Return the fields of the request's log line."""
        caller: Caller | None = self._scope.get("lakehold.caller")
        names = {"tenant": "tenant", "member": "member", "token": "token_id", "behind": "impersonator"}
        return {
            "request": self.id,
            "method": method,
            "route": self.route,
            "status": self.status,
            "ms": round(seconds * 1_000, 2),
            **{name: getattr(caller, field) for name, field in names.items() if getattr(caller, field, "")},
        }

    async def receive(self) -> Message:
        """Return the next part of the body; raise 413 if it is or declares itself too large."""
        message = {} if self._declares_too_much() else await self._receive()
        self._read += len(message.get("body", b""))
        if not message or self._read > _max_body_bytes(self._scope):
            # A reader of the body would take any other error for a malformed body.
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        return message

    def _declares_too_much(self) -> bool:
        lengths = (value for name, value in self._scope["headers"] if name == b"content-length")
        return any(not value.isdigit() or int(value) > _max_body_bytes(self._scope) for value in lengths)

    async def send(self, message: Message) -> None:
        """Send a message of the response, with the default headers."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            there = {name for name, _ in message["headers"]}
            always = [header for header in _DEFAULT_HEADERS if header[0] not in there]
            if is_secure(HTTPConnection(self._scope)):
                always.append(_TRANSPORT_SECURITY)
            message["headers"] = [*message["headers"], *always, (b"x-request-id", self.id.encode())]
        await self._send(message)

    async def send_response(self, response: Response) -> None:
        """Send a response in place of one that never came; abort the connection if one has begun."""
        if self.status:
            raise ConnectionAbortedError
        await response(self._scope, self._receive, self.send)


def _request_id(scope: Scope) -> str:
    """Return the sender's request id if it is valid, else a new one. A token is not valid, because ids are logged."""
    given = Headers(scope=scope).getlist("x-request-id")
    valid = (value for value in given if _VALID_REQUEST_ID.fullmatch(value) and not _SECRET.search(value))
    return next(valid, None) or token_hex(8)


def _max_body_bytes(scope: Scope) -> int:
    max_bytes: int = scope.get(_BODY_LIMIT_KEY, MAX_BODY_BYTES)
    return max_bytes
