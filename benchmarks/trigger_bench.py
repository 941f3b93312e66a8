"""A thousand triggers that are due at once: time until each has its run, while a worker is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa

from benchmarks import postgres
from benchmarks.figures import Figure
from lakehold import workspaces
from lakehold.access import Grant
from lakehold.catalog import resources
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.runs.run_table import run_table
from lakehold.runs.scheduler.schedule import TriggerSchedule, trigger_table
from lakehold.runs.scheduler.service import Triggers
from lakehold.runs.service import Runs

_TENANT, _ED = "bench", Caller("bench", "ed")
_MANY, _WITHIN = 1_000, 60.0
_PAUSE, _PATIENCE = 0.02, 300.0
_NOTE = (
    "Triggers: of a thousand reports, due at the same moment, until each has its run; a worker is killed (kill -9) when"
    " it has begun with some, and another one is started."
)


def figures(say: Callable[[str], None]) -> Iterator[Figure]:
    """Return the figures on both databases."""
    name = f"{_MANY:,} triggers due at once, a worker killed meanwhile"
    yield Figure(f"{name}, SQLite", lambda: _sample(say), most=_WITHIN, note=_NOTE)

    def on_postgres() -> float:
        with postgres.server() as url:
            return _sample(say, url)

    yield Figure(f"{name}, PostgreSQL", on_postgres, most=_WITHIN, note=_NOTE)


def _sample(say: Callable[[str], None], url: str = "") -> float:
    with TemporaryDirectory() as folder, closing(_create_platform(Path(folder), url)) as platform:
        say(f"making {_MANY:,} reports with a trigger each")
        _create_triggers(platform)
        _make_due(platform)
        start = time.perf_counter()
        for until in (_MANY // 4, _MANY):
            with _worker(platform) as worker:
                _wait(platform, worker, until)
                taken = time.perf_counter() - start
        _check_no_duplicates(platform)
        return taken


def _create_platform(folder: Path, url: str) -> Platform:
    values = {"data": folder, "database": url} if url else {"data": folder}
    platform = Platform(Settings.model_validate(values))
    platform.database.migrate()
    platform.access.create_tenant(_TENANT, "Bench", workspaces.models())
    return platform


def _create_triggers(platform: Platform) -> None:
    with platform.access.write(_TENANT) as session:
        session.store.create("tenant.member", "Ed", uid="ed", edges={"tenant": _TENANT})
        session.store.create("marts.project", "Sales", uid="sales", edges={"tenant": _TENANT})
        session.store.add(Grant("ed", "technical_user", "sales"))
    triggers = Triggers(Runs(workspaces.runnables()))
    here = {"project": "sales"}
    with platform.write(_ED) as ctx:
        resources.create(ctx, "marts.storage", "files", uid="files", edges=here, settings={"kind": "files"})
        mart = {"by": "table", "table": "orders"}
        around = {**here, "storage": "files"}
        resources.create(ctx, "marts.data_mart", "orders", uid="mart", edges=around, settings=mart)
        folder = {"to": "files", "name": "report", "kind": "csv"}
        resources.create(ctx, "marts.destination", "folder", uid="folder", edges=here, settings=folder)
        for number in range(_MANY):
            ends = {"data_mart": "mart", "destination": "folder"}
            uid = resources.create(ctx, "marts.report", f"report {number}", edges=ends, settings={"columns": ["day"]})
            triggers.save(ctx, uid, TriggerSchedule(cron="30 6 1 1 *"))


def _make_due(platform: Platform) -> None:
    with platform.database.write() as transaction:
        transaction.connection.execute(trigger_table.update().values(next_at=platform.clock()))


@contextmanager
def _worker(platform: Platform) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker until it is killed."""
    settings = platform.settings
    environment = {"LAKEHOLD_DATA": str(settings.data), "LAKEHOLD_DATABASE": settings.database}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("LAKEHOLD_")}
    command = [sys.executable, "-m", "lakehold.cli", "worker"]
    process = subprocess.Popen(command, env={**inherited, **environment}, stderr=subprocess.DEVNULL)  # noqa: S603 - our own words
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _wait(platform: Platform, worker: subprocess.Popen[bytes], until: int) -> None:
    end = time.monotonic() + _PATIENCE
    while _count_runs(platform).total() < until:
        assert worker.poll() is None, "the worker has ended"
        assert time.monotonic() < end, "the triggers do not start their runs"
        time.sleep(_PAUSE)


def _count_runs(platform: Platform) -> Counter[int]:
    """How many runs each report has."""
    with platform.database.read() as transaction:
        found = transaction.connection.execute(sa.select(run_table.c.resource_id))
        return Counter(found.scalars())


def _check_no_duplicates(platform: Platform) -> None:
    runs = _count_runs(platform)
    assert len(runs) == _MANY, f"{len(runs)} of {_MANY} reports have a run"
    assert set(runs.values()) == {1}, "a trigger has started more than one run"
