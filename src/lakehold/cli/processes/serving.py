"""What the server does: requests, until it is told to stop."""

from __future__ import annotations

import signal
import socket

from uvicorn import Server

from lakehold.api.frame import logs
from lakehold.api.frame.server import configured
from lakehold.cli.processes import lifeline
from lakehold.directory.installation import Installation
from lakehold.kit.settings import Settings
from lakehold.web import site


def run(settings: Settings, given: int | None = None) -> None:
    """Serve on the socket that was given, or on one of our own."""
    logs.install()
    lifeline.hold()
    house = Installation(settings)
    house.database.migrate()
    # Made here if it was not there, so that two servers that start at once do not each make one later.
    _ = house.keys
    for number in (signal.SIGINT, signal.SIGTERM):
        # uvicorn stops, and then passes the signal on as if nobody had heard it.
        signal.signal(number, lambda *_: None)
    try:
        server = Server(configured(site.application(house), settings))
        server.run(None if given is None else [socket.socket(fileno=given)])
    finally:
        house.close()
