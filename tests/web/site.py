"""The web app on made-up data, as an application and as a running server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from fastapi import APIRouter, FastAPI, Request

from lakehold.api.http.app import create_app
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.web import app_factory, patterns
from lakehold.web.navigation import Navigation


@contextmanager
def application(
    folder: Path,
    routers: Sequence[APIRouter] = (),
    around: Callable[[Request], Navigation] = lambda _request: patterns.NAVIGATION,
    address: str = "",
) -> Iterator[FastAPI]:
    """The application, with the sample navigation around its pages."""
    platform = Platform(Settings(data=folder, address=address))
    try:
        app = create_app(platform, routers)
        app_factory.install_web(app, load_navigation=around)
        yield app
    finally:
        platform.close()


@contextmanager
def running(app: FastAPI, config: uvicorn.Config | None = None) -> Iterator[str]:
    """Its address while it runs."""
    # Said to be TCP, so that asyncio sends a body at once: else it waits 40 ms for the receiver to confirm its head.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(128)
        server = uvicorn.Server(config or uvicorn.Config(app, log_config=None, access_log=False, lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{taken.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)
