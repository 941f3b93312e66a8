"""What the server does: requests, until it is told to stop."""

from __future__ import annotations

import os
import signal
import socket
import tempfile

from uvicorn import Server

from lakehold.api.frame import logs
from lakehold.api.frame.server import configured
from lakehold.cli.processes import lifeline
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.web import site


def run(settings: Settings, given: int | None = None) -> None:
    """Serve on the socket that was given, or on one of our own."""
    logs.install()
    lifeline.hold()
    platform = Platform(settings)
    platform.database.migrate()
    # Made here if it was not there, so that two servers that start at once do not each make one later.
    _ = platform.keys
    _keep_rough(settings)
    server = Server(configured(site.application(platform), settings))
    for number in (signal.SIGINT, signal.SIGTERM):
        # One that comes before uvicorn listens for it counts too. And when uvicorn has stopped, it passes the signal
        # on as if nobody had heard it.
        signal.signal(number, lambda *_: setattr(server, "should_exit", True))
    try:
        server.run(None if given is None else [socket.socket(fileno=given)])
    finally:
        platform.close()


def _keep_rough(settings: Settings) -> None:
    """Let what pages upload wait on the disk of the volumes. Where a machine keeps what is temporary, there may be
    little room, or it may be memory.
    """
    if "TMPDIR" not in os.environ:
        rough = settings.volumes_folder / ".rough"
        rough.mkdir(parents=True, exist_ok=True, mode=0o700)
        tempfile.tempdir = str(rough)
