"""Landing through a gateway, in a process of its own, beside landing the same table directly by JDBC."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from benchmarks import postgres
from benchmarks.figures import Figure, Result, measure
from benchmarks.task_space import ED, SPACE, TaskSpace, task_space
from lakehold.workspaces.spaces.gateways import status
from lakehold.workspaces.spaces.gateways.endpoint import serve_gateways
from lakehold.workspaces.spaces.gateways.local_gateway import register_here
from lakehold.workspaces.spaces.gateways.status import GatewayState

_ROWS = 5_000_000
_MOST = 1 / 0.6
_PATIENCE = 30
_TABLE = (
    "CREATE TABLE item (id bigint PRIMARY KEY, n int, price numeric(12, 2), ratio double precision, at timestamptz,"
    " day date, open boolean, note text, city text)"
)
_FILL = (
    "INSERT INTO item SELECT i, i % 1000, i / 7.0, i / 3.0, timestamptz '2026-01-01' + i * interval '1 second',"
    f" date '2026-01-01' + i % 365, i % 2 = 0, 'item ' || i, 'city ' || i % 50 FROM generate_series(1, {_ROWS}) i"
)
_NOTE = (
    f"Landing {_ROWS:,} rows of nine columns into an empty dataset, through a gateway in a process of its own (TLS)"
    " beside the same landing directly by JDBC; all on this machine, local[2], heap of 1 GiB."
)


def run(say: Callable[[str], None]) -> Iterator[list[Result]]:
    """Measure how many times as long the landing takes."""
    with TemporaryDirectory(prefix="lakehold-bench-") as folder, landings(Path(folder), say) as (here, tasks):
        over = partial(_over, here, say, *tasks)
        yield measure([Figure("landing by gateway over JDBC", over, most=_MOST, unit="×", note=_NOTE)], say, 3)


def _over(here: TaskSpace, say: Callable[[str], None], direct: str, gateway: str, uid: str) -> float:
    """Return the ratio of the gateway to JDBC, for the same rows."""
    by_jdbc = here.run(direct, reload=True)
    ours = here.run(gateway, reload=True)
    with here.platform.read(ED) as ctx:
        last = status.list_transfers(ctx, uid)[0]
    megabytes = last.bytes / 1_000_000
    say(
        f"{_ROWS:,} rows by the gateway in {ours:.1f} s: {_ROWS / ours:,.0f} rows/s, of which it sent for"
        f" {last.seconds:.1f} s: {last.rows_per_second:,} rows/s, {megabytes / last.seconds:,.1f} MB/s of Parquet;"
        f" by JDBC in {by_jdbc:.1f} s: {_ROWS / by_jdbc:,.0f} rows/s; {by_jdbc / ours:.2f} × its speed"
    )
    return ours / by_jdbc


@contextmanager
def landings(folder: Path, say: Callable[[str], None]) -> Iterator[tuple[TaskSpace, tuple[str, str, str]]]:
    """Open a data space with two tasks that land the same table: directly, and through a gateway, which is named."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with postgres.server() as url, task_space(folder, gateway_port=port) as here, serve_gateways(here.platform):
        say(f"filling a table with {_ROWS:,} rows")
        with psycopg.connect(url, autocommit=True) as source:
            for text in (_TABLE, _FILL, "VACUUM ANALYZE item"):
                source.execute(text.encode())
        with running_gateway(here, folder / "gateway") as uid:
            connections = here.connection("direct", url), here.connection("remote", url, gateway=uid)
            direct, remote = (here.task(f"landing {number}", _landing(each)) for number, each in enumerate(connections))
            yield here, (direct, remote, uid)


def _landing(connection: str) -> dict[str, object]:
    item = {"name": "item", "stream": "public.item", "mode": "reload"}
    return {"type": "landing", "connection": connection, "datasets": [item]}


@contextmanager
def running_gateway(here: TaskSpace, folder: Path) -> Iterator[str]:
    """Register a gateway and run its process; its id is returned when it is online."""
    with here.platform.write(ED) as ctx:
        uid = ctx.create("spaces.gateway", "bench", uid=None, edges={"space": SPACE})
    register_here(here.platform, ED, uid, folder)
    command = [sys.executable, "-m", "lakehold.cli", "gateway", "run", "--folder", str(folder)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: S603 - our own command
    try:
        _wait_until_online(here, uid, folder / "log")
        yield uid
    finally:
        process.terminate()
        process.wait(_PATIENCE)


def _wait_until_online(here: TaskSpace, uid: str, log: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        with here.platform.read(ED) as ctx:
            if status.load_status(ctx, uid).state is GatewayState.ONLINE:
                return
        time.sleep(0.1)
    raise RuntimeError(f"The gateway did not connect: {log.read_text()[-500:]}")
