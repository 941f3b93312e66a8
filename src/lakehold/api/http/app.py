"""Creates the FastAPI application of a platform, its server configuration and its OpenAPI document.

The document has every operation with examples of its bodies and responses, which are composed from those of the
fields, so that they cannot drift from the types.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import Any

import sqlalchemy as sa
import uvicorn
from anyio.to_thread import current_default_thread_limiter, run_sync
from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi

from lakehold.api.http import health, json_logging, problems
from lakehold.api.http.authentication import SESSION_COOKIE, Authenticator, find_caller
from lakehold.api.http.health import Metrics
from lakehold.api.http.middleware import RequestMiddleware
from lakehold.api.http.problems import FieldProblem, Giver, Problem
from lakehold.directory import audit_anchors
from lakehold.directory.platform import Platform
from lakehold.kit import certificates
from lakehold.kit.errors import LakeholdError
from lakehold.kit.settings import Settings
from lakehold.workspaces import registry

Schema = dict[str, Any]

_USAGE_INTERVAL, _AUDIT_INTERVAL = 20.0, 2.0
_DESCRIPTION = """Lakehold over HTTP. Every question is answered, and every change decided, by one access engine.

Errors are `application/problem+json` with a `code` for programs and a `hint` for people. Lists are paged by `after`
and `next`. A create may carry an `Idempotency-Key`; a change of what has an `ETag` needs `If-Match`. What the caller
may not see answers 404, like what does not exist."""

_SECURITY_SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "An API token: `lh_…`."},
    "live": {"type": "http", "scheme": "bearer", "description": "The secret of a live destination: `lhp_…`."},
    "session": {"type": "apiKey", "in": "cookie", "name": SESSION_COOKIE, "description": "The sign-in of the web app."},
}
_EXAMPLE_BY_TYPE: dict[str, object] = {"integer": 1, "number": 1.0, "boolean": True, "null": None, "object": {}}


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Have threads for what waits beside those for all else; write reads, anchors and usage until the end."""
    platform: Platform = app.state.platform
    current_default_thread_limiter().total_tokens += platform.slow_threads
    writers = ((_write_usage, _USAGE_INTERVAL), (_write_audit, _AUDIT_INTERVAL))
    tasks = [asyncio.create_task(_write_periodically(platform, write, interval)) for write, interval in writers]
    yield
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    for write, _ in writers:
        await run_sync(write, platform)
    if lake := getattr(app.state, "lake", None):
        # Made by the first that asked for tables.
        lake.close()


async def _write_periodically(platform: Platform, write: Callable[[Platform], object], interval: float) -> None:
    while True:
        await asyncio.sleep(interval)
        try:
            await run_sync(write, platform)
        except (sa.exc.SQLAlchemyError, OSError, LakeholdError):
            json_logging.error_log.exception("%s failed", write.__name__.strip("_"))


def _write_audit(platform: Platform) -> None:
    platform.reads.flush()
    audit_anchors.advance_anchors(platform)


def _write_usage(platform: Platform) -> None:
    from lakehold.api.catalog import resource_usage  # noqa: PLC0415 - as below

    platform.last_used.flush(platform.database)
    resource_usage.flush(platform)


def create_app(
    platform: Platform, routers: Iterable[APIRouter] | None = None, authenticator: Authenticator = find_caller
) -> FastAPI:
    """Create the application of a platform. The caller closes the platform."""
    app = assemble_app(routers)
    app.state.platform = platform
    app.state.find_caller = authenticator
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
    app.openapi = cache(partial(build_document, app))  # type: ignore[method-assign]
    app.add_middleware(RequestMiddleware, metrics=app.state.metrics)
    return app


def server_config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """Return the uvicorn configuration.

    Uvicorn's own access log is off, because it writes URLs, and URLs may hold the secret of a link. Forwarded headers
    are trusted from the configured proxies only.
    """
    trusted = settings.trusted_proxies
    if settings.certificate:
        certificates.refuse_unusable(settings.certificate, settings.certificate_key)
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
        ssl_certfile=settings.certificate or None,
        ssl_keyfile=settings.certificate_key or None,
    )


def openapi_text() -> str:
    """Return the text of `docs/openapi.json`."""
    return json.dumps(assemble_app().openapi(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def build_document(app: FastAPI) -> dict[str, Any]:
    """Build the document, with security, problems and examples."""
    spec = get_openapi(title=app.title, version=app.version, description=_DESCRIPTION, routes=app.routes)
    components = spec.setdefault("components", {})
    components["securitySchemes"] = _SECURITY_SCHEMES
    schemas = components.setdefault("schemas", {})
    for model in (Problem, FieldProblem, Giver):
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
        schema.pop("$defs", None)
        schemas[model.__name__] = schema
    for kind, found in registry.settings_schemas().items():
        schema = found.json_schema("#/components/schemas/{model}")
        schemas |= schema.pop("$defs", {})
        schemas[f"settings.{kind}"] = schema
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    for media in _media_types(spec):
        media.setdefault("example", example_of(media["schema"], schemas))
    return spec


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield every operation with its path and method."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def _media_types(document: Mapping[str, Any]) -> Iterator[Schema]:
    for _, _, operation in operations(document):
        for part in (operation.get("requestBody"), *operation["responses"].values()):
            for media in (part or {}).get("content", {}).values():
                if "schema" in media:
                    yield media


def example_of(schema: Schema, schemas: Mapping[str, Schema]) -> Any:  # noqa: ANN401 - any JSON
    """Compose an example of a schema from the examples of its parts."""
    if "$ref" in schema:
        return example_of(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    for ready in ("example", "const", "default"):
        if schema.get(ready) is not None:
            return schema[ready]
    for several in ("examples", "enum"):
        if schema.get(several):
            return schema[several][0]
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return example_of(schema[choice][0], schemas)
    match schema.get("type"):
        case "array":
            return [example_of(schema["items"], schemas)] if schema.get("items") else []
        case "object" if "properties" in schema:
            return {name: example_of(part, schemas) for name, part in schema["properties"].items()}
        case found:
            return _EXAMPLE_BY_TYPE.get(found or "null", "…")
