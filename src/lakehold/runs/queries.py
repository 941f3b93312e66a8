"""Queries that people ask by hand: who may ask one where, what was asked, and how it went."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
import sqlalchemy as sa

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, Moment
from lakehold.kit.database import ExactText, IdType, metadata
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.lake import readable_tables
from lakehold.runs import asking
from lakehold.runs.asking import Batches, Rows

EXECUTE = "execute_query"
KEPT = 90 * DAY
LONGEST = 200_000

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
class Place:
    """Where somebody asks."""

    caller: Caller
    tenant: int
    workspace: int
    name: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody asked before."""

    n: int
    workspace: str
    text: str
    asked_at: Moment
    took: int
    rows: int
    error: str


def enter(ctx: RequestContext, workspace: str) -> Place:
    """Refuse unless the caller may ask queries there."""
    readable_tables.refuse_impersonation(ctx)
    ctx.need_visible(workspace, EXECUTE)
    schema = ctx.view.policy.kinds[ctx.view.kind(ctx.view.resource(workspace))].schema
    if EXECUTE not in schema.actions:
        raise InvalidInputError(f"A {schema.title.lower()} has no SQL.", "Ask in a lakehouse.")
    ctx.need(EXECUTE, workspace)
    number = ctx.view.resource(workspace)
    return Place(ctx.caller, ctx.session.tenant, number, ctx.view.names.get(number) or workspace)


@contextmanager
def ask(platform: Platform, place: Place, text: str, *, uid: str, rows: int) -> Iterator[Rows]:
    """Ask it there; what became of it is written down for its asker."""
    if not text.strip():
        raise InvalidInputError("The query is empty.", "Write a SELECT.")
    if len(text) > LONGEST:
        raise InvalidInputError(f"The query has {len(text):,} characters.", f"Use {LONGEST:,} at the most.")
    began, at = time.perf_counter(), platform.clock()
    told: dict[str, object] = {"rows": 0, "error": "It was not read to its end."}
    try:
        with asking.ask(platform, place.caller, uid=uid, workspace=place.name, text=text, rows=rows) as found:
            counted = _Counted(found.batches)
            yield Rows(counted, found.complete)
            told = {"rows": counted.count, "error": ""}
    except LakeholdError as error:
        told = {"rows": 0, "error": str(error)}
        raise
    finally:
        told |= {"asked_at": at, "took": int((time.perf_counter() - began) * 1_000_000), "text": text}
        with platform.database.write() as transaction:
            here = {"tenant_id": place.tenant, "member": place.caller.member, "workspace_id": place.workspace}
            transaction.connection.execute(query_table.insert().values(**here, **told))


def before(
    ctx: RequestContext, *, workspace: str | None = None, behind: int | None = None, limit: int = 50
) -> list[Asked]:
    """What the caller asked before, the newest first."""
    c = query_table.c
    where = [c.tenant_id == ctx.session.tenant, c.member == ctx.caller.member]
    if workspace is not None:
        ctx.need_visible(workspace)
        where.append(c.workspace_id == ctx.view.resource(workspace))
    if behind is not None:
        where.append(c.n < behind)
    query = sa.select(query_table).where(*where).order_by(c.n.desc()).limit(limit)
    rows = ctx.session.transaction.connection.execute(query).all()
    uids = ctx.view.uids
    return [
        Asked(row.n, uids.get(row.workspace_id) or "", row.text, row.asked_at, row.took, row.rows, row.error)
        for row in rows
    ]


def forget(platform: Platform) -> int:
    """Remove what was asked long ago; how many."""
    with platform.database.write() as transaction:
        old = query_table.delete().where(query_table.c.asked_at < platform.clock() - KEPT)
        return transaction.connection.execute(old).rowcount


class _Counted:
    """Batches, counted as they are read."""

    def __init__(self, batches: Batches) -> None:
        self.schema = batches.schema
        self.count = 0
        self._batches = batches

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._batches:
            self.count += batch.num_rows
            yield batch
