"""Names for the editor's completion: the tables and fields that the member may read. Fields are loaded on demand."""

from typing import Annotated

from fastapi import Query, Response
from fastapi.responses import JSONResponse

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.directory.request_context import RequestContext
from lakehold.lake import readable_tables, table_views
from lakehold.lake.catalog_tokens import SYSTEM
from lakehold.runs import queries, system_table_schemas
from lakehold.web import table_pages
from lakehold.web.routing import router
from lakehold.workspaces import registry

routes = router("/workspaces")

_MOST_TABLES = 2_000
_MAX_TABLES_PER_REQUEST = 50


@routes.get("/{uid:path}/sql/names")
def known_names(ctx: ReadContext, uid: str) -> Response:
    """Return the layers and their tables as JSON."""
    place = queries.open_scope(ctx, uid)
    left = _MOST_TABLES
    layers = []
    for layer in readable_tables.list_containers(ctx, [place.name]):
        tables = readable_tables.list_tables(ctx, [place.name, layer.name])[:left] if left else []
        left -= len(tables)
        layers.append({"name": layer.name, "tables": [{"id": each.uid, "name": each.name} for each in tables]})
    own = [{"id": f"{SYSTEM}.{name}", "name": name} for name in system_table_schemas.visible_tables(ctx)]
    return JSONResponse({"layers": [*layers, {"name": SYSTEM, "tables": own}]})


@routes.get("/{uid:path}/sql/fields")
def known_fields(
    ctx: ReadContext,
    platform: CurrentPlatform,
    lake: CurrentLake,
    uid: str,
    table: Annotated[list[str] | None, Query(max_length=_MAX_TABLES_PER_REQUEST)] = None,
) -> Response:
    """Return the fields of some tables by table id as JSON. Tables that the caller may not read are left out."""
    queries.open_scope(ctx, uid)
    views = {each: table_views.view_of(ctx, each) for each in table or () if _may_read(ctx, each)}
    there = lake.metadata_locations(view.place for view in views.values()) if views else {}
    with platform.table_reads.take((ctx.caller.tenant, ctx.caller.member)):
        fields = {
            each: [(field.name, field.type) for field in view.load_metadata(there[view.place]).fields]
            for each, view in views.items()
            if view.place in there
        }
    for name, schema in system_table_schemas.visible_tables(ctx).items():
        if f"{SYSTEM}.{name}" in (table or ()):
            fields[f"{SYSTEM}.{name}"] = list(system_table_schemas.iceberg_fields(schema))
    named = {
        each: [{"name": name, "type": table_pages.sql_field_type(kind)} for name, kind in its]
        for each, its in fields.items()
    }
    return JSONResponse({"fields": named})


def _may_read(ctx: RequestContext, uid: str) -> bool:
    kind = ctx.session.read_view(lambda view: None if view.ids.get(uid) is None else view.kind(view.resource(uid)))
    action = registry.readable_kinds().get(kind or "")
    return action is not None and ctx.session.check(ctx.principal, action, uid)
