"""The endpoints of the standard: config, namespaces, tables, load.

A namespace is a workspace, or a layer in one. A client that names a workspace as its warehouse gets the layers of that
workspace alone, without its name before them.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from lakehold.api.frame.callers import shown_by
from lakehold.api.frame.routes import Route
from lakehold.api.frame.works import Reading, house_of
from lakehold.api.iceberg.shapes import PREFIX, in_address, out_of_address
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ForbiddenError, InvalidInputError, NotFoundError
from lakehold.lake import catalog_tokens, readable_tables, table_metadata
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.system_tables import SYSTEM

routes = APIRouter(prefix=PREFIX, route_class=Route, include_in_schema=False)

_BETWEEN = "\x1f"
_LONGEST = 4_000
_OF_SYSTEM = (2, 3)
_ENDPOINTS = [
    "GET /v1/{prefix}/namespaces",
    "GET /v1/{prefix}/namespaces/{namespace}",
    "HEAD /v1/{prefix}/namespaces/{namespace}",
    "GET /v1/{prefix}/namespaces/{namespace}/tables",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}",
]

Text = Annotated[str, Path(max_length=_LONGEST)]


def lake_of(request: Request) -> IcebergCatalog:
    """The catalog's own database; one for the application."""
    state = request.app.state
    if not hasattr(state, "lake"):
        state.lake = IcebergCatalog(house_of(request).settings)
    lake: IcebergCatalog = state.lake
    return lake


InLake = Annotated[IcebergCatalog, Depends(lake_of)]


@routes.get("/config")
def iceberg_config(ctx: Reading, warehouse: Annotated[str, Query(max_length=_LONGEST)] = "") -> Response:
    """What a client has to know before it asks for anything."""
    readable_tables.refuse_impersonation(ctx)
    overrides = {}
    if warehouse:
        readable_tables.list_containers(ctx, (warehouse,))
        overrides = {"prefix": in_address(warehouse)}
    return _json({"defaults": {}, "overrides": overrides, "endpoints": _ENDPOINTS})


@routes.get("/namespaces")
def iceberg_namespaces(ctx: Reading, parent: Annotated[str, Query(max_length=_LONGEST)] = "") -> Response:
    """The workspaces, or what lies in one of them."""
    return _namespaces(ctx, (), parent)


@routes.get("/{prefix}/namespaces")
def iceberg_namespaces_of(
    ctx: Reading, prefix: Text, parent: Annotated[str, Query(max_length=_LONGEST)] = ""
) -> Response:
    """The layers of one workspace."""
    return _namespaces(ctx, (out_of_address(prefix),), parent)


# What people call things may have slashes in it; then there is nothing of that name, and that is all.


@routes.get("/namespaces/{namespace:path}/tables")
def iceberg_tables(ctx: Reading, lake: InLake, namespace: Text) -> Response:
    """The tables that the caller may read."""
    return _tables(ctx, lake, (), namespace)


@routes.get("/{prefix}/namespaces/{namespace:path}/tables")
def iceberg_tables_of(ctx: Reading, lake: InLake, prefix: Text, namespace: Text) -> Response:
    """The tables of one layer that the caller may read."""
    return _tables(ctx, lake, (out_of_address(prefix),), namespace)


@routes.api_route("/namespaces/{namespace:path}/tables/{table:path}", methods=["GET", "HEAD"])
def iceberg_table(ctx: Reading, request: Request, lake: InLake, namespace: Text, table: Text) -> Response:
    """One table: where its files are, and all that Iceberg knows of it."""
    return _table(ctx, request, lake, (*_parts(namespace), table))


@routes.api_route("/{prefix}/namespaces/{namespace:path}/tables/{table:path}", methods=["GET", "HEAD"])
def iceberg_table_of(
    ctx: Reading, request: Request, lake: InLake, prefix: Text, namespace: Text, table: Text
) -> Response:
    """One table of one workspace."""
    return _table(ctx, request, lake, (out_of_address(prefix), *_parts(namespace), table))


@routes.api_route("/{path:path}/views", methods=["GET", "HEAD"])
def iceberg_views(ctx: Reading, path: str) -> Response:  # noqa: ARG001 - of which namespace is not asked
    """There are no views."""
    readable_tables.refuse_impersonation(ctx)
    return _json({"identifiers": []})


@routes.api_route("/{path:path}/views/{view:path}", methods=["GET", "HEAD"])
def iceberg_view(ctx: Reading, path: str, view: Text) -> Response:  # noqa: ARG001 - as above
    """There are no views."""
    readable_tables.refuse_impersonation(ctx)
    raise NotFoundError(f"There is no view {view[:80]!r}.")


