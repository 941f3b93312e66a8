"""What the worker does: everything in the background, until it is told to stop."""

from __future__ import annotations

import signal
from threading import Event

from lakehold import workspaces
from lakehold.api.frame import logs
from lakehold.cli.processes import lifeline
from lakehold.cli.processes.answering import answering
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.runs.runnable import StepExecutors
from lakehold.runs.running import Running
from lakehold.runs.ticks import Tick
from lakehold.runs.warm import Warm
from lakehold.runs.worker import Worker
from lakehold.workspaces.lakehouse import dropping, scheduling
from lakehold.workspaces.marts.live import pulls

_QUARTER, _HOUR = 15 * 60, 3600


def run(settings: Settings) -> None:
    """Work until SIGINT or SIGTERM."""
    logs.install()
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    lifeline.hold()
    platform = Platform(settings)
    platform.database.migrate()
    try:
        with answering(platform) as (address, warm):
            running = Running(platform, workspaces.runnables(), _doers, warm)
            worker = Worker(platform, running, warm, address, _ticks(warm))
            warm.end = worker.leave
            worker.run(stop)
    finally:
        platform.close()


def _ticks(warm: Warm) -> list[Tick]:
    """What the workspaces want done again and again."""

    def purge(platform: Platform) -> None:
        if dropping.gone(platform):
            from lakehold.workspaces.lakehouse.doing import purging  # noqa: PLC0415 - as below

            purging.purge(platform, warm.tables)

    return [
        Tick("keep tables", _QUARTER, scheduling.schedule),
        Tick("purge tables", _HOUR, purge),
        Tick("forget pulls", _HOUR, pulls.forget),
    ]


def _doers() -> StepExecutors:
    # Here, not above: a worker that runs nothing needs no Spark.
    from lakehold.workspaces import doing  # noqa: PLC0415

    return doing.DOERS
