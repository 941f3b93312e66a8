"""Queries that are kept: their text, with what it reads."""

from __future__ import annotations

from typing import Annotated

from fastapi import Request
from pydantic import Field

from lakehold.api.frame.callers import shown_by
from lakehold.api.frame.models import Answer, Body, IdText, NameText
from lakehold.api.frame.routes import SIGNED, problems, router
from lakehold.api.frame.works import Asked, house_of
from lakehold.runs import queries
from lakehold.workspaces.lakehouse import saved_queries

routes = router("/api/v1/saved-queries", "Queries")

_PROBLEMS = problems(400, 401, 403, 404, 409, 503)
Sql = Annotated[
    str, Field(min_length=1, max_length=queries.MAX_QUERY_LENGTH, examples=["SELECT count(*) FROM raw.orders"])
]


class QueryText(Body):
    """What the query says."""

    sql: Sql = Field(description="One SELECT.")


class NewSavedQuery(QueryText):
    """A query of one's own."""

    workspace: IdText = Field(examples=["shop_lake"])
    name: NameText = Field(examples=["How many orders"])


class KeptQuery(Answer):
    """A query that is kept."""

    id: IdText
    reads: list[str] = Field(examples=[["orders"]], description="The tables that it reads.")


@routes.post("", status_code=201, openapi_extra=SIGNED, responses=_PROBLEMS)
def save_query(request: Request, body: NewSavedQuery) -> KeptQuery:
    """Keep a query of your own. What it reads is written down with it."""
    place = _reading(request).run(lambda ctx: queries.open_scope(ctx, body.workspace))
    found = saved_queries.tables_read(house_of(request), place, body.sql)
    made = _writing(request).run(
        lambda ctx: saved_queries.create_saved_query(ctx, body.workspace, body.name, body.sql, found)
    )
    return KeptQuery(id=made, reads=found)


@routes.put("/{query}", openapi_extra=SIGNED, responses=_PROBLEMS)
def replace_query_text(request: Request, query: IdText, body: QueryText) -> KeptQuery:
    """Another text for a query of your own, or for one that is kept as a table. What it reads is written down anew."""
    place = _reading(request).run(lambda ctx: saved_queries.query_scope(ctx, query))
    found = saved_queries.tables_read(house_of(request), place, body.sql)
    _writing(request).run(lambda ctx: saved_queries.update_sql(ctx, query, body.sql, found))
    return KeptQuery(id=query, reads=found)


def _reading(request: Request) -> Asked:
    return Asked(request, shown_by(request), writes=False)


def _writing(request: Request) -> Asked:
    return Asked(request, shown_by(request), writes=True)
