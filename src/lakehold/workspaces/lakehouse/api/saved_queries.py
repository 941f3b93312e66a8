"""Endpoints of saved queries, and of results saved as tables."""

from __future__ import annotations

from typing import Annotated

from fastapi import Request
from pydantic import Field

from lakehold.api.http.dependencies import get_platform, read_transaction, write_transaction
from lakehold.api.http.models import IdText, NameText, RequestModel, ResponseModel
from lakehold.api.http.routing import REQUIRES_SIGN_IN, make_router, problem_responses
from lakehold.api.lake.queries import DescribeQueryBody, enter_workspace
from lakehold.runs import queries, worker_client
from lakehold.workspaces.lakehouse import saved_queries

routes = make_router("/api/v1/saved-queries", "Queries")
table_routes = make_router("/api/v1/queries", "Queries")

_PROBLEMS = problem_responses(400, 401, 403, 404, 409, 503)
SqlText = Annotated[
    str, Field(min_length=1, max_length=queries.MAX_QUERY_LENGTH, examples=["SELECT count(*) FROM raw.orders"])
]


class SavedQueryBody(RequestModel):
    """The text of a saved query."""

    sql: SqlText = Field(description="One SELECT.")


class NewSavedQuery(SavedQueryBody):
    """A query to save."""

    workspace: IdText = Field(examples=["shop_lake"])
    name: NameText = Field(examples=["How many orders"])


class SavedQueryJson(ResponseModel):
    """A saved query."""

    id: IdText
    reads: list[str] = Field(examples=[["orders"]], description="The tables that it reads.")


class SaveAsTableBody(DescribeQueryBody):
    """A query, and the table to save its result as."""

    layer: IdText = Field(examples=["service"], description="The layer that it is made in.")
    name: NameText = Field(examples=["order_count"], description="Small letters, digits and _.")


class SavedTableJson(ResponseModel):
    """The new table, and the run that fills it."""

    table: str = Field(examples=["order_count"])
    run: str = Field(examples=["run_1f0c3f1de1a44d54"])


@routes.post("", status_code=201, openapi_extra=REQUIRES_SIGN_IN, responses=_PROBLEMS)
def save_query(request: Request, body: NewSavedQuery) -> SavedQueryJson:
    """Save a query of your own, with the tables that it reads."""
    place = enter_workspace(request, body.workspace)
    found = saved_queries.tables_read(get_platform(request), place, body.sql)
    made = write_transaction(request).run(
        lambda ctx: saved_queries.create_saved_query(ctx, body.workspace, body.name, body.sql, found)
    )
    return SavedQueryJson(id=made, reads=found)


@routes.put("/{query}", openapi_extra=REQUIRES_SIGN_IN, responses=_PROBLEMS)
def replace_query_text(request: Request, query: IdText, body: SavedQueryBody) -> SavedQueryJson:
    """Replace the text of a query of your own, or of one that fills a table. The tables that it reads are determined
    anew.
    """
    place = read_transaction(request).run(lambda ctx: saved_queries.query_scope(ctx, query))
    found = saved_queries.tables_read(get_platform(request), place, body.sql)
    write_transaction(request).run(lambda ctx: saved_queries.update_sql(ctx, query, body.sql, found))
    return SavedQueryJson(id=query, reads=found)


@table_routes.post("/save", status_code=202, openapi_extra=REQUIRES_SIGN_IN, responses=_PROBLEMS)
def save_query_as_table(request: Request, body: SaveAsTableBody) -> SavedTableJson:
    """Save the result as a table of a layer. A run fills it, and can be repeated."""
    place = enter_workspace(request, body.workspace)
    found = worker_client.describe_query(get_platform(request), place.caller, workspace=place.name, text=body.sql)
    table, run = write_transaction(request).run(
        lambda ctx: saved_queries.save_result_as_table(ctx, body.layer, body.name, body.sql, found.reads)
    )
    return SavedTableJson(table=table, run=run.id)
