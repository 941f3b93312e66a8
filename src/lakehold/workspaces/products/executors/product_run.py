"""A run of a data product, as its steps share it: tables, settings, and the version before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from lakehold.kit.errors import ConflictError
from lakehold.lake import readable_tables
from lakehold.lake.spark.table_writer import SchemaEvolution, TableWriteOptions, TableWriteResult, WriteMode, write_rows
from lakehold.workspaces.products import versions
from lakehold.workspaces.products.product_tables import ProductTable, create_missing_tables
from lakehold.workspaces.products.settings import PRODUCT, DataProductSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

    from lakehold.lake.iceberg_catalog import TableIdentifier
    from lakehold.lake.spark.tables import Tables
    from lakehold.runs.step_context import StepContext
    from lakehold.workspaces.products.steps import ProductStep
    from lakehold.workspaces.products.versions import ProductVersion


@dataclass(frozen=True)
class ProductRun:
    """A step of a run, with the tables of its data product."""

    step: ProductStep
    step_ctx: StepContext

    @property
    def tables(self) -> Tables:
        """The tables of the platform."""
        return self.step_ctx.tables

    @property
    def run(self) -> str:
        """The id of the run."""
        return str(self.step_ctx.row.id)

    @cached_property
    def settings(self) -> DataProductSettings:
        """The settings that the data product had when the run began."""
        found: DataProductSettings = PRODUCT.parse(self.step.settings)
        return found

    @cached_property
    def places(self) -> Mapping[ProductTable, TableIdentifier]:
        """The tables of the data product; missing ones are created."""
        with self.step_ctx.platform.write(self.step_ctx.caller) as ctx:
            tables = create_missing_tables(ctx, self.step.product)
            return {table: readable_tables.identifier_of(ctx, uid) for table, uid in tables.items()}

    @cached_property
    def before(self) -> ProductVersion | None:
        """The newest version that another run has made."""
        with self.step_ctx.platform.read(self.step_ctx.caller) as ctx:
            return next((each for each in versions.list_versions(ctx, self.step.product) if each.run != self.run), None)

    def read(self, table: ProductTable) -> DataFrame:
        """Return the rows of a table as they are now; refused if an earlier step has not written it."""
        if not self.tables.exists(self.places[table]):
            raise ConflictError(f"The data product has no {table.value} yet.", "Run it from its first step.")
        return self.tables.read(self.places[table])

    def read_before(self, table: ProductTable) -> DataFrame | None:
        """Return the rows that a table had in the version before; None if there is none."""
        if self.before is None or not self.before.snapshots.get(table):
            return None
        return self.tables.read(self.places[table], snapshot=self.before.snapshots[table])

    def snapshot(self, table: ProductTable) -> int:
        """Return the id of the current snapshot of a table; 0 if it has none."""
        now = self.tables.current_metadata(self.places[table]).current
        return now.id if now else 0

    def tag(self, name: str, snapshots: Mapping[ProductTable, int]) -> None:
        """Name the snapshots of a version, so that upkeep leaves them alone as long as it has the name."""
        for table, snapshot in snapshots.items():
            if snapshot:
                place = self.places[table]
                self.tables.writable_metadata(place)
                self.tables.session.sql(
                    f"ALTER TABLE {place.sql} CREATE OR REPLACE TAG {name} AS OF VERSION {snapshot}"
                )

    def write(
        self, table: ProductTable, rows: DataFrame, mode: WriteMode = WriteMode.OVERWRITE, keys: Sequence[str] = ()
    ) -> TableWriteResult:
        """Write rows with the mark of the step, which makes the columns those of the rows if they replace all."""
        replaces = mode is WriteMode.OVERWRITE
        evolution = SchemaEvolution.OVERWRITE if replaces else SchemaEvolution.MERGE
        options = TableWriteOptions(mode, self.step_ctx.mark, keys, evolution)
        written = write_rows(self.tables, self.places[table], rows, options)
        self.step_ctx.log(
            f"{table.value}: {written.total:,} rows, {written.added:,} written, {written.removed:,} removed"
        )
        return written
