"""Creates the FastAPI application of a platform, its server configuration and its OpenAPI file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import cache, partial

import sqlalchemy as sa
import uvicorn
from anyio.to_thread import run_sync
from fastapi import APIRouter, FastAPI

from lakehold.api.http import health, json_logging, openapi, problems
from lakehold.api.http.authentication import Authenticator, DirectoryAuthenticator
from lakehold.api.http.health import Metrics
from lakehold.api.http.middleware import RequestMiddleware
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings

_USAGE_INTERVAL = 20.0


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Write token and sign-in usage periodically while the application runs."""
    platform: Platform = app.state.platform
    usage_task = asyncio.create_task(_write_usage_periodically(platform))
    yield
    usage_task.cancel()
    await asyncio.wait([usage_task])
    await run_sync(_write_usage, platform)
    if lake := getattr(app.state, "lake", None):
        # Made by the first that asked for tables.
        lake.close()


async def _write_usage_periodically(platform: Platform) -> None:
    while True:
        await asyncio.sleep(_USAGE_INTERVAL)
        try:
            await run_sync(_write_usage, platform)
        except sa.exc.SQLAlchemyError:
            json_logging.error_log.exception("uses were not written")


def _write_usage(platform: Platform) -> None:
    from lakehold.api.catalog import resource_usage  # noqa: PLC0415 - as below

    platform.last_used.flush(platform.database)
    resource_usage.flush(platform)


def create_app(
    platform: Platform, routers: Iterable[APIRouter] | None = None, authenticator: Authenticator | None = None
) -> FastAPI:
    """Create the application of a platform. The caller closes the platform."""
    app = assemble_app(routers)
    app.state.platform = platform
    app.state.callers = authenticator or DirectoryAuthenticator()
    return app


def assemble_app(routers: Iterable[APIRouter] | None = None) -> FastAPI:
    """Create the application without a platform: enough to generate its OpenAPI document."""
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
    problems.install_handlers(app)
    app.openapi = cache(partial(openapi.build_document, app))  # type: ignore[method-assign]
    app.add_middleware(RequestMiddleware, metrics=app.state.metrics)
    return app


def openapi_text() -> str:
    """Return the text of `docs/openapi.json`."""
    return json.dumps(assemble_app().openapi(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def server_config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """Return the uvicorn configuration.

    Uvicorn's own access log is off, because it writes URLs, and URLs may hold the secret of a link. Forwarded headers
    are trusted from the configured proxies only.
    """
    trusted = settings.trusted_proxies
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=bool(trusted),
        forwarded_allow_ips=[address.strip() for address in trusted.split(",") if address.strip()],
        timeout_graceful_shutdown=10,
    )
