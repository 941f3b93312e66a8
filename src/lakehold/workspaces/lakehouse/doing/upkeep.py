"""A table kept up: files, versions, descriptions. The run holds the table, so that nobody writes it meanwhile."""

from __future__ import annotations

from datetime import UTC, datetime

from lakehold.kit.clock import SECOND
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark import maintenance
from lakehold.runs.runnable import Done, StepContext
from lakehold.workspaces.lakehouse.steps import Describe, Restore, Rollback, Upkeep
from lakehold.workspaces.lakehouse.upkeep import KEPT


def do(step: Upkeep, doing: StepContext) -> Done:
    """One part of it. A table that has nothing yet can still have left files behind."""
    place = _place(doing, step.table)
    if step.part == "sweep":
        swept = maintenance.sweep(doing.tables, place)
        doing.log(f"{swept.files:,} files of nobody deleted")
        return Done()
    if not doing.tables.exists(place):
        doing.log("The table has no data yet")
        return Done()
    if step.part == "compact":
        done = maintenance.compact(doing.tables, place)
        doing.log(
            f"{done.rewritten:,} files became {done.made:,}, and {done.deletes_rewritten:,} lists of deleted rows"
        )
        return Done(size=done.size)
    now = datetime.fromtimestamp(doing.platform.clock() / SECOND, UTC)
    days = doing.platform.settings.snapshot_days
    gone = maintenance.expire(doing.tables, place, days=days, at_least=KEPT, now=now)
    doing.log(f"{gone.snapshots:,} snapshots older than {days} days expired, and {gone.files:,} files with them")
    return Done()


def roll_back(step: Rollback, doing: StepContext) -> Done:
    """The table as it was then."""
    doing.tables.rollback(_place(doing, step.table), step.snapshot)
    doing.log(f"The table is as it was at snapshot {step.snapshot}")
    return Done()


def describe(step: Describe, doing: StepContext) -> Done:
    """What its fields mean."""
    doing.tables.describe(_place(doing, step.table), dict(step.fields))
    doing.log(f"{len(step.fields):,} fields described")
    return Done()


def restore(step: Restore, doing: StepContext) -> Done:
    """The rows lie where they lay; the new table is where they are looked for."""
    place = _place(doing, step.table)
    doing.tables.lake.rename_table(TableIdentifier(place.tenant, step.number), place)
    now = doing.tables.current_metadata(place)
    doing.log(f"The table has {now.current.count('total-records') if now.current else 0:,} rows again")
    return Done()


def _place(doing: StepContext, table: str) -> TableIdentifier:
    with doing.platform.read(doing.caller) as ctx:
        return readable_tables.identifier_of(ctx, table)
