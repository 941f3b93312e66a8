"""Publishes a version of a data product: its search index, the snapshots that are kept for it, and its deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyiceberg.table import StaticTable

from lakehold.catalog import credentials
from lakehold.connectors import registry as connectors
from lakehold.connectors.registry import open_environment
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.volumes import Volume
from lakehold.runs.step_context import StepContext, StepResult
from lakehold.workspaces import transfer
from lakehold.workspaces.products import versions
from lakehold.workspaces.products.entity_index import (
    IndexedEntity,
    build_index,
    delete_other_indexes,
    version_folder,
)
from lakehold.workspaces.products.product_tables import ProductTable, list_tables
from lakehold.workspaces.products.record_ids import source_marker
from lakehold.workspaces.products.settings import DESTINATION, PRODUCT, DataProductSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lakehold.lake.spark.tables import Tables
    from lakehold.workspaces.products.steps import DeliverVersion, PublishVersion
    from lakehold.workspaces.products.versions import ProductVersion

PUBLISHED_TAG = "published"
"""The tag by which upkeep leaves the snapshots of the published version alone."""


def publish_version(step: PublishVersion, step_ctx: StepContext) -> StepResult:
    """Build the search index of the newest version, and make it the published one."""
    settings = PRODUCT.parse(step.settings)
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        version, before = versions.need_newest(ctx, step.product), versions.find_published(ctx, step.product)
        places = {
            table: readable_tables.identifier_of(ctx, uid) for table, uid in list_tables(ctx, step.product).items()
        }
        tenant, product = ctx.session.tenant, ctx.view.resource(step.product)
    data = step_ctx.platform.settings.data
    entities = _entities(step_ctx.tables, places[ProductTable.ENTITIES], version, settings)
    count = build_index(version_folder(data, tenant, product, version.number), entities)
    step_ctx.check_stopped()
    for table, snapshot in version.snapshots.items():
        _tag(step_ctx.tables, places[table], snapshot)
    with step_ctx.platform.write(step_ctx.caller) as ctx:
        versions.publish(ctx, step.product, version.number)
    # Whoever reads the last version goes on reading it.
    kept = {version.number, *([before.number] if before else [])}
    delete_other_indexes(data, tenant, product, kept)
    step_ctx.log(f"Version {version.number} is published with {count:,} entities")
    return StepResult(count, state={"version": version.number})


def _entities(
    tables: Tables, place: TableIdentifier, version: ProductVersion, settings: DataProductSettings
) -> Iterator[IndexedEntity]:
    """Yield the entities of a version, batch by batch."""
    table = StaticTable.from_metadata(tables.lake.need_location(place))
    names = [each.name for each in settings.attributes]
    sources = {source_marker(mapping.source): mapping.source for mapping in settings.sources}
    for batch in table.scan(snapshot_id=version.snapshots[ProductTable.ENTITIES]).to_arrow_batch_reader():
        for row in batch.to_pylist():
            yield _indexed(row, names, sources)


def _indexed(row: Mapping[str, Any], names: list[str], sources: Mapping[str, str]) -> IndexedEntity:
    values = {name: row[name] for name in names if row.get(name) is not None}
    origins = {
        name: sources.get(source_marker(record=record), record)
        for name, record in (row["origins"] or ())
        if name in values
    }
    return IndexedEntity(row["entity"], values, origins, row["records"], row["flags"] or [])


def _tag(tables: Tables, place: TableIdentifier, snapshot: int) -> None:
    tables.writable_metadata(place)
    tables.session.sql(f"ALTER TABLE {place.sql} CREATE OR REPLACE TAG {PUBLISHED_TAG} AS OF VERSION {snapshot}")


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
