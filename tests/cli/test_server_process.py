"""A server that is told to stop before it has begun does not begin."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from uvicorn import Server

from lakehold.cli import server_process
from lakehold.kit.settings import Settings


@pytest.fixture
def handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    loggers = [logging.getLogger(name) for name in ("", "lakehold", "uvicorn", "uvicorn.access")]
    logged = [(each, each.handlers[:], each.level, each.disabled) for each in loggers]
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    # Else tests after this one would log into a stream that is closed by then.
    for logger, handlers, level, disabled in logged:
        logger.handlers[:], logger.disabled = handlers, disabled
        logger.setLevel(level)


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
