"""What the worker does: everything in the background, until it is told to stop."""

from __future__ import annotations

import signal
from threading import Event

from lakehold.api.frame import logs
from lakehold.cli.processes import lifeline
from lakehold.directory.installation import Installation
from lakehold.kit.settings import Settings
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
        Worker(house).run(stop)
    finally:
        house.close()
