"""Rows of a query into a table: asked as the person whom the run is for, written by the platform."""

from __future__ import annotations

from dataclasses import replace

from lakehold.kit.errors import ConflictError
from lakehold.pipeline.connectors.inward import cursors
from lakehold.pipeline.connectors.inward.connector import Since
from lakehold.pipeline.spark.evolution import Evolution
from lakehold.pipeline.spark.spans import Within
from lakehold.pipeline.spark.writing import Mode, Write, write
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
        part = Within(step.cursor, step.span.since, step.span.until)
        rows = cursors.after(rows, Since(part.field, part.since, including=True, until=part.until, again=True))
        # What has keys finds its rows by them; else the span as it is now takes the place of what it was.
        how = how if how.mode is Mode.MERGE else replace(how, mode=Mode.APPEND, part=part)
    done = write(doing.tables, place, rows, how)
    doing.log(f"{done.added:,} rows written, {done.removed:,} removed; the table has {done.total:,}")
    return Done(done.added, done.size)


def write_of(how: How, mark: str) -> Write:
    """How rows go into the table."""
    return Write(Mode(how.mode), mark, how.keys, Evolution(how.evolution), how.partitioned_by)
