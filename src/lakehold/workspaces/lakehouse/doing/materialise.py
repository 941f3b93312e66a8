"""Rows of a query into a table: asked as the person whom the run is for, written by the platform."""

from __future__ import annotations

from dataclasses import replace

from lakehold.connectors.sources import cursors
from lakehold.connectors.sources.connector import ReadSpan
from lakehold.kit.errors import ConflictError
from lakehold.lake.spark.schema_evolution import SchemaEvolution
from lakehold.lake.spark.table_writer import TableWriteOptions, ValueSpan, WriteMode, write_rows
from lakehold.runs.runnable import Done, StepContext
from lakehold.workspaces.lakehouse.doing import outputs
from lakehold.workspaces.lakehouse.steps import How, Materialise


def do(step: Materialise, doing: StepContext) -> Done:
    """One write of the rows that the query gives now."""
    rows, read = doing.asked(step.workspace, step.sql)
    if not read <= set(step.reads):
        # Who sees and edits the query is settled by what it says that it reads.
        raise ConflictError("The query reads tables that it does not name.", "Save it anew.")
    place = outputs.place(doing, step.into)
    doing.go_on()
    how = write_of(step.how, doing.mark)
    if step.span is not None:
        part = ValueSpan(step.cursor, step.span.since, step.span.until)
        rows = cursors.filter_span(rows, ReadSpan(part.field, part.since, including=True, until=part.until, again=True))
        # What has keys finds its rows by them; else the span as it is now takes the place of what it was.
        how = how if how.mode is WriteMode.MERGE else replace(how, mode=WriteMode.APPEND, span=part)
    done = write_rows(doing.tables, place, rows, how)
    doing.log(f"{done.added:,} rows written, {done.removed:,} removed; the table has {done.total:,}")
    return Done(done.added, done.size)


def write_of(how: How, mark: str) -> TableWriteOptions:
    """How rows go into the table."""
    return TableWriteOptions(WriteMode(how.mode), mark, how.keys, SchemaEvolution(how.evolution), how.partitioned_by)
