"""The views of the rows of a table: its fields, and a sample."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.previews import PreviewOptions, read_preview
from lakehold.lake.table_metadata import IcebergMetadata
from lakehold.web import pages
from lakehold.web.labels import format_count
from lakehold.web.routing import router
from lakehold.web.runs import labels
from lakehold.web.tables import grids
from lakehold.web.tables.grids import Grid
from lakehold.web.tables.page_frame import current_metadata, need_rows, table_frame
from lakehold.workspaces.descriptor import RUNS_PAGE
from lakehold.workspaces.registry import describe_kind, readable_kinds

routes = router("/resources")

_ROWS = 100


@routes.get("/{uid:path}/fields")
def table_fields(request: Request, ctx: ReadContext, lake: CurrentLake, uid: str) -> Response:
    """Render name, type and description of each field."""
    found = need_rows(ctx, uid)
    now = current_metadata(ctx, lake, uid)
    fields = [(field, grids.sql_field_type(field.type)) for field in (now.fields if now else ())]
    return _page(request, ctx, found, "fields", {"fields": fields, "stats": _stats(now)})


@routes.get("/{uid:path}/sample")
def table_sample(
    request: Request, ctx: ReadContext, platform: CurrentPlatform, lake: CurrentLake, uid: str
) -> Response:
    """Render the first rows, read without Spark."""
    found = need_rows(ctx, uid)
    values: dict[str, object] = {"grid": None, "more": False, "now": None, "trouble": None, "viewing": False}
    if ctx.caller.impersonator:
        return _page(request, ctx, found, "sample", values | {"viewing": True})
    values["now"] = now = current_metadata(ctx, lake, uid)
    if now is not None:
        resource_usage.record(platform, ctx, readable_kinds()[found.kind], uid)
        try:
            values["grid"], values["more"] = _sample(ctx, lake, uid)
        except LakeholdError as error:
            values["trouble"] = error
    return _page(request, ctx, found, "sample", values)


def _page(request: Request, ctx: RequestContext, found: ResourceView, part: str, values: dict[str, object]) -> Response:
    has_runs = RUNS_PAGE in describe_kind(found.kind).pages
    frame = table_frame(ctx, found, part) | {"has_runs": has_runs}
    return pages.render(request, f"tables/{part}.html", frame | values)


def _sample(ctx: RequestContext, lake: IcebergCatalog, uid: str) -> tuple[Grid, bool]:
    found = read_preview(lake, readable_tables.identifier_of(ctx, uid), PreviewOptions(rows=_ROWS))
    return grids.build_grid(found.rows.schema, found.rows.to_batches()), found.more


def _stats(now: IcebergMetadata | None) -> list[tuple[str, str]]:
    if now is None or now.current is None:
        return []
    current = now.current
    return [
        ("Fields", format_count(len(now.fields))),
        ("Rows", format_count(current.count("total-records"))),
        ("Size", labels.format_size(current.count("total-files-size"))),
        ("Files", format_count(current.count("total-data-files"))),
    ]
