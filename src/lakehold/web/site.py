"""The whole application: REST and pages in one process, at one address."""

from __future__ import annotations

from fastapi import FastAPI

from lakehold.api.http.app import create_app
from lakehold.directory.platform import Platform
from lakehold.web import shell
from lakehold.web.around import around
from lakehold.web.resources.finding import finder
from lakehold.web.routers import ROUTERS


def application(platform: Platform) -> FastAPI:
    """REST and pages of an installation."""
    app = create_app(platform)
    shell.install(app, around, finder)
    for router in ROUTERS:
        app.include_router(router)
    return app
