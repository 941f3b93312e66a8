"""Executors that write tables, roll them back, describe and restore them.

Queries and histories are read as the caller of the run and written by the platform. An output table is created as the
caller of the run, if it does not exist. The run locks the table, so that nobody writes it meanwhile.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lakehold.access import Add, Edge, Remove
from lakehold.catalog import resources
from lakehold.connectors.sources.source import ReadSpan, filter_span
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import fold_name
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark import maintenance
from lakehold.lake.spark.history import HistoryOptions, update_history
from lakehold.lake.spark.table_writer import SchemaEvolution, TableWriteOptions, ValueSpan, WriteMode, write_rows
from lakehold.lake.spark.tables import Tables
from lakehold.runs.step_context import StepContext, StepResult
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.lakehouse import steps
from lakehold.workspaces.lakehouse.deleted_tables import clear_settings, expired_places
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND, TABLE_KIND
from lakehold.workspaces.lakehouse.pipelines.tables import REJECTED_SUFFIX

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def read_table(step_ctx: StepContext, uid: str) -> DataFrame:
    """Return the rows of a table as the caller of the run sees them, through the guard."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        table = readable_tables.qualified_name(ctx, uid)
    found, _ = step_ctx.run_query("", f"SELECT * FROM {table}")  # noqa: S608 - quoted
    return found


def output_place(step_ctx: StepContext, into: steps.OutputTarget) -> TableIdentifier:
    """Return the place of the output table. A table that an earlier attempt created is found again."""
    with step_ctx.platform.write(step_ctx.caller) as ctx:
        return readable_tables.identifier_of(ctx, _output_table(ctx, into))


def rejected_place(step_ctx: StepContext, into: steps.OutputTarget, *, make: bool) -> TableIdentifier | None:
    """Return the place of the table of rejected rows, which lies beside the table and has the rights of its layer."""
    with step_ctx.platform.write(step_ctx.caller) as ctx:
        table = _output_table(ctx, into)
        layer = edge_targets(ctx, table, "layer")[0]
        name = f"{ctx.view.names.get(ctx.view.resource(table))}{REJECTED_SUFFIX}"
        found = _tables_by_name(ctx, layer).get(fold_name(name))
        if found is not None and not ctx.session.check(ctx.principal, "write", found):
            # Somebody else's table: its name is taken.
            found = None
        if found is None and make:
            found = resources.create(ctx, TABLE_KIND, name, edges={"layer": layer})
        return None if found is None else readable_tables.identifier_of(ctx, found)


def _output_table(ctx: RequestContext, into: steps.OutputTarget) -> str:
    written = edge_targets(ctx, into.pipeline, "writes")
    table_ids = [end for end in written if ctx.view.kind(ctx.view.resource(end)) == TABLE_KIND]
    if into.target in table_ids or ctx.view.kind(ctx.view.resource(into.target)) != LAYER_KIND:
        return into.target
    name, named = fold_name(into.table), _tables_by_name(ctx, into.target)
    if name in named and named[name] in table_ids:
        return named[name]
    uid = resources.create(ctx, TABLE_KIND, into.table, edges={"layer": into.target})
    # The output is the table from now on, and no longer its layer.
    ctx.make(Add(Edge("writes", into.pipeline, uid)))
    if into.target in edge_targets(ctx, into.pipeline, "writes"):
        ctx.make(Remove(Edge("writes", into.pipeline, into.target)))
    return uid


def _tables_by_name(ctx: RequestContext, layer: str) -> dict[str, str]:
    """Return the tables of a layer by name."""
    return ctx.session.read_view(
        lambda view: {
            fold_name(view.names.get(child) or ""): view.uid(child)
            for child in view.children(view.resource(layer))
            if view.kind(child) == TABLE_KIND
        }
    )


def run_update_history(step: steps.UpdateHistory, step_ctx: StepContext) -> StepResult:
    """Write all changes of a table into its history."""
    rows = read_table(step_ctx, step.source)
    place = output_place(step_ctx, step.into)
    step_ctx.check_stopped()
    how = HistoryOptions(
        keys=step.keys,
        at=step.at or None,
        track=step.track or None,
        ignore=step.ignore,
        closes_missing=step.closes_missing,
        last_by=step.last_by or None,
    )
    moment = datetime.fromtimestamp(step_ctx.platform.clock() / SECOND, UTC)
    done = update_history(step_ctx.tables, rows, place, how, mark=step_ctx.mark, moment=moment)
    step_ctx.log(f"{done.added:,} versions written; the history has {done.total:,}")
    return StepResult(done.added, done.size)


def materialise_query(step: steps.MaterialiseQuery, step_ctx: StepContext) -> StepResult:
    """Write the rows that the query returns now."""
    rows, read = step_ctx.run_query(step.workspace, step.sql)
    if not read <= set(step.reads):
        # Who sees and edits the query is settled by what it says that it reads.
        raise ConflictError("The query reads tables that were not stored with it.", "Save it again.")
    place = output_place(step_ctx, step.into)
    step_ctx.check_stopped()
    mode, evolution = WriteMode(step.how.mode), SchemaEvolution(step.how.evolution)
    how = TableWriteOptions(mode, step_ctx.mark, step.how.keys, evolution, step.how.partitioned_by)
    if step.span is not None:
        part = ValueSpan(step.cursor, step.span.since, step.span.until)
        rows = filter_span(rows, ReadSpan(part.field, part.since, including=True, until=part.until, again=True))
        # What has keys finds its rows by them; else the span as it is now takes the place of what it was.
        how = how if how.mode is WriteMode.MERGE else replace(how, mode=WriteMode.APPEND, span=part)
    done = write_rows(step_ctx.tables, place, rows, how)
    step_ctx.log(f"{done.added:,} rows written, {done.removed:,} removed; the table has {done.total:,}")
    return StepResult(done.added, done.size)


def purge_dropped_tables(platform: Platform, tables: Tables) -> int:
    """Drop the tables that were deleted long ago with all their files; return how many."""
    found = expired_places(platform)
    for place in found:
        tables.drop(place)
        maintenance.sweep(tables, place)
        clear_settings(platform, place)
    return len(found)


def roll_back_table(step: steps.RollBackTable, step_ctx: StepContext) -> StepResult:
    """Roll the table back to a snapshot."""
    step_ctx.tables.rollback(_place(step_ctx, step.table), step.snapshot)
    step_ctx.log(f"Rolled back to snapshot {step.snapshot}")
    return StepResult()


def describe_fields(step: steps.DescribeFields, step_ctx: StepContext) -> StepResult:
    """Set the descriptions of the table's fields."""
    step_ctx.tables.describe(_place(step_ctx, step.table), dict(step.fields))
    step_ctx.log(f"{len(step.fields):,} fields described")
    return StepResult()


def _place(step_ctx: StepContext, table: str) -> TableIdentifier:
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        return readable_tables.identifier_of(ctx, table)
