"""Fills the table of records: the rows of all sources, standardised where they are new or have changed."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from lakehold.access.facts.descriptions import describe_resource
from lakehold.kit.errors import ConflictError
from lakehold.lake import readable_tables
from lakehold.lake.spark.table_writer import WriteMode
from lakehold.runs.step_context import StepContext, StepResult
from lakehold.workspaces.products.executors.product_run import ProductRun
from lakehold.workspaces.products.executors.standardise import record_columns, standardise_rows
from lakehold.workspaces.products.product_tables import ProductTable

if TYPE_CHECKING:
    from lakehold.workspaces.products.settings import SourceMapping
    from lakehold.workspaces.products.steps import StandardiseRecords


def fill_records(step: StandardiseRecords, step_ctx: StepContext) -> StepResult:
    """Bring the table of records up to the rows of the sources."""
    here = ProductRun(step, step_ctx)
    place, columns = here.places[ProductTable.RECORDS], list(record_columns(here.settings))
    known = None
    if here.tables.exists(place) and here.tables.schema(place).fieldNames() == columns:
        known = here.tables.read_before_write(place, step_ctx.mark)
    parts = [_records_of(here, mapping, step, known) for mapping in here.settings.sources]
    folder = str(step_ctx.folder / "records")
    reduce(DataFrame.unionByName, parts).select(*columns).write.parquet(folder)
    step_ctx.check_stopped()
    # Columns that have changed are those of another table: all rows are written.
    mode = WriteMode.OVERWRITE if known is None else WriteMode.MIRROR
    written = here.write(ProductTable.RECORDS, here.tables.session.read.parquet(folder), mode, ("record",))
    return StepResult(written.added, written.size)


def _records_of(
    here: ProductRun, mapping: SourceMapping, step: StandardiseRecords, known: DataFrame | None
) -> DataFrame:
    with here.step_ctx.platform.read(here.step_ctx.caller) as ctx:
        place, name = readable_tables.identifier_of(ctx, mapping.source), describe_resource(ctx.view, mapping.source)
    if not here.tables.exists(place):
        raise ConflictError(f"The {name} has no rows yet.", "Refresh it first.")
    rows = here.tables.read(place)
    return standardise_rows(rows, here.settings, mapping, mapping.source, step.keys[mapping.source], known=known)
