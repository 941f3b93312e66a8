"""Endpoints of SQL queries, which run as the caller over the tables that they may read, and of the tables themselves.

Rows are sent as JSON, CSV or an Arrow stream.
"""

import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from itertools import chain, zip_longest
from typing import Annotated, Any

from fastapi import Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BeforeValidator, Field

from lakehold.api.http.dependencies import ReadContext, get_platform, read_transaction
from lakehold.api.http.models import IdText, NameText, PlainText, RecordTime, RequestModel, ResponseModel, Time
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import REQUIRES_SIGN_IN, WORKER_CALL, make_router, problem_responses
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND
from lakehold.kit.errors import InvalidInputError
from lakehold.lake import previews, readable_tables, row_formats, table_views
from lakehold.lake.previews import MOST_ROWS, FilterOperator, PreviewFilter, PreviewOptions
from lakehold.lake.table_views import TableView
from lakehold.runs import queries, worker_client
from lakehold.runs.worker_client import ARROW_MEDIA_TYPE, CountedBatches, QueryRows
from lakehold.workspaces.registry import readable_kinds

routes = make_router("/api/v1/queries", "Queries")

JSON, CSV = "application/json", "text/csv"
_DEFAULT_ROWS, _MAX_ROWS = 1_000, 10_000_000
_MAX_SNAPSHOTS = 100
_MAX_SCANNED_ROWS = 100_000_000
ROWS: dict[int | str, dict[str, Any]] = {200: {"description": "The rows", "content": {CSV: {}, ARROW_MEDIA_TYPE: {}}}}
"""The OpenAPI responses of an endpoint that streams rows."""

SqlText = Annotated[
    str,
    Field(
        min_length=1,
        max_length=queries.MAX_QUERY_LENGTH,
        examples=["SELECT count(*) FROM raw.orders"],
        description="One SELECT.",
    ),
]
AcceptedType = Annotated[str, Header(max_length=200, examples=[JSON])]
QueryUid = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,64}$")]
OwnQueryUid = Annotated[
    QueryUid | None, Field(examples=["q_1f0c3f1d"], description="An id of your own, by which it can be stopped.")
]
"""The id that the caller of a query, description, test or sample gives it: `DELETE /api/v1/queries/{id}`."""


class NewQuery(RequestModel):
    """A query to run."""

    workspace: IdText = Field(examples=["shop_lake"], description="The workspace in which names are resolved.")
    sql: SqlText
    limit: Annotated[int, Field(ge=1, le=_MAX_ROWS)] = Field(
        default=_DEFAULT_ROWS, description="Maximum number of rows; the installation may have a lower limit."
    )
    id: OwnQueryUid = None


class ResultFieldJson(ResponseModel):
    """A field of the rows."""

    name: str = Field(examples=["count(1)"])
    type: str = Field(examples=["int64"])


class DescribeQueryBody(RequestModel):
    """A query to analyse without running it."""

    workspace: IdText = Field(examples=["shop_lake"])
    sql: SqlText
    id: OwnQueryUid = None


class QueryDescriptionJson(ResponseModel):
    """The fields and source tables of a query."""

    fields: list[ResultFieldJson]
    reads: list[str] = Field(examples=[["orders"]], description="The tables that it reads.")


class QueryResultJson(ResponseModel):
    """Rows of a query or a table."""

    fields: list[ResultFieldJson]
    rows: list[list[object]] = Field(examples=[[[100]]], description="Each row as a list, in the order of the fields.")
    complete: bool = Field(description="False if there may be more rows than the limit.")


class QueryHistoryEntryJson(ResponseModel):
    """An entry of the caller's query history."""

    n: int
    workspace: str = Field(examples=["shop_lake"])
    sql: str = Field(validation_alias="text", examples=["SELECT count(*) FROM raw.orders"])
    asked_at: RecordTime
    seconds: Annotated[float, BeforeValidator(lambda took: took / SECOND)] = Field(
        validation_alias="took", examples=[0.4]
    )
    rows: int
    error: str = Field(examples=[""])


QUERY_CALL: dict[str, Any] = {
    **WORKER_CALL,
    "response_model": QueryResultJson,
    "responses": ROWS | WORKER_CALL["responses"],
}
"""The OpenAPI options of an endpoint that runs a query."""


@routes.post("", **QUERY_CALL)
def ask_query(request: Request, body: NewQuery, accept: AcceptedType = JSON) -> Response:
    """Run a query, and get its rows as JSON, CSV or an Arrow stream.

    It runs as you, at once. What you may not read is treated as if it did not exist.
    """
    place = enter_workspace(request, body.workspace)
    uid = body.id or f"q_{secrets.token_hex(12)}"
    query = queries.run_query(get_platform(request), place, body.sql, uid=uid, rows=body.limit)
    return stream_query(query, accept, **{"X-Lakehold-Query": uid})


@routes.post("/describe", **WORKER_CALL)
def describe_query(request: Request, body: DescribeQueryBody) -> QueryDescriptionJson:
    """Describe the fields and source tables of a query, without running it."""
    place = enter_workspace(request, body.workspace)
    found = queries.describe_query(get_platform(request), place, body.sql, uid=body.id or "")
    return QueryDescriptionJson(fields=[ResultFieldJson(**field) for field in found.fields], reads=found.reads)


@routes.delete("/{query}", openapi_extra=REQUIRES_SIGN_IN, status_code=204, responses=problem_responses(401, 403, 404))
def stop_query(request: Request, query: QueryUid) -> None:
    """Stop a query, description, test or sample of your own that is running."""
    caller = read_transaction(request).run(lambda ctx: ctx.caller)
    worker_client.stop_query(get_platform(request), caller, query)


