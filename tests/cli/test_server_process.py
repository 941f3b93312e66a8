"""A server that is told to stop before it has begun does not begin."""

from __future__ import annotations

import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from uvicorn import Server

from lakehold.cli import server_process
from lakehold.kit.settings import Settings


@pytest.fixture
def handlers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # The server makes temporary files in its data folder, and those of other tests are not for it.
    monkeypatch.setattr(tempfile, "tempdir", tempfile.gettempdir())
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers")
def test_a_signal_that_comes_while_it_starts_stops_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[bool] = []

    def run(server: Server, sockets: list[socket.socket] | None = None) -> None:
        del sockets
        signal.raise_signal(signal.SIGTERM)
        begun.append(server.should_exit)

    monkeypatch.setattr(Server, "run", run)
    server_process.run(Settings(data=tmp_path))
    assert begun == [True]
