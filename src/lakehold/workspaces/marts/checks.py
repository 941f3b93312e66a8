"""Results of the data quality checks of data marts, over time."""

from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import IdType, TenantRows, Transaction, metadata
from lakehold.workspaces.graph import need_kind
from lakehold.workspaces.marts.settings import DATA_MART_KIND

quality_table = sa.Table(
    "quality",
    metadata,
    sa.Column("n", IdType, primary_key=True, autoincrement=True),
    sa.Column("tenant_id", IdType, nullable=False),
    # The data mart.
    sa.Column("resource_id", IdType, nullable=False),
    # The step that ran the check: one that is repeated is stored once.
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
"""The places of the step that runs the checks: after the refresh, or without one."""


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
    c, rows = quality_table.c, TenantRows(transaction, tenant, quality_table)
    rows.delete(c.resource_id == resource, c.mark == mark)
    for each in outcomes:
        rows.insert(resource_id=resource, mark=mark, **asdict(each))


def failed_results(ctx: RequestContext, run: str, since: Moment) -> list[CheckResult]:
    """Return the failed results of a run since a moment, for the platform's own use: who sends them checks access."""
    c = quality_table.c
    marks = [f"{run}/{place}" for place in _CHECK_STEPS]
    rows = ctx.rows(quality_table).select(c.mark.in_(marks), c.at >= since, c.state != KEPT, order_by=[c.n])
    return [_result(row) for row in rows]


def list_results(ctx: RequestContext, mart: str, *, limit: int = 200) -> list[CheckResult]:
    """Return the results of a data mart, newest first, for those who see it."""
    need_kind(ctx, mart, "see", (DATA_MART_KIND,))
    c = quality_table.c
    here = c.resource_id == ctx.view.resource(mart)
    return [_result(row) for row in ctx.rows(quality_table).select(here, order_by=[c.n.desc()], limit=limit)]


def _result(row: sa.Row[Any]) -> CheckResult:
    return CheckResult(row.name, row.state, row.said, row.at)