@routes.get("")
def list_queries(
    ctx: ReadContext, paged: PageParams, workspace: IdText | None = None
) -> PageResponse[QueryHistoryEntryJson]:
    """List your query history, newest first."""
    behind = paged.start_after("queries", int)
    found = queries.list_past_queries(ctx, workspace=workspace, behind=behind, limit=paged.limit + 1)
    return paged.build_page("queries", found, lambda each: (each.n,), QueryHistoryEntryJson.model_validate)


def enter_workspace(request: Request, workspace: str) -> queries.QueryScope:
    """Return the workspace that the caller queries, if they may."""
    return read_transaction(request).run(lambda ctx: queries.open_scope(ctx, workspace))


def stream_query(query: AbstractContextManager[QueryRows], accept: str, **headers: str) -> StreamingResponse:
    """Stream the rows of a query, as JSON if no other format is accepted, and close it after the last one.

    Each format says in its body if there are more rows.
    """
    stack = ExitStack()
    found = stack.enter_context(query)
    batches, later, schema = found.batches, found.next_page, found.batches.schema
    is_last = found.complete and not later
    if ARROW_MEDIA_TYPE in accept:
        note = {"lakehold.next": later} if later else {"lakehold.complete": "false"}
        marked = schema if is_last else schema.with_metadata(note)
        kind, parts = ARROW_MEDIA_TYPE, row_formats.as_arrow(marked, batches)
    elif CSV in accept:
        last = "" if is_last else f"# There are more rows{f': {later}' if later else '.'}\n"
        kind, parts = CSV, chain(row_formats.as_csv(schema, batches), [last.encode()])
    else:
        kind, parts = JSON, _as_json(found)
    all_headers = {"X-Lakehold-Complete": str(found.complete).lower(), **headers}
    all_headers |= {"Link": f'<{later}>; rel="next"'} if later else {}
    return StreamingResponse(_close_after(stack, parts), media_type=kind, headers=all_headers)


def _close_after(stack: ExitStack, parts: Iterator[bytes]) -> Iterator[bytes]:
    with stack:
        yield from parts


def _as_json(found: QueryRows) -> Iterator[bytes]:
    batches = found.batches
    values = {"fields": row_formats.describe_fields(batches.schema), "complete": found.complete}
    values |= {"next": found.next_page} if found.next_page else {}
    head = json.dumps(values, ensure_ascii=False)
    yield f'{head[:-1]}, "rows": ['.encode()
    between = ""
    for batch in batches:
        some = ", ".join(json.dumps(row, ensure_ascii=False) for row in row_formats.rows_as_lists([batch]))
        if some:
            yield f"{between}{some}".encode()
            between = ", "
    yield b"]}"


table_routes = make_router("/api/v1/tables", "Tables")


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


@table_routes.get("/{table}")
def get_table(ctx: ReadContext, lake: CurrentLake, table: IdText) -> TableJson:
    """Get fields and snapshots of a table. An empty table has neither."""
    found = _readable_view(ctx, table).current_metadata(lake)
    if found is None:
        return TableJson(fields=[], snapshots=[])
    snapshots = [
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
    ]
    return TableJson.model_validate({"fields": list(found.fields), "snapshots": snapshots})


@table_routes.get("/{table}/rows", response_model=QueryResultJson, responses=ROWS | problem_responses(409, 503))
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
        Query(max_length=20, description="One operator for each field; default: =", examples=[["="]]),
    ] = None,
    value: Annotated[
        list[PlainText] | None, Query(max_length=20, description="One for each field.", examples=[["10"]])
    ] = None,
    accept: AcceptedType = JSON,
) -> Response:
    """Get rows of a table, as they are now, as JSON, CSV or an Arrow stream.

    No more than fit the limit and the size that the platform allows for a result; a larger table is read through the
    Iceberg catalog.
    """
    readable_tables.refuse_impersonation(ctx)
    where = _parse_filters(field or [], operator or [], value or [])
    settings = get_platform(request).settings
    view = _readable_view(ctx, table)
    options = PreviewOptions(
        limit,
        fields,
        view.hidden,
        where,
        size=settings.query_megabytes * 1_000_000,
        scan_limit=_MAX_SCANNED_ROWS,
        seconds=settings.query_seconds,
    )
    get_platform(request).record_read(ctx.caller, "preview", table)
    with get_platform(request).table_reads.take((ctx.caller.tenant, ctx.caller.member)):
        found = previews.read_preview(lake, view.place, options)
    return stream_query(nullcontext(QueryRows(CountedBatches(found.rows.to_reader()), not found.more)), accept)


def _parse_filters(
    fields: Sequence[str], operators: Sequence[FilterOperator], values: Sequence[str]
) -> tuple[PreviewFilter, ...]:
    """Combine the lists of fields, operators and values to filters, one by one."""
    if max(len(operators), len(values)) > len(fields):
        raise InvalidInputError("A value needs a field.", "Name the field that it is about.")
    unary = {FilterOperator.EMPTY, FilterOperator.FILLED}
    return tuple(
        PreviewFilter(field or "", operator or FilterOperator.IS, value or (None if operator in unary else ""))
        for field, operator, value in zip_longest(fields, operators, values)
    )


def _readable_view(ctx: RequestContext, table: str) -> TableView:
    ctx.need_visible(table)
    kind = ctx.view.kind(ctx.view.resource(table))
    if kind not in readable_kinds():
        title = ctx.view.policy.kinds[kind].schema.title.lower()
        raise InvalidInputError(f"A {title} has no rows.", "Choose a table.")
    ctx.need(readable_kinds()[kind], table)
    return table_views.view_of(ctx, table)
