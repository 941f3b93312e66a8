"""The server process: answers requests until it is stopped."""

import os
import signal
import socket
import tempfile

from uvicorn import Server

from lakehold import workspaces
from lakehold.api.http import json_logging
from lakehold.api.http.app import server_config
from lakehold.catalog import credentials
from lakehold.directory import model_upgrade
from lakehold.directory.platform import Platform
from lakehold.kit import parent_watch
from lakehold.kit.settings import Settings
from lakehold.lake import iceberg_catalog
from lakehold.web import app_factory


def run(settings: Settings, descriptor: int | None = None) -> None:
    """Serve on the given socket, or on one of its own."""
    json_logging.configure_logging()
    parent_watch.watch_parent()
    platform = Platform(settings)
    model_upgrade.migrate(platform, workspaces.models())
    iceberg_catalog.refuse_foreign_warehouse(platform.settings)
    credentials.protect_headers(platform)
    # Made here if it was not there, so that two servers that start at once do not each make one later.
    _ = platform.keys
    _set_upload_folder(settings)
    server = Server(server_config(app_factory.create_web_app(platform), settings))
    for number in (signal.SIGINT, signal.SIGTERM):
        # One that comes before uvicorn listens for it counts too. And when uvicorn has stopped, it passes the signal
        # on as if nobody had heard it.
        signal.signal(number, lambda *_: setattr(server, "should_exit", True))
    try:
        server.run(None if descriptor is None else [socket.socket(fileno=descriptor)])
    finally:
        platform.close()


def _set_upload_folder(settings: Settings) -> None:
    """Let uploads be buffered on the disk of the volumes: the system's temporary folder may be small, or memory."""
    if "TMPDIR" not in os.environ:
        folder = settings.volumes_folder / ".rough"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        tempfile.tempdir = str(folder)