@routes.api_route("/namespaces/{namespace:path}", methods=["GET", "HEAD"])
def iceberg_namespace(ctx: Reading, namespace: Text) -> Response:
    """One namespace."""
    return _namespace(ctx, (), namespace)


@routes.api_route("/{prefix}/namespaces/{namespace:path}", methods=["GET", "HEAD"])
def iceberg_namespace_of(ctx: Reading, prefix: Text, namespace: Text) -> Response:
    """One layer of one workspace."""
    return _namespace(ctx, (out_of_address(prefix),), namespace)


@routes.post("/{path:path}/metrics")
def iceberg_metrics(ctx: Reading, path: str) -> Response:  # noqa: ARG001 - of which table is not asked
    """Clients tell how a scan went; it is not kept."""
    readable_tables.refuse_impersonation(ctx)
    return Response(status_code=HTTPStatus.NO_CONTENT)


@routes.api_route("/{path:path}", methods=["POST", "PUT", "PATCH", "DELETE"])
def iceberg_write(ctx: Reading, path: str) -> Response:
    """Other engines read here; they do not write."""
    readable_tables.refuse_impersonation(ctx)
    raise ForbiddenError(
        f"This catalog is read only; {path[:80]!r} was not changed.",
        "Write with a source, a query or a history of Lakehold.",
    )


def _namespaces(ctx: RequestContext, before: tuple[str, ...], parent: str) -> Response:
    readable_tables.refuse_impersonation(ctx)
    path = _parts(parent) if parent else ()
    found = readable_tables.list_containers(ctx, (*before, *path))
    return _json({"namespaces": [[*path, each.name] for each in found]})


def _namespace(ctx: RequestContext, before: tuple[str, ...], namespace: str) -> Response:
    readable_tables.refuse_impersonation(ctx)
    path = _parts(namespace)
    readable_tables.list_containers(ctx, (*before, *path))
    return _json({"namespace": list(path), "properties": {}})


def _tables(ctx: RequestContext, lake: IcebergCatalog, before: tuple[str, ...], namespace: str) -> Response:
    readable_tables.refuse_impersonation(ctx)
    path = _parts(namespace)
    found = readable_tables.list_tables(ctx, (*before, *path))
    places = {readable_tables.identifier_of(ctx, each.uid): each for each in found}
    there = lake.metadata_locations(places)
    named = [each.name for place, each in places.items() if place in there]
    return _json({"identifiers": [{"namespace": list(path), "name": name} for name in named]})


def _table(ctx: RequestContext, request: Request, lake: IcebergCatalog, path: tuple[str, ...]) -> Response:
    readable_tables.refuse_impersonation(ctx)
    location = _of_system(ctx, request, path) or _of_lake(ctx, request, lake, path)
    head = json.dumps({"metadata-location": location, "config": {}})
    # The file is part of the answer as it is: to read and write it anew would take longer than all the rest.
    body = b'%s, "metadata": %s}' % (head[:-1].encode(), table_metadata.read_metadata_file(location))
    return Response(body, media_type="application/json")


def _of_lake(ctx: RequestContext, request: Request, lake: IcebergCatalog, path: tuple[str, ...]) -> str:
    *before, table = path
    uid = readable_tables.resolve_table(ctx, before, table)
    catalog_tokens.record_loaded_table(shown_by(request).token, uid)
    location = lake.metadata_location(readable_tables.identifier_of(ctx, uid))
    if location is None:
        raise NotFoundError(f"The table {table[:80]!r} has no data yet.", "Run what fills it.")
    return location


def _of_system(ctx: RequestContext, request: Request, path: tuple[str, ...]) -> str | None:
    """What the platform tells of itself; only a worker has it, for queries that are asked there."""
    system = getattr(request.app.state, "system", None)
    # Behind the name of a workspace, or alone.
    if system is None or len(path) not in _OF_SYSTEM or path[-2].lower() != SYSTEM:
        return None
    location: str = system.load(ctx, shown_by(request).token, path[-1])
    return location


def _parts(namespace: str) -> tuple[str, ...]:
    parts = tuple(namespace.split(_BETWEEN))
    if not all(parts):
        raise InvalidInputError("A namespace has an empty part.", "Write workspace, or workspace and layer.")
    return parts


def _json(content: object) -> Response:
    return Response(json.dumps(content), media_type="application/json")
