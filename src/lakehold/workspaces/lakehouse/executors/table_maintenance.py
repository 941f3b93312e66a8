"""Executors of table maintenance: files, snapshots, descriptions, restored and purged tables.

The run locks the table, so that nobody writes it meanwhile.
"""

from __future__ import annotations

from datetime import UTC, datetime

from lakehold.directory.platform import Platform
from lakehold.kit.clock import SECOND
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark import maintenance
from lakehold.lake.spark.tables import Tables
from lakehold.runs.runnable import StepContext, StepResult
from lakehold.workspaces.lakehouse import dropped_tables
from lakehold.workspaces.lakehouse.maintenance import MIN_SNAPSHOTS
from lakehold.workspaces.lakehouse.steps import DescribeFields, MaintainTable, RestoreRows, RollBackTable


def purge_dropped_tables(platform: Platform, tables: Tables) -> int:
    """Drop the tables that were deleted long ago with all their files; return how many."""
    found = dropped_tables.expired_places(platform)
    for place in found:
        tables.drop(place)
        maintenance.sweep(tables, place)
    return len(found)


def maintain_table(step: MaintainTable, step_ctx: StepContext) -> StepResult:
    """Execute one part of the maintenance. A table without data can still have orphan files."""
    place = _place(step_ctx, step.table)
    if step.part == "sweep":
        swept = maintenance.sweep(step_ctx.tables, place)
        step_ctx.log(f"{swept:,} files of nobody deleted")
        return StepResult()
    if not step_ctx.tables.exists(place):
        step_ctx.log("The table has no data yet")
        return StepResult()
    if step.part == "compact":
        done = maintenance.compact(step_ctx.tables, place)
        step_ctx.log(
            f"{done.rewritten:,} files became {done.made:,}, and {done.deletes_rewritten:,} lists of deleted rows"
        )
        return StepResult(size=done.size)
    now = datetime.fromtimestamp(step_ctx.platform.clock() / SECOND, UTC)
    days = step_ctx.platform.settings.snapshot_days
    gone = maintenance.expire(step_ctx.tables, place, days=days, at_least=MIN_SNAPSHOTS, now=now)
    step_ctx.log(f"{gone.snapshots:,} snapshots older than {days} days expired, and {gone.files:,} files with them")
    return StepResult()


def roll_back_table(step: RollBackTable, step_ctx: StepContext) -> StepResult:
    """Roll the table back to a snapshot."""
    step_ctx.tables.rollback(_place(step_ctx, step.table), step.snapshot)
    step_ctx.log(f"The table is as it was at snapshot {step.snapshot}")
    return StepResult()


def describe_fields(step: DescribeFields, step_ctx: StepContext) -> StepResult:
    """Set the descriptions of the table's fields."""
    step_ctx.tables.describe(_place(step_ctx, step.table), dict(step.fields))
    step_ctx.log(f"{len(step.fields):,} fields described")
    return StepResult()


def restore_rows(step: RestoreRows, step_ctx: StepContext) -> StepResult:
    """Let the new table take over the files of the dropped one."""
    place = _place(step_ctx, step.table)
    step_ctx.tables.lake.rename_table(TableIdentifier(place.tenant, step.number), place)
    now = step_ctx.tables.current_metadata(place)
    step_ctx.log(f"The table has {now.current.count('total-records') if now.current else 0:,} rows again")
    return StepResult()


def _place(step_ctx: StepContext, table: str) -> TableIdentifier:
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        return readable_tables.identifier_of(ctx, table)
