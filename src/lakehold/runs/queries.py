"""Ad-hoc SQL queries of members: who may run one where, and their history."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import sqlalchemy as sa

from lakehold.catalog import kinds
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, Moment
from lakehold.kit.database import ExactText, IdType, metadata
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.lake import readable_tables
from lakehold.runs import worker_client
from lakehold.runs.worker_client import QueryDescription, QueryRows, ReadPurpose
from lakehold.workspaces.registry import sql_kinds

RETENTION = 90 * DAY
"""How long queries stay in the history."""
MAX_QUERY_LENGTH = 200_000

query_table = sa.Table(
    "query",
    metadata,
    sa.Column("n", IdType, primary_key=True, autoincrement=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("member", ExactText, nullable=False),
    sa.Column("workspace_id", IdType, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("asked_at", IdType, nullable=False),
    # In microseconds, as all moments are.
    sa.Column("took", IdType, nullable=False),
    sa.Column("rows", IdType, nullable=False),
    sa.Column("error", sa.Text, nullable=False),
)
sa.Index("query_by_member", query_table.c.tenant_id, query_table.c.member, query_table.c.n)
sa.Index("query_by_time", query_table.c.asked_at)


@dataclass(frozen=True, slots=True)
class QueryScope:
    """The workspace in which a caller runs queries."""

    caller: Caller
    tenant: int
    workspace: int
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class PastQuery:
    """A query from the caller's history."""

    n: int
    workspace: str
    text: str
    asked_at: Moment
    took: int
    rows: int
    error: str


def open_scope(ctx: RequestContext, workspace: str) -> QueryScope:
    """Refuse unless the caller may run queries in the workspace."""
    readable_tables.refuse_impersonation(ctx)
    ctx.need_visible(workspace, "query")
    schema = kinds.schema_of(ctx.view, workspace)
    if schema.id not in sql_kinds():
        raise InvalidInputError(f"A {schema.title.lower()} has no SQL.", "Choose a workspace that has.")
    ctx.need(sql_kinds()[schema.id], workspace)
    number = ctx.view.resource(workspace)
    return QueryScope(ctx.caller, ctx.session.tenant, number, ctx.view.names.get(number) or workspace, workspace)


def may_query(ctx: RequestContext, workspace: str) -> bool:
    """Whether members query the workspace in SQL, and the caller may."""
    action = sql_kinds().get(kinds.schema_of(ctx.view, workspace).id)
    return action is not None and ctx.session.check(ctx.principal, action, workspace)


@contextmanager
def run_query(platform: Platform, scope: QueryScope, text: str, *, rows: int, uid: str = "") -> Iterator[QueryRows]:
    """Run a query in the workspace, and store the result of it in the caller's history."""
    if not text.strip():
        raise InvalidInputError("The query is empty.", "Write a SELECT.")
    if len(text) > MAX_QUERY_LENGTH:
        raise InvalidInputError(f"The query has {len(text):,} characters.", f"Use at most {MAX_QUERY_LENGTH:,}.")
    began, at = time.perf_counter(), platform.clock()
    record: dict[str, object] = {"rows": 0, "error": "The result was not read completely."}
    try:
        purpose = ReadPurpose("query", scope.uid)
        with worker_client.run_query(
            platform, scope.caller, purpose=purpose, uid=uid, workspace=scope.name, text=text, rows=rows
        ) as found:
            yield found
            record = {"rows": found.batches.count, "error": ""}
    except LakeholdError as error:
        record = {"rows": 0, "error": str(error)}
        raise
    finally:
        record |= {"asked_at": at, "took": int((time.perf_counter() - began) * 1_000_000), "text": text}
        with platform.database.write() as transaction:
            here = {"tenant_id": scope.tenant, "member": scope.caller.member, "workspace_id": scope.workspace}
            transaction.connection.execute(query_table.insert().values(**here, **record))


def describe_query(platform: Platform, scope: QueryScope, text: str, *, uid: str = "") -> QueryDescription:
    """Return the fields and the tables of a query in the workspace without running it."""
    purpose = ReadPurpose("query", scope.uid)
    return worker_client.describe_query(
        platform, scope.caller, purpose=purpose, uid=uid, workspace=scope.name, text=text
    )


def list_past_queries(
    ctx: RequestContext, *, workspace: str | None = None, behind: int | None = None, limit: int = 50
) -> list[PastQuery]:
    """Return the caller's past queries, newest first; none for those who act for a member with less than their rights.

    The texts tell of tables that a narrowed token may not see, and of what the member whom an admin views as does.
    """
    if ctx.caller.narrowed or ctx.caller.impersonator:
        return []
    c = query_table.c
    where = [c.member == ctx.caller.member]
    if workspace is not None:
        ctx.need_visible(workspace)
        where.append(c.workspace_id == ctx.view.resource(workspace))
    if behind is not None:
        where.append(c.n < behind)
    rows = ctx.rows(query_table).select(*where, order_by=(c.n.desc(),), limit=limit)
    uids = ctx.view.uids
    return [
        PastQuery(row.n, uids.get(row.workspace_id) or "", row.text, row.asked_at, row.took, row.rows, row.error)
        for row in rows
    ]
