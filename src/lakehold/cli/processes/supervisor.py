"""`lakehold up`: a server and a worker, with one log and one Ctrl-C.

The supervisor opens the port and hands it to the server: while a server that died is started again, requests wait
instead of being refused.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO

from lakehold.cli.processes.child import Child
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.settings import Settings

_log = logging.getLogger("lakehold.processes")
_BACKLOG = 2048
LOG = "lakehold.log"


def run(settings: Settings, ready: Callable[[str], object], *, log: Path | None = None) -> None:
    """Run both until Ctrl-C; `ready` is told the address once requests are answered. What they say goes to the log, if
    there is to be one, and else where we say things.
    """
    with opened(settings.host, settings.port) as listener, _log_file(log) as file:
        asyncio.run(_kept(settings, listener, ready, file))


def _log_file(log: Path | None) -> AbstractContextManager[IO[bytes] | None]:
    return nullcontext() if log is None else log.open("ab")


def opened(host: str, port: int) -> socket.socket:
    """A socket that listens there."""
    try:
        (family, kind, number, _, where), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise InvalidInputError(f"There is no address {host!r} here.", "Correct LAKEHOLD_HOST.") from None
    listener = socket.socket(family, kind, number)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(where)
    except OSError as error:
        listener.close()
        raise ConflictError(
            f"The port {port} of {host} cannot be had: {error.strerror}.", "Stop what uses it, or set LAKEHOLD_PORT."
        ) from None
    listener.listen(_BACKLOG)
    listener.set_inheritable(True)
    return listener


async def _kept(
    settings: Settings, listener: socket.socket, ready: Callable[[str], object], log: IO[bytes] | None
) -> None:
    host, port = listener.getsockname()[:2]
    # They are told all that we were told, wherever we were told it.
    known = settings.environment() | {"LAKEHOLD_HOST": str(host), "LAKEHOLD_PORT": str(port)}
    file = listener.fileno()
    children = [
        Child("server", ("--socket", str(file)), (file,), environment=known, log=log),
        Child("worker", environment=known, log=log),
    ]
    told = False

    def stop() -> None:
        nonlocal told
        _log.info("stopping at once" if told else "stopping")
        for child in children:
            child.kill() if told else child.stop()
        told = True

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    there = f"[{host}]" if ":" in str(host) else str(host)
    waiting = asyncio.create_task(_answered(host, port, lambda: ready(settings.address or f"http://{there}:{port}")))
    await asyncio.gather(*(child.keep() for child in children))
    waiting.cancel()


async def _answered(host: str, port: int, ready: Callable[[], object]) -> None:
    """Ask once whether it lives. The port is open already, so the answer comes when the server does."""
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    if b" 200 " in await reader.readline():
        ready()
    writer.close()
