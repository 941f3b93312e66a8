"""The executor of the upkeep of tables and data marts. Only a worker imports this."""

from collections.abc import Collection
from datetime import UTC, datetime

from lakehold.catalog import resource_metadata
from lakehold.kit.clock import SECOND
from lakehold.lake import readable_tables, table_views
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark import maintenance
from lakehold.runs.step_context import StepContext, StepResult
from lakehold.workspaces.upkeep import HIDE, MIN_SNAPSHOTS, MaintainTable


def maintain_table(step: MaintainTable, step_ctx: StepContext) -> StepResult:
    """Execute one part of the maintenance. A table without data can still have orphan files."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        place = readable_tables.identifier_of(ctx, step.table)
        hidden = table_views.hidden_fields(ctx, step.table)
    if step.part == "sweep":
        swept = maintenance.sweep(step_ctx.tables, place)
        step_ctx.log(f"{swept:,} orphan files deleted")
        return StepResult()
    if not step_ctx.tables.exists(place):
        step_ctx.log("The table has no data yet")
        return StepResult()
    if step.part == HIDE:
        drop_hidden(step_ctx, step.table, place, hidden)
        return StepResult()
    if step.part == "compact":
        done = maintenance.compact(step_ctx.tables, place)
        step_ctx.log(
            f"{done.rewritten:,} files compacted into {done.written:,}, and {done.deletes_rewritten:,} delete files"
        )
        return StepResult(size=done.size)
    now = datetime.fromtimestamp(step_ctx.platform.clock() / SECOND, UTC)
    days = step_ctx.platform.settings.snapshot_days
    gone = maintenance.expire(step_ctx.tables, place, days=days, at_least=MIN_SNAPSHOTS, now=now)
    step_ctx.log(f"{gone.snapshots:,} snapshots older than {days} days expired, and {gone.files:,} files with them")
    return StepResult()


def drop_hidden(step_ctx: StepContext, uid: str, place: TableIdentifier, hidden: Collection[str]) -> None:
    """Drop those of the hidden fields that are stored; from then on none of them is withheld."""
    if step_ctx.tables.exists(place):
        drop_fields(step_ctx, place, table_views.retained_fields(step_ctx.tables.current_metadata(place), hidden))
    with step_ctx.platform.write(step_ctx.caller) as ctx:
        resource_metadata.release_fields(ctx, uid, hidden)


def drop_fields(step_ctx: StepContext, place: TableIdentifier, names: list[str]) -> None:
    """Drop fields with their values, if there are any, and those of fields that an attempt before has dropped."""
    gone = maintenance.drop_fields(step_ctx.tables, place, names)
    if gone.snapshots:
        step_ctx.log(f"Columns removed for good; {gone.snapshots:,} older snapshots expired with {gone.files:,} files")
