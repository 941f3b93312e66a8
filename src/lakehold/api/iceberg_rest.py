"""The Iceberg REST catalog under `/iceberg/v1`: each token sees and loads just the tables that its member may read.

It also guards every user's Spark session: however a query names a table, Spark asks here for it. Only the endpoints
that read are served; those that write are refused. A namespace is a workspace, or a layer in one. A client that names
a workspace as its warehouse gets the layers of that workspace alone, without the workspace's name before them.
"""

import json
from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote, unquote

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from lakehold.api.http.authentication import read_credentials
from lakehold.api.http.dependencies import ReadContext, get_platform
from lakehold.api.http.problems import ERROR_FORMATS, Problem
from lakehold.api.http.routing import TransactionRoute
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ForbiddenError, InvalidInputError, NotFoundError
from lakehold.lake import catalog_tokens, readable_tables, table_metadata, table_views
from lakehold.lake.catalog_tokens import SYSTEM
from lakehold.lake.errors import SourceClosedError
from lakehold.lake.iceberg_catalog import IcebergCatalog

PREFIX = "/iceberg/v1"

_EXCEPTION_BY_STATUS = {
    HTTPStatus.UNAUTHORIZED: "NotAuthorizedException",
    HTTPStatus.FORBIDDEN: "ForbiddenException",
    HTTPStatus.CONFLICT: "CommitFailedException",
    HTTPStatus.TOO_MANY_REQUESTS: "SlowDownException",
    HTTPStatus.SERVICE_UNAVAILABLE: "ServiceUnavailableException",
}


def iceberg_error_response(problem: Problem, path: str) -> Response:
    """Return a problem in the error format of Iceberg REST, with the exception that clients raise for it."""
    status = 400 if problem.status == HTTPStatus.UNPROCESSABLE_ENTITY else problem.status
    name = _EXCEPTION_BY_STATUS.get(HTTPStatus(status), "BadRequestException")
    if status == HTTPStatus.NOT_FOUND:
        part = "Table" if "/tables/" in path else "View" if "/views/" in path else "Namespace"
        name = f"NoSuch{part}Exception"
    error = {"message": f"{problem.detail} {problem.hint}".strip(), "type": name, "code": status}
    return JSONResponse({"error": error}, status_code=status)


ERROR_FORMATS[f"{PREFIX}/"] = iceberg_error_response


def encode_prefix(name: str) -> str:
    """Encode a workspace's name as a prefix, which clients put into URLs without quoting it."""
    return quote(name, safe="").replace("~", "%7E").replace(".", "%2E").replace("%", "~")


def decode_prefix(text: str) -> str:
    """Decode the name of a prefix."""
    return unquote(text.replace("~", "%"))


routes = APIRouter(prefix=PREFIX, route_class=TransactionRoute, include_in_schema=False)

_NAMESPACE_SEPARATOR = "\x1f"
_MAX_NAME_LENGTH = 4_000
_SYSTEM_PATH_LENGTHS = (2, 3)
_ENDPOINTS = [
    "GET /v1/{prefix}/namespaces",
    "GET /v1/{prefix}/namespaces/{namespace}",
    "HEAD /v1/{prefix}/namespaces/{namespace}",
    "GET /v1/{prefix}/namespaces/{namespace}/tables",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}",
]

PathText = Annotated[str, Path(max_length=_MAX_NAME_LENGTH)]
QueryText = Annotated[str, Query(max_length=_MAX_NAME_LENGTH)]


def get_lake(request: Request) -> IcebergCatalog:
    """Return the application's catalog database; it is opened on first use."""
    state = request.app.state
    if not hasattr(state, "lake"):
        state.lake = IcebergCatalog(get_platform(request).settings)
    lake: IcebergCatalog = state.lake
    return lake


CurrentLake = Annotated[IcebergCatalog, Depends(get_lake)]


@routes.get("/config")
def iceberg_config(ctx: ReadContext, warehouse: QueryText = "") -> Response:
    """Return the configuration of a client."""
    readable_tables.refuse_impersonation(ctx)
    overrides = {}
    if warehouse:
        readable_tables.list_containers(ctx, _parse_namespace(warehouse))
        overrides = {"prefix": encode_prefix(warehouse)}
    return JSONResponse({"defaults": {}, "overrides": overrides, "endpoints": _ENDPOINTS})


async def _workspace_prefix(request: Request) -> tuple[str, ...]:
    prefix = request.path_params.get("prefix")
    return () if prefix is None else _parse_namespace(decode_prefix(prefix))


Workspace = Annotated[tuple[str, ...], Depends(_workspace_prefix)]
"""The workspace, or the path to a container in it, that the client has named as its warehouse, if it has: it stands
before all namespaces."""


@routes.get("/{prefix}/namespaces")  # noqa: FAST003 - `Workspace` reads it
@routes.get("/namespaces")
def iceberg_namespaces(ctx: ReadContext, workspace: Workspace, parent: QueryText = "") -> Response:
    """List the workspaces, or the namespaces in one of them."""
    readable_tables.refuse_impersonation(ctx)
    path = _parse_namespace(parent) if parent else ()
    found = readable_tables.list_containers(ctx, (*workspace, *path))
    return JSONResponse({"namespaces": [[*path, each.name] for each in found]})


# What people call things may have slashes in it; then there is nothing of that name, and that is all.


