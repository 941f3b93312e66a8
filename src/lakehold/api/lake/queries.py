"""Endpoints of SQL queries, which run as the caller over the tables that they may read; rows as JSON, CSV or an Arrow
stream.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Annotated

from fastapi import Header, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from lakehold.api.http.authentication import read_credentials
from lakehold.api.http.dependencies import PendingRequest, ReadContext, get_platform
from lakehold.api.http.models import IdText, RequestModel, ResponseModel, Time, to_datetime
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import REQUIRES_SIGN_IN, make_router, problem_responses
from lakehold.lake import row_formats
from lakehold.runs import queries, worker_client
from lakehold.runs.worker_client import ARROW_MEDIA_TYPE, QueryRows, RecordBatches

routes = make_router("/api/v1/queries", "Queries")

JSON, CSV = "application/json", "text/csv"
_DEFAULT_ROWS, _MAX_ROWS = 1_000, 10_000_000

QueryUid = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,64}$")]


class NewQuery(RequestModel):
    """A query to run."""

    workspace: IdText = Field(examples=["shop_lake"], description="The lakehouse in which names are looked for.")
    sql: Annotated[str, Field(min_length=1, max_length=queries.MAX_QUERY_LENGTH)] = Field(
        examples=["SELECT count(*) FROM raw.orders"], description="One SELECT."
    )
    limit: Annotated[int, Field(ge=1, le=_MAX_ROWS)] = Field(
        default=_DEFAULT_ROWS, description="How many rows at the most; the installation has a limit of its own."
    )
    id: QueryUid | None = Field(default=None, examples=["q_1f0c3f1d"], description="A name of your own, to stop it by.")


class ResultFieldJson(ResponseModel):
    """A field of the result."""

    name: str = Field(examples=["count(1)"])
    type: str = Field(examples=["int64"])


class DescribeQueryBody(RequestModel):
    """A query to analyse without running it."""

    workspace: IdText = Field(examples=["shop_lake"])
    sql: Annotated[str, Field(min_length=1, max_length=queries.MAX_QUERY_LENGTH)] = Field(
        examples=["SELECT count(*) FROM raw.orders"], description="One SELECT."
    )


class QueryDescriptionJson(ResponseModel):
    """The fields and source tables of a query."""

    fields: list[ResultFieldJson]
    reads: list[str] = Field(examples=[["orders"]], description="The tables that it reads.")


class QueryResultJson(ResponseModel):
    """The result of a query."""

    fields: list[ResultFieldJson]
    rows: list[list[object]] = Field(examples=[[[100]]], description="Each row as a list, in the order of the fields.")
    complete: bool = Field(description="False if there are more rows than the limit.")


class QueryHistoryEntryJson(ResponseModel):
    """An entry of the caller's query history."""

    n: int
    workspace: str = Field(examples=["shop_lake"])
    sql: str = Field(examples=["SELECT count(*) FROM raw.orders"])
    asked_at: Time
    seconds: float = Field(examples=[0.4])
    rows: int
    error: str = Field(examples=[""])


@routes.post(
    "",
    openapi_extra=REQUIRES_SIGN_IN,
    response_model=QueryResultJson,
    responses={
        200: {"description": "The rows", "content": {CSV: {}, ARROW_MEDIA_TYPE: {}}},
        **problem_responses(400, 401, 403, 404, 409, 503),
    },
)
def ask_query(
    request: Request,
    body: NewQuery,
    accept: Annotated[str, Header(max_length=200, examples=[JSON])] = JSON,
) -> Response:
    """Run a query, and get its rows as JSON, CSV or an Arrow stream.

    It runs as you, at once. What you may not read is treated as if it did not exist.
    """
    place = enter_workspace(request, body.workspace)
    stack = ExitStack()
    uid = body.id or f"q_{secrets.token_hex(12)}"
    found = stack.enter_context(queries.run_query(get_platform(request), place, body.sql, uid=uid, rows=body.limit))
    return stream_rows(found, accept, stack, **{"X-Lakehold-Query": uid})


