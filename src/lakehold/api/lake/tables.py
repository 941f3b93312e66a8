"""Endpoints of tables. Fields, snapshots, and rows for tools that cannot use SQL."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Annotated

from fastapi import Header, Query, Request, Response
from pydantic import Field

from lakehold.api.http.dependencies import ReadContext, get_platform
from lakehold.api.http.models import IdText, NameText, PlainText, ResponseModel, Time
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.api.lake import queries
from lakehold.api.lake.queries import CSV, JSON
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.lake import previews, readable_tables
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.previews import MOST_ROWS, FilterOperator, PreviewFilter, PreviewOptions
from lakehold.lake.table_metadata import IcebergMetadata
from lakehold.runs.worker_client import ARROW_MEDIA_TYPE, QueryRows
from lakehold.workspaces.registry import readable_kinds

routes = make_router("/api/v1/tables", "Tables")

_MAX_SNAPSHOTS = 100
_MAX_SCANNED_ROWS = 100_000_000


class TableFieldJson(ResponseModel):
    """A field of a table."""

    name: str = Field(examples=["amount"])
    type: str = Field(examples=["decimal(10, 2)"])
    required: bool
    description: str = Field(examples=["In euros."])


class TableSnapshotJson(ResponseModel):
    """A snapshot of a table."""

    id: str = Field(examples=["7215431590032011452"], description="As text: it has more digits than JavaScript keeps.")
    at: Time
    operation: str = Field(examples=["append"])
    added: int
    removed: int
    rows: int
    current: bool


class TableJson(ResponseModel):
    """The fields and snapshots of a table."""

    fields: list[TableFieldJson]
    snapshots: list[TableSnapshotJson] = Field(description=f"The newest {_MAX_SNAPSHOTS}, the newest first.")


class RowFieldJson(ResponseModel):
    """A field of the rows."""

    name: str = Field(examples=["amount"])
    type: str = Field(examples=["decimal128(10, 2)"])


class TableRowsJson(ResponseModel):
    """Rows of a table."""

    fields: list[RowFieldJson]
    rows: list[list[object]] = Field(examples=[[["10.00"]]], description="Each as a list, in the order of the fields.")
    complete: bool = Field(description="False if there may be more rows than the limit.")


@routes.get("/{table}")
def get_table(ctx: ReadContext, lake: CurrentLake, table: IdText) -> TableJson:
    """Get fields and snapshots of a table. An empty table has neither."""
    found = lake.current_metadata(_readable_place(ctx, table))
    return TableJson(fields=[], snapshots=[]) if found is None else _table_json(found)


@routes.get(
    "/{table}/rows",
    response_model=TableRowsJson,
    responses={
        200: {"description": "The rows", "content": {CSV: {}, ARROW_MEDIA_TYPE: {}}},
        **problem_responses(409, 503),
    },
)
def get_rows(
    request: Request,
    ctx: ReadContext,
    lake: CurrentLake,
    table: IdText,
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 100,
    fields: Annotated[list[NameText] | None, Query(max_length=500, examples=[["id"]])] = None,
    field: Annotated[
        list[PlainText] | None,
        Query(max_length=20, description="The fields that filters are about; all must hold.", examples=[["amount"]]),
    ] = None,
    operator: Annotated[
        list[FilterOperator] | None,
        Query(max_length=20, description="One for each field. Without: =", examples=[["="]]),
    ] = None,
    value: Annotated[
        list[PlainText] | None, Query(max_length=20, description="One for each field.", examples=[["10"]])
    ] = None,
    accept: Annotated[str, Header(max_length=200, examples=[JSON])] = JSON,
) -> Response:
    """Get rows of a table, as they are now, as JSON, CSV or an Arrow stream.

    No more than fit the limit and the size that the platform allows for a result; a larger table is read through the
    Iceberg catalog.
    """
    readable_tables.refuse_impersonation(ctx)
    size = get_platform(request).settings.query_megabytes * 1_000_000
    options = PreviewOptions(
        limit,
        fields,
        where=_parse_filters(field or [], operator or [], value or []),
        size=size,
        scan_limit=_MAX_SCANNED_ROWS,
    )
    found = previews.read_preview(lake, _readable_place(ctx, table), options)
    return queries.stream_rows(QueryRows(found.rows.to_reader(), not found.more), accept)


def _parse_filters(
    fields: Sequence[str], operators: Sequence[FilterOperator], values: Sequence[str]
) -> tuple[PreviewFilter, ...]:
    """Combine the lists of fields, operators and values to filters, one by one."""
    if max(len(operators), len(values)) > len(fields):
        raise InvalidInputError("A value needs a field.", "Name the field that it is about.")
    found = zip_longest(fields, operators, values)
    return tuple(_parse_filter(field or "", operator or FilterOperator.IS, value) for field, operator, value in found)


def _parse_filter(field: str, operator: FilterOperator, value: str | None) -> PreviewFilter:
    if operator in {FilterOperator.EMPTY, FilterOperator.FILLED}:
        return PreviewFilter(field, operator, value or None)
    return PreviewFilter(field, operator, value or "")


def _readable_place(ctx: RequestContext, table: str) -> TableIdentifier:
    ctx.need_visible(table, "read")
    kind = ctx.view.kind(ctx.view.resource(table))
    if kind not in readable_kinds():
        title = ctx.view.policy.kinds[kind].schema.title.lower()
        raise InvalidInputError(f"A {title} has no rows.", "Choose a table.")
    ctx.need(readable_kinds()[kind], table)
    return readable_tables.identifier_of(ctx, table)


def _table_json(found: IcebergMetadata) -> TableJson:
    return TableJson(
        fields=[TableFieldJson.model_validate(each) for each in found.fields],
        snapshots=[
            TableSnapshotJson(
                id=str(each.id),
                at=each.at,
                operation=each.operation,
                added=each.count("added-records"),
                removed=each.count("deleted-records"),
                rows=each.count("total-records"),
                current=each == found.current,
            )
            for each in reversed(found.snapshots[-_MAX_SNAPSHOTS:])
        ],
    )
