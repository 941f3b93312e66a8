"""What the worker does: everything in the background, until it is told to stop."""

from __future__ import annotations

import signal
from threading import Event

from lakehold import workspaces
from lakehold.api.frame import logs
from lakehold.cli.processes import lifeline
from lakehold.cli.processes.answering import answering
from lakehold.directory.installation import Installation
from lakehold.kit.settings import Settings
from lakehold.runs.runnable import Doers
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
    house = Installation(settings)
    house.database.migrate()
    try:
        with answering(house) as (address, warm):
            running = Running(house, workspaces.runnables(), _doers, warm)
            worker = Worker(house, running, warm, address, _ticks(warm))
            warm.end = worker.leave
            worker.run(stop)
    finally:
        house.close()


def _ticks(warm: Warm) -> list[Tick]:
    """What the workspaces want done again and again."""

    def purge(house: Installation) -> None:
        if dropping.gone(house):
            from lakehold.workspaces.lakehouse.doing import purging  # noqa: PLC0415 - as below

            purging.purge(house, warm.tables)

    return [
        Tick("keep tables", _QUARTER, scheduling.schedule),
        Tick("purge tables", _HOUR, purge),
        Tick("forget pulls", _HOUR, pulls.forget),
    ]


def _doers() -> Doers:
    # Here, not above: a worker that runs nothing needs no Spark.
    from lakehold.workspaces import doing  # noqa: PLC0415

    return doing.DOERS
