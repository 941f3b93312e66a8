"""What was pulled: when, how many rows, and how long it took. Kept for ninety days."""

from __future__ import annotations

import sqlalchemy as sa

from lakehold.directory.platform import Platform
from lakehold.kit.clock import DAY, Moment
from lakehold.kit.database import IdType, metadata
from lakehold.workspaces.marts.live.entering import Entered
from lakehold.workspaces.marts.live.pulling import Pull
from lakehold.workspaces.marts.live.secrets import live_secret_table

live_pull_table = sa.Table(
    "live_pull",
    metadata,
    sa.Column("n", IdType, primary_key=True, autoincrement=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("report_id", IdType, nullable=False),
    sa.Column("destination_id", IdType, nullable=False),
    sa.Column("at", IdType, nullable=False),
    sa.Column("rows", IdType, nullable=False),
    sa.Column("milliseconds", IdType, nullable=False),
)
sa.Index("live_pull_by_report", live_pull_table.c.tenant_id, live_pull_table.c.report_id, live_pull_table.c.n)
sa.Index("live_pull_by_time", live_pull_table.c.at)

DAYS = 90


def write(platform: Platform, entered: Entered, pull: Pull, at: Moment, *, rows: int, milliseconds: int) -> None:
    """Write one down, with all that was sent of it."""
    told = {"report_id": pull.report, "destination_id": pull.destination, "rows": rows, "milliseconds": milliseconds}
    with platform.database.write("live") as transaction:
        transaction.connection.execute(live_pull_table.insert().values(tenant_id=pull.tenant, at=at, **told))
        used = live_secret_table.update().where(live_secret_table.c.id == entered.secret).values(used_at=at)
        transaction.connection.execute(used)


def forget(platform: Platform) -> int:
    """Drop what is older; how many."""
    with platform.database.write("live") as transaction:
        old = live_pull_table.delete().where(live_pull_table.c.at < platform.clock() - DAYS * DAY)
        return transaction.connection.execute(old).rowcount
