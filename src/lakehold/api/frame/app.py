"""The application: one installation over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import sqlalchemy as sa
from anyio.to_thread import run_sync
from fastapi import APIRouter, FastAPI

from lakehold.api.frame import health, logs, openapi, problems
from lakehold.api.frame.callers import Callers, DirectoryCallers
from lakehold.api.frame.door import Door
from lakehold.api.frame.metrics import Metrics
from lakehold.directory.platform import Platform

_NOTED_EVERY = 20.0


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """While the application runs, it writes down now and then which tokens and sign-ins were used."""
    platform: Platform = app.state.platform
    writing = asyncio.create_task(_note_uses(platform))
    yield
    writing.cancel()
    await asyncio.wait([writing])
    await run_sync(_write_uses, platform)
    if lake := getattr(app.state, "lake", None):
        # Made by the first that asked for tables.
        lake.close()


async def _note_uses(platform: Platform) -> None:
    while True:
        await asyncio.sleep(_NOTED_EVERY)
        try:
            await run_sync(_write_uses, platform)
        except sa.exc.SQLAlchemyError:
            logs.errors.exception("uses were not written")


def _write_uses(platform: Platform) -> None:
    from lakehold.api.catalog import using  # noqa: PLC0415 - as below

    platform.last_used.flush(platform.database)
    using.write(platform)


def create_app(
    platform: Platform, routers: Iterable[APIRouter] | None = None, callers: Callers | None = None
) -> FastAPI:
    """The application of an installation. Whoever made the installation closes it."""
    app = assembled(routers)
    app.state.platform = platform
    app.state.callers = callers or DirectoryCallers()
    return app


def assembled(routers: Iterable[APIRouter] | None = None) -> FastAPI:
    """The application without an installation: enough to be described."""
    from lakehold.api import routers as ours  # noqa: PLC0415 - the list imports every endpoint, which import the frame

    app = FastAPI(
        title="Lakehold",
        version="1",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.metrics = Metrics()
    for router in (health.router, *(ours.ROUTERS if routers is None else routers)):
        app.include_router(router)
    problems.install(app)
    openapi.install(app)
    app.add_middleware(Door, metrics=app.state.metrics)
    return app
