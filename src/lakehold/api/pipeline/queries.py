"""Queries: SQL as the caller, over the tables that they may read."""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from typing import Annotated

from fastapi import Header, Request, Response
from pydantic import Field

from lakehold.api.frame.callers import shown_by
from lakehold.api.frame.models import Answer, Body, IdText, NameText, Time, time_of
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import SIGNED, problems, router
from lakehold.api.frame.works import Asked, Reading, house_of
from lakehold.api.pipeline import formats
from lakehold.api.pipeline.formats import CSV, JSON
from lakehold.runs import queries, worker_client
from lakehold.runs.worker_client import ARROW_MEDIA_TYPE
from lakehold.workspaces.lakehouse import saved_queries

routes = router("/api/v1/queries", "Queries")

_DEFAULT, _MOST = 1_000, 10_000_000

Uid = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,64}$")]


class NewQuery(Body):
    """What is asked, and where."""

    workspace: IdText = Field(examples=["shop_lake"], description="The lakehouse in which names are looked for.")
    sql: Annotated[str, Field(min_length=1, max_length=queries.MAX_QUERY_LENGTH)] = Field(
        examples=["SELECT count(*) FROM raw.orders"], description="One SELECT."
    )
    limit: Annotated[int, Field(ge=1, le=_MOST)] = Field(
        default=_DEFAULT, description="How many rows at the most; the installation has a limit of its own."
    )
    id: Uid | None = Field(default=None, examples=["q_1f0c3f1d"], description="A name of your own, to stop it by.")


class Column(Answer):
    """A field of the rows."""

    name: str = Field(examples=["count(1)"])
    type: str = Field(examples=["int64"])


class AskedToDescribe(Body):
    """A query that is not to be run yet."""

    workspace: IdText = Field(examples=["shop_lake"])
    sql: Annotated[str, Field(min_length=1, max_length=queries.MAX_QUERY_LENGTH)] = Field(
        examples=["SELECT count(*) FROM raw.orders"], description="One SELECT."
    )


class NewTable(AskedToDescribe):
    """A table that a query's result is to be saved as."""

    layer: IdText = Field(examples=["service"], description="The layer that it is made in.")
    name: NameText = Field(examples=["order_count"], description="Small letters, digits and _.")


class Meaning(Answer):
    """What a query means."""

    fields: list[Column]
    reads: list[str] = Field(examples=[["orders"]], description="The tables that it reads.")


class SavedAs(Answer):
    """What was begun."""

    table: str = Field(examples=["order_count"])
    run: str = Field(examples=["run_1f0c3f1de1a44d54"])


class Found(Answer):
    """What a query gave."""

    fields: list[Column]
    rows: list[list[object]] = Field(examples=[[[100]]], description="Each row as a list, in the order of the fields.")
    complete: bool = Field(description="False if there are more rows than the limit.")


class AskedBefore(Answer):
    """A query of one's own, and how it went."""

    n: int
    workspace: str = Field(examples=["shop_lake"])
    sql: str = Field(examples=["SELECT count(*) FROM raw.orders"])
    asked_at: Time
    seconds: float = Field(examples=[0.4])
    rows: int
    error: str = Field(examples=[""])


@routes.post(
    "",
    openapi_extra=SIGNED,
    response_model=Found,
    responses={
        200: {"description": "The rows", "content": {CSV: {}, ARROW_MEDIA_TYPE: {}}},
        **problems(400, 401, 403, 404, 409, 503),
    },
)
def ask_query(
    request: Request,
    body: NewQuery,
    accept: Annotated[str, Header(max_length=200, examples=[JSON])] = JSON,
) -> Response:
    """Ask a query, and get its rows as JSON, CSV or an Arrow stream.

    It runs as you, straight away. What you may not read is as if it were not there.
    """
    place = _entered(request, body.workspace)
    stack = ExitStack()
    uid = body.id or f"q_{secrets.token_hex(12)}"
    found = stack.enter_context(queries.run_query(house_of(request), place, body.sql, uid=uid, rows=body.limit))
    return formats.streamed(found, accept, stack, **{"X-Lakehold-Query": uid})


@routes.post("/describe", openapi_extra=SIGNED, responses=problems(400, 401, 403, 404, 409, 503))
def describe_query(request: Request, body: AskedToDescribe) -> Meaning:
    """What a query would give and what it reads, without running it."""
    place = _entered(request, body.workspace)
    found = worker_client.describe_query(house_of(request), place.caller, workspace=place.name, text=body.sql)
    return Meaning(fields=[Column(**field) for field in found.fields], reads=found.reads)


@routes.post("/save", status_code=202, openapi_extra=SIGNED, responses=problems(400, 401, 403, 404, 409, 503))
def save_query_as_table(request: Request, body: NewTable) -> SavedAs:
    """Save the result as a table of a layer. A run fills it; it can be run again."""
    place = _entered(request, body.workspace)
    found = worker_client.describe_query(house_of(request), place.caller, workspace=place.name, text=body.sql)
    table, run = Asked(request, shown_by(request), writes=True).run(
        lambda ctx: saved_queries.save_result_as_table(ctx, body.layer, body.name, body.sql, found.reads)
    )
    return SavedAs(table=table, run=run.id)


@routes.delete("/{query}", openapi_extra=SIGNED, status_code=204, responses=problems(401, 403, 404))
def stop_query(request: Request, query: Uid) -> None:
    """Stop a query of your own that is running."""
    caller = Asked(request, shown_by(request), writes=False).run(lambda ctx: ctx.caller)
    worker_client.stop_query(house_of(request), caller, query)


@routes.get("")
def list_queries(ctx: Reading, paged: Paged, workspace: IdText | None = None) -> Page[AskedBefore]:
    """What you asked before, the newest first."""
    start = paged.start("queries", int)
    behind = None if start is None else int(str(start[0]))
    found = queries.list_past_queries(ctx, workspace=workspace, behind=behind, limit=paged.limit + 1)
    return paged.page("queries", found, lambda each: (each.n,), _told)


def _entered(request: Request, workspace: str) -> queries.QueryScope:
    return Asked(request, shown_by(request), writes=False).run(lambda ctx: queries.open_scope(ctx, workspace))


def _told(asked: queries.PastQuery) -> AskedBefore:
    return AskedBefore(
        n=asked.n,
        workspace=asked.workspace,
        sql=asked.text,
        asked_at=time_of(asked.asked_at),
        seconds=asked.took / 1_000_000,
        rows=asked.rows,
        error=asked.error,
    )
