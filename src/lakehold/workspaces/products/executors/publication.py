"""Publishes a version of a data product: its search index, the snapshots that are kept for it, and its deliveries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyarrow.dataset import dataset
from pyiceberg.table import StaticTable

from lakehold.catalog import credentials
from lakehold.connectors import registry as connectors
from lakehold.connectors.registry import open_environment
from lakehold.lake import readable_tables
from lakehold.lake.volumes import Volume
from lakehold.runs.step_context import StepContext, StepResult
from lakehold.workspaces import transfer
from lakehold.workspaces.products import versions
from lakehold.workspaces.products.attribute_types import RAW, part_column
from lakehold.workspaces.products.entities.successors import RETIRING_CHANGES
from lakehold.workspaces.products.entity_index import (
    IndexedEntity,
    IndexedRecord,
    build_index,
    delete_other_indexes,
    version_folder,
)
from lakehold.workspaces.products.executors.product_run import ProductRun
from lakehold.workspaces.products.product_tables import ProductTable, list_tables
from lakehold.workspaces.products.settings import DESTINATION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from lakehold.workspaces.products.steps import DeliverVersion, PublishVersion
    from lakehold.workspaces.products.versions import ProductVersion

PUBLISHED_TAG = "published"
"""The tag by which upkeep leaves the snapshots of the published version alone."""


def publish_version(step: PublishVersion, step_ctx: StepContext) -> StepResult:
    """Build the search index of the newest version, and make it the published one."""
    here = ProductRun(step, step_ctx)
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        version, before = versions.need_newest(ctx, step.product), versions.find_published(ctx, step.product)
        tenant, product = ctx.session.tenant, ctx.view.resource(step.product)
    data = step_ctx.platform.settings.data
    folder = version_folder(data, tenant, product, version.number)
    content = _VersionContent(here, version)
    count = build_index(folder, content.entities(), content.records(), content.retired())
    step_ctx.check_stopped()
    here.tag(PUBLISHED_TAG, version.snapshots)
    with step_ctx.platform.write(step_ctx.caller) as ctx:
        versions.publish(ctx, step.product, version.number)
    # Whoever reads the last version goes on reading it.
    kept = {version.number, *([before.number] if before else [])}
    delete_other_indexes(data, tenant, product, kept)
    step_ctx.log(f"Version {version.number} is published with {count:,} entities")
    return StepResult(count, state={"version": version.number})


@dataclass(frozen=True, slots=True)
class _VersionContent:
    """The content of the index of a version, read batch by batch."""

    here: ProductRun
    version: ProductVersion

    def entities(self) -> Iterator[IndexedEntity]:
        """Yield the golden records."""
        names = [each.name for each in self.here.settings.attributes]
        for row in self._rows(ProductTable.ENTITIES):
            values = {name: row[name] for name in names if row.get(name) is not None}
            origins = {name: record for name, record in row["origins"] or () if name in values}
            yield IndexedEntity(row["entity"], values, origins, row["records"], row["flags"] or [])

    def records(self) -> Iterator[IndexedRecord]:
        """Yield the source records, each with its entity."""
        names = [each.name for each in self.here.settings.attributes]
        raw = {name: part_column(name, RAW) for name in names}
        columns = ["record", "source", "source_key", "recency", *raw.values()]
        members = self._read(ProductTable.MEMBERS).select("record", "entity")
        folder = str(self.here.step_ctx.folder / "records")
        self._read(ProductTable.RECORDS).select(*columns).join(members, "record").write.parquet(folder)
        for batch in dataset(folder).to_batches():
            for row in batch.to_pylist():
                values = {name: row[column] for name, column in raw.items() if row[column] is not None}
                key = row["source_key"].replace("\x1f", ", ")
                yield IndexedRecord(row["record"], row["entity"], row["source"], key, row["recency"], values)

    def retired(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the ids that were retired, with their successors."""
        for row in self._rows(ProductTable.CHANGES):
            successors = list(row["successors"] or ())
            if row["change"] in RETIRING_CHANGES and row["entity"] not in successors:
                yield row["entity"], successors

    def _read(self, table: ProductTable) -> DataFrame:
        """Return the rows of a table that every version has."""
        return self.here.tables.read(self.here.places[table], snapshot=self.version.snapshots[table])

    def _rows(self, table: ProductTable) -> Iterator[dict[str, Any]]:
        """Yield the rows of a table without Spark, whose results all go through the driver; none if it has none yet."""
        if not self.version.snapshots.get(table):
            return
        location = self.here.tables.lake.need_location(self.here.places[table])
        scan = StaticTable.from_metadata(location).scan(snapshot_id=self.version.snapshots[table])
        for batch in scan.to_arrow_batch_reader():
            yield from batch.to_pylist()


def deliver_version(step: DeliverVersion, step_ctx: StepContext) -> StepResult:
    """Send the entities of the published version to a destination."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        version = versions.find_published(ctx, step.product)
        place = readable_tables.identifier_of(ctx, list_tables(ctx, step.product)[ProductTable.ENTITIES])
        name = ctx.view.names.get(ctx.view.resource(step.product)) or step.product
        to = transfer.with_report_name(DESTINATION.parse(step.destination_settings), name)
        secrets = credentials.load_for_step(ctx, step.destination, step.destination_settings)
        volume = Volume(step_ctx.platform.settings, readable_tables.identifier_of(ctx, step.destination))
        environment = open_environment(ctx, step_ctx.platform.settings, secrets, volume)
    assert version is not None  # noqa: S101 - the step before has published it
    rows = step_ctx.tables.read(place, snapshot=version.snapshots[ProductTable.ENTITIES]).drop("origins", "flags")
    step_ctx.check_stopped()
    sent = connectors.open_destination(environment, to, transfer.delivery_request(step_ctx)).send(rows)
    return transfer.delivery_result(step_ctx, sent, version=version.number)
