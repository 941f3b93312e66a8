"""The crash scenario: runs are started and parked, their worker is killed, and another worker takes over."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from lakehold.runs.service import Run
from tests.lake.crashes import table_files
from tests.lake.crashes.environment import CrashEnvironment, KilledPipeline
from tests.lake.crashes.table_cases import IntoTable
from tests.lake.crashes.worker import PLAN, PORT
from tests.lake.shop import ADA, ED
from tests.processes import PATIENCE, Process
from tests.runs.workers import worker_environment
from tests.workspaces.lakehouse.inline_runs import RUNS

COMMIT = "at commit"
"""Everything is written but the one line in the catalog."""
FOLLOWED = "followed"
"""What comes after it is started, and that is not yet written down."""


@dataclass(frozen=True)
class CrashResult:
    """What was observed after the crash, and the finished runs, by pipeline."""

    world: CrashEnvironment
    observed: Mapping[str, object]
    runs: Mapping[str, Run]


def run_scenario(world: CrashEnvironment, pieces: Sequence[KilledPipeline]) -> CrashResult:
    """Run the whole scenario."""
    held = {_start(world, piece): piece for piece in pieces if piece.point != COMMIT}
    with socket.create_server(("127.0.0.1", 0)) as ear:
        plan = json.dumps({run: piece.point for run, piece in held.items()})
        environment = {**_environment(world), PLAN: plan, PORT: str(ear.getsockname()[1])}
        with Process("", environment, module="tests.lake.crashes.worker") as first:
            _wait_until_parked(ear, first, held)
            with _lock_catalog(world):
                committing = {_start(world, piece): piece for piece in pieces if piece.point == COMMIT}
                _wait_for_metadata_files(world, committing.values())
                _kill(first)
    seen = {piece.uid: piece.seen(world) for piece in pieces}
    with Process("worker", _environment(world)) as second:
        # Of one that had ended, and told of it, nothing more is heard.
        missing = [run for run, piece in (held | committing).items() if piece.point != FOLLOWED]
        second.wait_for_lines(*(f"run {run} has" for run in missing))
        second.stop()
    with world.here.shop.platform.read(ADA) as ctx:
        runs = {piece.uid: RUNS.get(ctx, run) for run, piece in (held | committing).items()}
    return CrashResult(world, seen, runs)


def _start(world: CrashEnvironment, piece: KilledPipeline) -> str:
    with world.here.shop.platform.write(ED) as ctx:
        return RUNS.start(ctx, piece.uid).id


def _environment(world: CrashEnvironment) -> dict[str, str]:
    more = {"LAKEHOLD_RUNS_AT_ONCE": "100", "LAKEHOLD_PRIVATE_ADDRESSES": "true", "LAKEHOLD_SPARK": "local[16]"}
    return {**worker_environment(world.here.shop.platform), **more, "LAKEHOLD_SMTP": world.post.url}


def _wait_until_parked(ear: socket.socket, process: Process, held: Mapping[str, KilledPipeline]) -> None:
    """Wait until each run has reported that it is at its point."""
    ear.settimeout(PATIENCE)
    missing = {run: f"{piece.uid} ({run})" for run, piece in held.items()}
    while missing:
        try:
            there, _ = ear.accept()
        except TimeoutError:
            process.send_signal(signal.SIGKILL)
            process.wait_for_line(f"anything of {', '.join(missing.values())}")
        with there:
            missing.pop(there.makefile().read(), None)


@contextmanager
def _lock_catalog(world: CrashEnvironment) -> Iterator[None]:
    """Lock the catalog of the lake for writing. Reading goes on."""
    file = world.here.shop.platform.settings.data / "lake.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


def _wait_for_metadata_files(world: CrashEnvironment, pieces: Iterable[KilledPipeline]) -> None:
    """Wait until each run has written its metadata file, which is the last step before the commit."""
    tables = [piece for piece in pieces if isinstance(piece, IntoTable)]
    known = {
        piece: table_files.referenced_files(world.here.shop.tables.lake, piece.place(world.here)) for piece in tables
    }
    until = time.monotonic() + PATIENCE
    for piece in tables:
        while not any(
            file.endswith(".metadata.json") for file in table_files.files_on_disk(piece.folder(world)) - known[piece]
        ):
            assert time.monotonic() < until, f"{piece.uid} writes nothing"
            # Nobody tells when a file comes.
            Event().wait(0.1)


def _kill(process: Process) -> None:
    """Kill Python and Java at once."""
    for pid in (*_java(process.process.pid), process.process.pid):
        os.kill(pid, signal.SIGKILL)
    process.wait()


def _java(parent: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            of = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if of == parent and "java" in (folder / "comm").read_text():
                found.append(int(folder.name))
    return found
