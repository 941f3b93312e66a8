"""An HTTP API on a loopback port that answers as a test says and records its requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class ApiRequest:
    """A request that the API received."""

    path: str
    params: dict[str, str]
    headers: dict[str, str]


@dataclass(frozen=True)
class ApiResponse:
    """A response of the API."""

    data: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None


@dataclass
class FakeApi:
    """The routes of the API, and the requests that it received."""

    port: int = 0
    routes: dict[str, Callable[[ApiRequest], ApiResponse]] = field(default_factory=dict)
    requests: list[ApiRequest] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def count_requests(self, path: str) -> int:
        """How often it was asked for a path."""
        return sum(each.path == path for each in self.requests)


class _ApiHandler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        api = cast("_Server", self.server).api
        parts = urlsplit(self.path)
        asked = ApiRequest(parts.path, dict(parse_qsl(parts.query)), dict(self.headers))
        with api.lock:
            api.requests.append(asked)
        route = api.routes.get(parts.path)
        said = route(asked) if route else ApiResponse({"error": "nothing here"}, 404)
        body = said.raw if said.raw is not None else json.dumps(said.data).encode()
        self.send_response(said.status)
        for name, value in {"Content-Length": str(len(body)), **said.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    api: FakeApi


@contextmanager
def serve_fake_api() -> Iterator[FakeApi]:
    """Serve the API while the block lasts."""
    with _Server(("127.0.0.1", 0), _ApiHandler) as server:
        server.api = FakeApi(int(server.server_address[1]))
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.api
        finally:
            server.shutdown()
            thread.join()
