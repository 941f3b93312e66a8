"""The receiver of a webhook: a real HTTP server in a thread, which answers as a test wants."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, cast

from lakehold.connectors.destinations.delivery import DeliveryProgress

GONE = -1
"""Instead of a status: the connection is closed without an answer, after everything was read."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    path: str
    headers: Message
    body: bytes

    @property
    def rows(self) -> list[Any]:
        return cast("list[Any]", json.loads(self.body)["rows"])


@dataclass
class Receiver:
    """The received requests, and the answers to the next ones. Without an answer of its own a request is accepted."""

    port: int = 0
    requests: list[Request] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?token=t0psecret"


class _WebhookHandler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        receiver = cast("_Server", self.server).receiver
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver.requests.append(Request(self.path, self.headers, body))
        answer = receiver.answers.pop(0) if receiver.answers else Answer(204)
        if answer.status == GONE:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_: object) -> None:
        """Nobody listens."""


class _Server(ThreadingHTTPServer):
    def __init__(self, made: Receiver) -> None:
        self.receiver = made
        super().__init__(("127.0.0.1", 0), _WebhookHandler)


@contextmanager
def run_receiver() -> Iterator[Receiver]:
    made = Receiver()
    with _Server(made) as server:
        made.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join()


@dataclass
class ProgressRecord:
    """The progress of a delivery, as it is found after a crash."""

    reached: DeliveryProgress | None = None
    pages: list[DeliveryProgress] = field(default_factory=list)

    def read(self) -> DeliveryProgress | None:
        return self.reached

    def keep(self, reached: DeliveryProgress) -> None:
        self.reached = reached
        self.pages.append(reached)
