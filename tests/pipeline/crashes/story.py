"""What happens: runs are begun, each is held at its point, their worker is killed, and another one takes over."""

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
from tests.pipeline.crashes import stored
from tests.pipeline.crashes.into_tables import IntoTable
from tests.pipeline.crashes.worker import PLAN, PORT
from tests.pipeline.crashes.world import Piece, World
from tests.pipeline.shop import ADA, ED
from tests.processes import PATIENCE, Process
from tests.runs.workers import known
from tests.workspaces.lakehouse.moving import RUNS

COMMIT = "at commit"
"""Everything is written but the one line in the catalog."""
FOLLOWED = "followed"
"""What comes after it is started, and that is not yet written down."""


@dataclass(frozen=True)
class Story:
    """What was seen after the crash and what became of the runs, by pipeline."""

    world: World
    seen: Mapping[str, object]
    runs: Mapping[str, Run]


def told(world: World, pieces: Sequence[Piece]) -> Story:
    """All of it."""
    held = {_start(world, piece): piece for piece in pieces if piece.point != COMMIT}
    with socket.create_server(("127.0.0.1", 0)) as ear:
        plan = json.dumps({run: piece.point for run, piece in held.items()})
        environment = {**_environment(world), PLAN: plan, PORT: str(ear.getsockname()[1])}
        with Process("", environment, module="tests.pipeline.crashes.worker") as first:
            _all_held(ear, first, held)
            with _locked(world):
                committing = {_start(world, piece): piece for piece in pieces if piece.point == COMMIT}
                _all_but_committed(world, committing.values())
                _kill(first)
    seen = {piece.uid: piece.seen(world) for piece in pieces}
    with Process("worker", _environment(world)) as second:
        # Of one that had ended, and told of it, nothing more is heard.
        missing = [run for run, piece in (held | committing).items() if piece.point != FOLLOWED]
        second.hear_each(*(f"run {run} has" for run in missing))
        second.end()
    with world.here.shop.platform.read(ADA) as ctx:
        runs = {piece.uid: RUNS.get(ctx, run) for run, piece in (held | committing).items()}
    return Story(world, seen, runs)


def _start(world: World, piece: Piece) -> str:
    with world.here.shop.platform.write(ED) as ctx:
        return RUNS.start(ctx, piece.uid).id


def _environment(world: World) -> dict[str, str]:
    more = {"LAKEHOLD_RUNS_AT_ONCE": "100", "LAKEHOLD_PRIVATE_ADDRESSES": "true", "LAKEHOLD_SPARK": "local[16]"}
    return {**known(world.here.shop.platform), **more, "LAKEHOLD_SMTP": world.post.url}


def _all_held(ear: socket.socket, process: Process, held: Mapping[str, Piece]) -> None:
    """Wait until each run has told that it is at its point."""
    ear.settimeout(PATIENCE)
    missing = {run: f"{piece.uid} ({run})" for run, piece in held.items()}
    while missing:
        try:
            there, _ = ear.accept()
        except TimeoutError:
            process.tell(signal.SIGKILL)
            process.hear(f"anything of {', '.join(missing.values())}")
        with there:
            missing.pop(there.makefile().read(), None)


@contextmanager
def _locked(world: World) -> Iterator[None]:
    """Nobody else writes in the catalog of the lake meanwhile. Reading goes on."""
    file = world.here.shop.platform.settings.data / "lake.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


def _all_but_committed(world: World, pieces: Iterable[Piece]) -> None:
    """Wait until each has written its metadata file, which is the last that a write does before it is valid."""
    tables = [piece for piece in pieces if isinstance(piece, IntoTable)]
    known = {piece: stored.known(world.here.shop.tables.lake, piece.place(world.here)) for piece in tables}
    until = time.monotonic() + PATIENCE
    for piece in tables:
        while not any(file.endswith(".metadata.json") for file in stored.on_disk(piece.folder(world)) - known[piece]):
            assert time.monotonic() < until, f"{piece.uid} writes nothing"
            # Nobody tells when a file comes.
            Event().wait(0.1)


def _kill(process: Process) -> None:
    """Python and Java at once, in the middle of whatever they do."""
    for pid in (*_java(process.process.pid), process.process.pid):
        os.kill(pid, signal.SIGKILL)
    process.ended()


def _java(parent: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            of = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if of == parent and "java" in (folder / "comm").read_text():
                found.append(int(folder.name))
    return found
