"""Results of the data quality checks of data marts, over time."""

from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import IdType, Transaction, metadata
from lakehold.workspaces.marts import mart_kinds

quality_table = sa.Table(
    "quality",
    metadata,
    sa.Column("n", IdType, primary_key=True, autoincrement=True),
    sa.Column("tenant_id", IdType, nullable=False),
    # The data mart.
    sa.Column("resource_id", IdType, nullable=False),
    # Which look it was: a step that is done again looks once.
    sa.Column("mark", sa.Text, nullable=False),
    sa.Column("at", IdType, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("said", sa.Text, nullable=False),
)
sa.Index("quality_by_resource", quality_table.c.tenant_id, quality_table.c.resource_id, quality_table.c.n)
sa.Index("quality_by_mark", quality_table.c.tenant_id, quality_table.c.mark)

KEPT, BROKEN, UNKNOWN = "kept", "broken", "unknown"
_CHECK_STEPS = (0, 1)
"""Where a run looks at checks: after the refresh, or without one."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check."""

    name: str
    state: str
    """Kept, broken, or unknown if it could not be evaluated."""
    said: str
    at: Moment = 0


def save_results(transaction: Transaction, tenant: int, resource: int, mark: str, outcomes: list[CheckResult]) -> None:
    """Store the results, once for each mark."""
    c = quality_table.c
    gone = sa.and_(c.tenant_id == tenant, c.resource_id == resource, c.mark == mark)
    transaction.connection.execute(quality_table.delete().where(gone))
    here = {"tenant_id": tenant, "resource_id": resource, "mark": mark}
    rows = [{**here, **asdict(each)} for each in outcomes]
    if rows:
        transaction.connection.execute(quality_table.insert(), rows)


def failed_results(ctx: RequestContext, run: str, since: Moment) -> list[CheckResult]:
    """Return the failed results of a run since a moment.

    For the platform's own use: who sends them checks access.
    """
    c = quality_table.c
    looked = c.mark.in_([f"{run}/{place}" for place in _CHECK_STEPS])
    return _load(ctx, sa.select(quality_table).where(looked, c.at >= since, c.state != KEPT).order_by(c.n))


def list_results(ctx: RequestContext, mart: str, *, limit: int = 200) -> list[CheckResult]:
    """Return the results of a data mart, newest first, for those who see it."""
    mart_kinds.need_action(ctx, mart, mart_kinds.DATA_MART_KIND)
    c = quality_table.c
    mine = sa.select(quality_table).where(c.resource_id == ctx.view.resource(mart))
    return _load(ctx, mine.order_by(c.n.desc()).limit(limit))


def _load(ctx: RequestContext, query: sa.Select[Any]) -> list[CheckResult]:
    mine = query.where(quality_table.c.tenant_id == ctx.session.tenant)
    rows = ctx.session.transaction.connection.execute(mine)
    return [CheckResult(row.name, row.state, row.said, row.at) for row in rows]