@routes.get("/{prefix}/namespaces/{namespace:path}/tables")  # noqa: FAST003 - as above
@routes.get("/namespaces/{namespace:path}/tables")
def iceberg_tables(ctx: ReadContext, lake: CurrentLake, workspace: Workspace, namespace: PathText) -> Response:
    """List the tables that the caller may read."""
    readable_tables.refuse_impersonation(ctx)
    path = _parse_namespace(namespace)
    found = readable_tables.list_tables(ctx, (*workspace, *path))
    places = readable_tables.find_source_places(ctx, (each.uid for each in found))
    there = lake.metadata_locations(places.values())
    named = [each.name for each in found if places.get(each.uid) in there]
    return JSONResponse({"identifiers": [{"namespace": list(path), "name": name} for name in named]})


@routes.api_route("/{prefix}/namespaces/{namespace:path}/tables/{table:path}", methods=["GET", "HEAD"])
@routes.api_route("/namespaces/{namespace:path}/tables/{table:path}", methods=["GET", "HEAD"])
def iceberg_table(
    ctx: ReadContext, request: Request, lake: CurrentLake, workspace: Workspace, namespace: PathText, table: PathText
) -> Response:
    """Load the metadata of a table."""
    readable_tables.refuse_impersonation(ctx)
    path = (*workspace, *_parse_namespace(namespace), table)
    location = _system_table_location(ctx, request, path)
    if location:
        metadata = table_metadata.read_metadata_file(location)
    else:
        location, metadata = _load_lake_table(ctx, request, lake, path)
    head = json.dumps({"metadata-location": location, "config": {}})
    # The file is part of the answer as it is: to read and write it anew would take longer than all the rest.
    body = b'%s, "metadata": %s}' % (head[:-1].encode(), metadata)
    return Response(body, media_type="application/json")


@routes.api_route("/{path:path}/views", methods=["GET", "HEAD"])
def iceberg_views(ctx: ReadContext, path: str) -> Response:  # noqa: ARG001 - the namespace does not matter
    """Return no views."""
    readable_tables.refuse_impersonation(ctx)
    return JSONResponse({"identifiers": []})


@routes.api_route("/{path:path}/views/{view:path}", methods=["GET", "HEAD"])
def iceberg_view(ctx: ReadContext, path: str, view: PathText) -> Response:  # noqa: ARG001 - as above
    """Answer that the view does not exist."""
    readable_tables.refuse_impersonation(ctx)
    raise NotFoundError(f"There is no view {view[:80]!r}.")


@routes.api_route("/{prefix}/namespaces/{namespace:path}", methods=["GET", "HEAD"])
@routes.api_route("/namespaces/{namespace:path}", methods=["GET", "HEAD"])
def iceberg_namespace(ctx: ReadContext, workspace: Workspace, namespace: PathText) -> Response:
    """Return a namespace."""
    readable_tables.refuse_impersonation(ctx)
    path = _parse_namespace(namespace)
    readable_tables.list_containers(ctx, (*workspace, *path))
    return JSONResponse({"namespace": list(path), "properties": {}})


@routes.post("/{path:path}/metrics")
def iceberg_metrics(ctx: ReadContext, path: str) -> Response:  # noqa: ARG001 - the table does not matter
    """Accept the scan metrics of a client, and ignore them."""
    readable_tables.refuse_impersonation(ctx)
    return Response(status_code=HTTPStatus.NO_CONTENT)


@routes.api_route("/{path:path}", methods=["POST", "PUT", "PATCH", "DELETE"])
def iceberg_write(ctx: ReadContext, path: str) -> Response:
    """Refuse writes."""
    readable_tables.refuse_impersonation(ctx)
    raise ForbiddenError(
        f"This catalog is read only; {path[:80]!r} was not changed.",
        "Write with a source, a query or a history of Lakehold.",
    )


def is_worker(request: Request) -> bool:
    """Return whether a worker's own Spark asks, whose query or run says itself what it reads."""
    return hasattr(request.app.state, "system")


def _load_lake_table(
    ctx: RequestContext, request: Request, lake: IcebergCatalog, path: tuple[str, ...]
) -> tuple[str, bytes]:
    """Return where the metadata of a table is, and the part of it that the caller may read."""
    *before, table = path
    uid = readable_tables.resolve_table(ctx, before, table)
    if is_worker(request):
        catalog_tokens.record_loaded_table(read_credentials(request).token, uid)
    elif request.method != "HEAD":
        get_platform(request).record_read(ctx.caller, "load table", uid)
    try:
        view = table_views.view_of(ctx, uid)
    except SourceClosedError:
        raise NotFoundError(f"There is no table {table[:80]!r}.", "Check the name in the catalog.") from None
    location = lake.metadata_location(view.place)
    if location is None:
        raise NotFoundError(f"The table {table[:80]!r} has no data yet.", "Run the pipeline that fills it.")
    return location, view.read_metadata_file(location)


def _system_table_location(ctx: RequestContext, request: Request, path: tuple[str, ...]) -> str | None:
    """Return the location of a system table; only a worker has them, for its own queries."""
    system = getattr(request.app.state, "system", None)
    # Behind the name of a workspace, or alone.
    if system is None or len(path) not in _SYSTEM_PATH_LENGTHS or path[-2].lower() != SYSTEM:
        return None
    token = read_credentials(request).token
    location: str = system.load(ctx, token, path[-1])
    catalog_tokens.record_loaded_table(token, f"{SYSTEM}.{path[-1].lower()}")
    return location


def _parse_namespace(namespace: str) -> tuple[str, ...]:
    parts = tuple(namespace.split(_NAMESPACE_SEPARATOR))
    if not all(parts):
        raise InvalidInputError("A namespace has an empty part.", "Write workspace, or workspace and layer.")
    return parts