@routes.post("/describe", openapi_extra=REQUIRES_SIGN_IN, responses=problem_responses(400, 401, 403, 404, 409, 503))
def describe_query(request: Request, body: DescribeQueryBody) -> QueryDescriptionJson:
    """Describe the fields and source tables of a query, without running it."""
    place = enter_workspace(request, body.workspace)
    found = worker_client.describe_query(get_platform(request), place.caller, workspace=place.name, text=body.sql)
    return QueryDescriptionJson(fields=[ResultFieldJson(**field) for field in found.fields], reads=found.reads)


@routes.delete("/{query}", openapi_extra=REQUIRES_SIGN_IN, status_code=204, responses=problem_responses(401, 403, 404))
def stop_query(request: Request, query: QueryUid) -> None:
    """Stop a query of your own that is running."""
    caller = PendingRequest(request, read_credentials(request), writes=False).run(lambda ctx: ctx.caller)
    worker_client.stop_query(get_platform(request), caller, query)


@routes.get("")
def list_queries(
    ctx: ReadContext, paged: PageParams, workspace: IdText | None = None
) -> PageResponse[QueryHistoryEntryJson]:
    """List your query history, newest first."""
    start = paged.start_key("queries", int)
    behind = None if start is None else int(str(start[0]))
    found = queries.list_past_queries(ctx, workspace=workspace, behind=behind, limit=paged.limit + 1)
    return paged.build_page("queries", found, lambda each: (each.n,), _history_entry_json)


def enter_workspace(request: Request, workspace: str) -> queries.QueryScope:
    """Return the workspace that the caller queries, if they may."""
    return PendingRequest(request, read_credentials(request), writes=False).run(
        lambda ctx: queries.open_scope(ctx, workspace)
    )


def _history_entry_json(entry: queries.PastQuery) -> QueryHistoryEntryJson:
    return QueryHistoryEntryJson(
        n=entry.n,
        workspace=entry.workspace,
        sql=entry.text,
        asked_at=to_datetime(entry.asked_at),
        seconds=entry.took / 1_000_000,
        rows=entry.rows,
        error=entry.error,
    )


def encode_rows(batches: RecordBatches, accept: str, *, complete: bool) -> tuple[str, Iterator[bytes]]:
    """Return the media type to use, and the rows in chunks; JSON if none of the three is accepted."""
    if ARROW_MEDIA_TYPE in accept:
        return ARROW_MEDIA_TYPE, row_formats.as_arrow(batches.schema, batches)
    if CSV in accept:
        return CSV, row_formats.as_csv(batches.schema, batches)
    return JSON, _as_json(batches, complete=complete)


def stream_rows(found: QueryRows, accept: str, stack: ExitStack | None = None, **headers: str) -> StreamingResponse:
    """Return a streaming response of the rows. `stack` is closed after the last one."""
    kind, parts = encode_rows(found.batches, accept, complete=found.complete)
    all_headers = {"X-Lakehold-Complete": str(found.complete).lower(), **headers}
    return StreamingResponse(_close_after(stack, parts) if stack else parts, media_type=kind, headers=all_headers)


def _close_after(stack: ExitStack, parts: Iterator[bytes]) -> Iterator[bytes]:
    with stack:
        yield from parts


def _as_json(batches: RecordBatches, *, complete: bool) -> Iterator[bytes]:
    head = json.dumps({"fields": row_formats.describe_fields(batches.schema), "complete": complete}, ensure_ascii=False)
    yield f'{head[:-1]}, "rows": ['.encode()
    between = ""
    for batch in batches:
        some = ", ".join(json.dumps(row, ensure_ascii=False) for row in row_formats.rows_as_lists([batch]))
        if some:
            yield f"{between}{some}".encode()
            between = ", "
    yield b"]}"
