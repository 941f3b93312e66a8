"""Start-up time of the command and of the server."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import httpx

from benchmarks.figures import Figure, Result, measure

_HELP, _READY = 0.4, 3.0
_PATIENCE = 60.0
_NOTE = "Start: each in a process of its own, with compiled bytecode; the floor only starts Python."


def run(say: Callable[[str], None]) -> Iterator[list[Result]]:
    """Measure the start of the command, and of a server on an installation that is set up."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        _help(folder)
        _ready(folder)
        floor = {"start Python": partial(_process, folder, "-c", "pass")}
        yield measure(
            [
                Figure("lakehold --help", partial(_help, folder), floor=floor, most=_HELP, note=_NOTE),
                Figure("server ready", partial(_ready, folder), floor=floor, most=_READY, note=_NOTE),
            ],
            say,
        )


def _help(folder: Path) -> float:
    return _process(folder, "-m", "lakehold.cli", "--help")


def _process(folder: Path, *arguments: str) -> float:
    start = perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, env=_environment(folder), stdout=subprocess.DEVNULL)  # noqa: S603 - our own words
    return perf_counter() - start


def _ready(folder: Path) -> float:
    """Time the server until it reports that it is ready."""
    port = _free_port()
    environment = {**_environment(folder), "LAKEHOLD_PORT": str(port)}
    start = perf_counter()
    server = subprocess.Popen([sys.executable, "-m", "lakehold.cli", "server"], env=environment)
    try:
        while not _answers(port):
            assert server.poll() is None, "the server ended"
            assert perf_counter() - start < _PATIENCE, "the server is not ready"
        return perf_counter() - start
    finally:
        server.terminate()
        server.wait(_PATIENCE)


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=1).is_success
    except httpx.TransportError:
        return False


def _free_port() -> int:

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment of a process with compiled bytecode, as installed."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("LAKEHOLD_")}
    return known | {
        "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
        "PYTHONDONTWRITEBYTECODE": "",
        "LAKEHOLD_DATA": str(folder / "data"),
    }
