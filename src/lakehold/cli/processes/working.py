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
from lakehold.runs.worker import Worker


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
            Worker(house, Running(house, workspaces.runnables(), _doers, warm), warm, address).run(stop)
    finally:
        house.close()


def _doers() -> Doers:
    # Here, not above: a worker that runs nothing needs no Spark.
    from lakehold.workspaces import doing  # noqa: PLC0415

    return doing.DOERS
