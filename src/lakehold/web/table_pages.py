"""The views of the rows of a table: its fields, and a sample."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import pyarrow as pa
from fastapi import Request, Response
from pyarrow import types

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog import resources
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError, NotFoundError, UnavailableError
from lakehold.kit.ids import quote
from lakehold.lake import row_formats, table_views
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.previews import PreviewOptions, read_preview
from lakehold.lake.table_metadata import IcebergMetadata
from lakehold.runs import queries
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.labels import humanize
from lakehold.web.routing import router
from lakehold.workspaces.descriptor import RUNS_PAGE
from lakehold.workspaces.registry import describe_kind, readable_kinds


def need_rows(ctx: RequestContext, uid: str) -> ResourceView:
    """Return a resource with rows, if the caller may read them."""
    found = resources.get(ctx, uid)
    if found.kind not in readable_kinds():
        raise NotFoundError(f"There is no table {quote(uid)}.", "Check the name in the catalog.")
    ctx.need(readable_kinds()[found.kind], uid)
    return found


def table_frame(ctx: RequestContext, found: ResourceView, part: str) -> dict[str, object]:
    """Return the template values that all views of a table share."""
    label = kind_pages.page_label(found.kind, part) or humanize(part)
    return {
        "crumbs": resource_header.breadcrumbs(ctx, found.uid, label),
        "found": found,
        "tabs": resource_header.tabs(ctx, found.uid),
        "tab": urls.resource(found.uid, part),
        "ask": _query_url(ctx, found),
        "has_runs": RUNS_PAGE in describe_kind(found.kind).pages,
    }


def current_metadata(ctx: RequestContext, lake: IcebergCatalog, uid: str) -> IcebergMetadata | None:
    """Return the metadata of the table as the caller may see it, or None if nothing was written yet."""
    try:
        return table_views.view_of(ctx, uid).current_metadata(lake)
    except OSError as error:
        raise UnavailableError("Files of the table are missing.", "Ask an admin to check the storage.") from error


def _query_url(ctx: RequestContext, found: ResourceView) -> str:
    """Return the address of the SQL editor for this table, or an empty string if the caller may not query."""
    space = found.workspace
    if space is None or not queries.may_query(ctx, space.uid):
        return ""
    return f"{urls.workspace(space.uid, 'sql')}?{urlencode({'table': found.uid})}"


routes = router("/resources")

_ROWS = 100


@routes.get("/{uid:path}/fields")
def table_fields(request: Request, ctx: ReadContext, lake: CurrentLake, uid: str) -> Response:
    """Render name, type and description of each field."""
    found = need_rows(ctx, uid)
    values: dict[str, object] = {"now": current_metadata(ctx, lake, uid), "sql_type": sql_field_type}
    return pages.render(request, "tables/fields.html", table_frame(ctx, found, "fields") | values)


@routes.get("/{uid:path}/sample")
def table_sample(
    request: Request, ctx: ReadContext, platform: CurrentPlatform, lake: CurrentLake, uid: str
) -> Response:
    """Render the first rows, read without Spark."""
    found = need_rows(ctx, uid)
    viewing = bool(ctx.caller.impersonator)
    now = None if viewing else current_metadata(ctx, lake, uid)
    values: dict[str, object] = {"grid": None, "more": False, "now": now, "trouble": None, "viewing": viewing}
    if now is not None:
        resource_usage.record(platform, ctx, readable_kinds()[found.kind], uid)
        platform.record_read(ctx.caller, "preview", uid)
        try:
            view = table_views.view_of(ctx, uid)
            with platform.table_reads.take((ctx.caller.tenant, ctx.caller.member)):
                preview = read_preview(lake, view.place, PreviewOptions(rows=_ROWS, hidden=view.hidden))
            values["grid"] = build_grid(preview.rows.schema, preview.rows.to_batches())
            values["more"] = preview.more
        except LakeholdError as error:
            values["trouble"] = error
    return pages.render(request, "tables/sample.html", table_frame(ctx, found, "sample") | values)


_LONGEST = 400
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_ICEBERG = {"long": "bigint", "list": "array", "timestamptz": "timestamp", "timestamp": "timestamp_ntz"}
_SIMPLE = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "bool": "boolean",
    "large_string": "string",
    "large_binary": "binary",
    "date32[day]": "date",
    "null": "void",
}


@dataclass(frozen=True, slots=True)
class GridColumn:
    """A column of a grid."""

    name: str
    type: str
    """In SQL."""

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, which are aligned to the right."""
        return self.type.startswith(_NUMBERS) and "<" not in self.type


@dataclass(frozen=True, slots=True)
class GridCell:
    """The text of a cell. Null differs from an empty text."""

    text: str
    is_null: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """Columns and rows of a grid."""

    columns: list[GridColumn]
    rows: list[list[GridCell]]


def build_grid(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Grid:
    """Build a grid of Arrow batches."""
    columns = [GridColumn(field.name, sql_type_name(field.type)) for field in schema]
    rows_as_cells = [
        [format_cell(value) for value in row]
        for batch in batches
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    ]
    return Grid(columns, rows_as_cells)


def sample_grid(fields: Iterable[Mapping[str, Any]], rows: Iterable[Sequence[Any]]) -> Grid:
    """Build a grid of the rows that a probe has found, whose fields have a name and a type in SQL."""
    columns = [GridColumn(str(field["name"]), str(field["type"])) for field in fields]
    return Grid(columns, [[format_cell(value) for value in row[: len(columns)]] for row in rows])


def format_cell(value: object) -> GridCell:
    """Format a value. A long one is cut; the download has it whole."""
    match value:
        case None:
            return GridCell("", is_null=True)
        case bool():
            return GridCell("true" if value else "false")
        case datetime():
            return GridCell(value.isoformat(" "))
    plain = row_formats.to_json_value(value)
    text = json.dumps(plain, ensure_ascii=False) if isinstance(plain, list | dict) else str(plain)
    return GridCell(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


def sql_type_name(kind: pa.DataType) -> str:
    """Return the SQL name of an Arrow type."""
    if types.is_decimal(kind):
        return f"decimal({kind.precision}, {kind.scale})"
    if types.is_timestamp(kind):
        return "timestamp" if kind.tz else "timestamp_ntz"
    if types.is_list(kind) or types.is_large_list(kind):
        return f"array<{sql_type_name(kind.value_type)}>"
    if types.is_map(kind):
        return f"map<{sql_type_name(kind.key_type)}, {sql_type_name(kind.item_type)}>"
    if types.is_struct(kind):
        return f"struct<{', '.join(f'{field.name}: {sql_type_name(field.type)}' for field in kind)}>"
    return _SIMPLE.get(str(kind), str(kind))


def sql_field_type(iceberg_type: str) -> str:
    """Return the SQL name of an Iceberg type: `bigint` for `long`. Names of struct fields stay unchanged."""
    return re.sub(r"\b[a-z]+\b(?!\s*:)", lambda word: _ICEBERG.get(word[0], word[0]), iceberg_type)
