"""The text of a query that is kept: written down together with what it reads, as the worker understands it.

What it reads is asked for outside of any transaction, and is then a change of edges like any other.
"""

from __future__ import annotations

from collections.abc import Collection

from lakehold.catalog import kinds, resource_edit, resource_metadata, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, UnavailableError
from lakehold.lake.errors import LimitExceededError, QueryError, RefusedQueryError
from lakehold.runs import asking, queries

SAVED_QUERY = "lakehouse.saved_query"
_KINDS = (SAVED_QUERY, "lakehouse.query")


def place_of(ctx: RequestContext, uid: str) -> queries.Place:
    """Where the query is asked. Refuse unless the caller may edit it, and ask queries there."""
    ctx.need_visible(uid, "edit")
    schema = kinds.schema_of(ctx.view, uid)
    if schema.id not in _KINDS:
        raise InvalidInputError(f"A {schema.title.lower()} has no text of a query.", "Choose a query.")
    ctx.need("edit", uid)
    return queries.enter(ctx, kinds.workspace_of(ctx.view, uid) or uid)


def reads(platform: Platform, place: queries.Place, sql: str) -> list[str]:
    """The tables that it reads, of those that the asker may read."""
    return asking.describe(platform, place.caller, workspace=place.name, text=sql).reads


def reads_if_known(platform: Platform, place: queries.Place, sql: str) -> list[str] | None:
    """The same; None for what nobody can understand yet: a draft, or where no worker is."""
    try:
        return reads(platform, place, sql)
    except (UnavailableError, QueryError, RefusedQueryError, LimitExceededError):
        return None


def make(ctx: RequestContext, lakehouse: str, name: str, sql: str, found: Collection[str] | None) -> str:
    """A query of one's own. Returns its id."""
    if not sql.strip():
        raise InvalidInputError("The query is empty.", "Write a SELECT first.")
    edges = {"lakehouse": lakehouse, "reads": sorted(found or ())}
    return resources.create(ctx, SAVED_QUERY, name, edges=edges, settings={"sql": sql})


def change(ctx: RequestContext, uid: str, sql: str, found: Collection[str] | None) -> None:
    """Another text. Where nobody knows what it reads, what is written down of that stays."""
    settings = {**resource_metadata.load(ctx, uid).settings, "sql": sql}
    resource_edit.apply_edit(
        ctx, uid, ResourceEdit(settings=settings, edges=None if found is None else {"reads": sorted(found)})
    )
