"""REST over a real server on loopback, compared with a route that only does what every route does."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from benchmarks import api_load
from benchmarks.api_server import NOTHING
from benchmarks.databases import load
from benchmarks.facts import MOST, TENANT, Facts, company
from benchmarks.figures import Figure, Result, Sample, measure, p50
from benchmarks.postgres import server
from lakehold.directory import tokens
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings

CHECK, LIST = "/api/v1/access/check", "/api/v1/access/can/resources?action=see&kind=lakehouse.table&limit=50"
_CHECK_BODY = {"action": "edit", "resource": "t00042"}
_CLIENTS, _SECONDS = 200, 30.0
_NOTE = (
    "REST: one client on one kept connection, p50; no-op: a route of the same app with the same method, body,"
    " authentication and transaction."
)


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server in a process of its own."""

    port: int
    token: str

    def request(self, method: str, path: str, body: object = None) -> bytes:
        """A whole request as it goes over the wire."""
        sent = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {self.token}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(sent)}\r\n\r\n"
        )
        return head.encode() + sent


def run(say: Callable[[str], None], facts: Facts | None = None, seconds: float = _SECONDS) -> Iterator[list[Result]]:
    """Measure on both databases, then under load."""
    known = facts or company()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lakehold-bench-")))
        urls = {"SQLite": f"sqlite:///{folder / 'lakehold.sqlite'}", "PostgreSQL": stack.enter_context(server())}
        for name, url in urls.items():
            say(f"loading into {name}")
            load(url, known).access.database.close()
            with run_server(url, folder / name) as up:
                yield measure(list(_figures(name, up)), say)
                say(f"{_CLIENTS} clients for {seconds:g} s")
                yield measure(list(_crowd(name, up, seconds)), say, rounds=1)


@contextmanager
def run_server(url: str, folder: Path) -> Iterator[RunningServer]:
    """The application of this database, on a free port."""
    platform = Platform(Settings(data=folder, database=url))
    with platform.write(Caller(TENANT, MOST)) as ctx:
        secret = tokens.create(ctx, "bench").secret
    platform.close()
    with socket.create_server(("127.0.0.1", 0), backlog=1_024) as listener:
        listener.set_inheritable(True)
        command = [sys.executable, "-m", "benchmarks.api_server", url, str(folder), str(listener.fileno())]
        process = subprocess.Popen(command, pass_fds=[listener.fileno()], env=os.environ)  # noqa: S603 - our own code
        try:
            up = RunningServer(listener.getsockname()[1], secret)
            _ask(up, "POST", CHECK, _CHECK_BODY)()
            yield up
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def _figures(name: str, up: RunningServer) -> Iterator[Figure]:
    check, nothing = _sample(up, "POST", CHECK, _CHECK_BODY), _sample(up, "POST", NOTHING, _CHECK_BODY)
    yield Figure(f"HTTP check, {name}", check, {"no-op": nothing}, times=1 / 1.3, note=_NOTE)
    page, empty = _sample(up, "GET", LIST), _sample(up, "GET", NOTHING)
    yield Figure(f"HTTP page of 50 out of 90,000, {name}", page, {"no-op": empty}, times=1 / 5, note=_NOTE)


def _crowd(name: str, up: RunningServer, seconds: float) -> Iterator[Figure]:
    requests = [up.request("POST", CHECK, _CHECK_BODY), up.request("GET", LIST)] * (_CLIENTS // 2)
    answered: list[float] = []

    def errors() -> float:
        right, wrong = api_load.load(up.port, requests, seconds)
        answered.append(right / seconds)
        assert right, "nobody was answered"
        return float(wrong)

    yield Figure(f"errors with {_CLIENTS} clients, {name}", errors, most=0, unit=" errors", note=_NOTE)
    yield Figure(f"answers with {_CLIENTS} clients, {name}", lambda: answered[-1], unit=" a second", note=_NOTE)


def _sample(up: RunningServer, method: str, path: str, body: object = None) -> Sample:
    def sample() -> float:
        ask = _ask(up, method, path, body)
        for _ in range(20):
            ask()
        return p50(ask, [()] * 2_000, budget=1.0)

    return sample


def _ask(up: RunningServer, method: str, path: str, body: object = None) -> Callable[[], None]:
    connection = HTTPConnection("127.0.0.1", up.port, timeout=60)
    connection.connect()
    assert connection.sock is not None
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sent = None if body is None else json.dumps(body)
    headers = {"Authorization": f"Bearer {up.token}", "Content-Type": "application/json"}

    def ask() -> None:
        connection.request(method, path, body=sent, headers=headers)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, text

    return ask
