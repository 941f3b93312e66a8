"""Tables: what fields one has, how it came to be as it is, and its rows for tools that cannot speak SQL."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Annotated

from fastapi import Header, Query, Request, Response
from pydantic import Field

from lakehold.api.frame.models import Answer, IdText, NameText, PlainText, Time
from lakehold.api.frame.routes import problems, router
from lakehold.api.frame.works import Reading, house_of
from lakehold.api.iceberg.catalog import InLake
from lakehold.api.pipeline import formats
from lakehold.api.pipeline.formats import CSV, JSON
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.lake import previews, readable_tables
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.previews import MOST_ROWS, FilterOperator, PreviewFilter, PreviewOptions
from lakehold.lake.readable_tables import READABLE
from lakehold.lake.table_metadata import IcebergMetadata
from lakehold.runs.worker_client import ARROW_MEDIA_TYPE, QueryRows

routes = router("/api/v1/tables", "Tables")

_NEWEST = 100
_LOOKED_AT = 100_000_000


class TableField(Answer):
    """A field of a table."""

    name: str = Field(examples=["amount"])
    type: str = Field(examples=["decimal(10, 2)"])
    required: bool
    description: str = Field(examples=["In euros."])


class TableSnapshot(Answer):
    """A state that a table has had."""

    id: str = Field(examples=["7215431590032011452"], description="As text: it has more digits than JavaScript keeps.")
    at: Time
    operation: str = Field(examples=["append"])
    added: int
    removed: int
    rows: int
    current: bool


class Table(Answer):
    """What a table is now."""

    fields: list[TableField]
    snapshots: list[TableSnapshot] = Field(description=f"The newest {_NEWEST}, the newest first.")


class RowField(Answer):
    """A field of the rows."""

    name: str = Field(examples=["amount"])
    type: str = Field(examples=["decimal128(10, 2)"])


class TableRows(Answer):
    """Rows of a table."""

    fields: list[RowField]
    rows: list[list[object]] = Field(examples=[[["10.00"]]], description="Each as a list, in the order of the fields.")
    complete: bool = Field(description="False if there may be more rows than the limit.")


@routes.get("/{table}")
def get_table(ctx: Reading, lake: InLake, table: IdText) -> Table:
    """Fields and snapshots of a table. One that nothing was written into has neither."""
    found = lake.current_metadata(_place(ctx, table))
    return Table(fields=[], snapshots=[]) if found is None else _told(found)


@routes.get(
    "/{table}/rows",
    response_model=TableRows,
    responses={200: {"description": "The rows", "content": {CSV: {}, ARROW_MEDIA_TYPE: {}}}, **problems(409, 503)},
)
def get_rows(
    request: Request,
    ctx: Reading,
    lake: InLake,
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
    """Rows of a table, as they are at this moment: JSON, CSV or an Arrow stream. No more than fit the limit and the
    size that an installation allows for a result; a table that is larger is read through the Iceberg catalog.
    """
    readable_tables.refuse_impersonation(ctx)
    size = house_of(request).settings.query_megabytes * 1_000_000
    wanted = PreviewOptions(
        limit, fields, where=_filters(field or [], operator or [], value or []), size=size, scan_limit=_LOOKED_AT
    )
    found = previews.read_preview(lake, _place(ctx, table), wanted)
    return formats.streamed(QueryRows(found.rows.to_reader(), not found.more), accept)


def _filters(
    fields: Sequence[str], operators: Sequence[FilterOperator], values: Sequence[str]
) -> tuple[PreviewFilter, ...]:
    """Filters out of lists that belong together, one by one."""
    if max(len(operators), len(values)) > len(fields):
        raise InvalidInputError("A value needs a field.", "Name the field that it is about.")
    found = zip_longest(fields, operators, values)
    return tuple(_filter(field or "", operator or FilterOperator.IS, value) for field, operator, value in found)


def _filter(field: str, operator: FilterOperator, value: str | None) -> PreviewFilter:
    if operator in {FilterOperator.EMPTY, FilterOperator.FILLED}:
        return PreviewFilter(field, operator, value or None)
    return PreviewFilter(field, operator, value or "")


def _place(ctx: RequestContext, table: str) -> TableIdentifier:
    ctx.need_visible(table, "read")
    kind = ctx.view.kind(ctx.view.resource(table))
    if kind not in READABLE:
        title = ctx.view.policy.kinds[kind].schema.title.lower()
        raise InvalidInputError(f"A {title} has no rows.", "Choose a table.")
    ctx.need(READABLE[kind], table)
    return readable_tables.identifier_of(ctx, table)


def _told(found: IcebergMetadata) -> Table:
    return Table(
        fields=[
            TableField(name=each.name, type=each.type, required=each.required, description=each.description)
            for each in found.fields
        ],
        snapshots=[
            TableSnapshot(
                id=str(each.id),
                at=each.at,
                operation=each.operation,
                added=each.count("added-records"),
                removed=each.count("deleted-records"),
                rows=each.count("total-records"),
                current=each == found.current,
            )
            for each in reversed(found.snapshots[-_NEWEST:])
        ],
    )
