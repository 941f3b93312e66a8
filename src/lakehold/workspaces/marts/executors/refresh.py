"""Executors of the refresh of a data mart, and of the copy of its rows in its storage."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lakehold.catalog import credentials
from lakehold.connectors.database import JdbcDatabase
from lakehold.connectors.destinations import files, jdbc
from lakehold.connectors.destinations.file_formats import ParquetFormat
from lakehold.connectors.destinations.files import FileDestination
from lakehold.connectors.destinations.jdbc import DeliveryMode, JdbcDestination
from lakehold.connectors.sources.connector import SourceConnector
from lakehold.connectors.sources.stream_selection import SELECTION_STREAM, LakeSource, StreamSelection
from lakehold.connectors.sources.sync import SyncMode, SyncOptions, current_cursor, sync_stream
from lakehold.directory.request_context import RequestContext
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.row_formats import quote_identifier
from lakehold.lake.volumes import Volume
from lakehold.runs.runnable import StepContext, StepResult
from lakehold.workspaces.marts import storages
from lakehold.workspaces.marts.definitions import DefinitionType, MartDefinition, StorageType
from lakehold.workspaces.marts.executors import connections
from lakehold.workspaces.marts.pipelines.data_mart import mart_settings
from lakehold.workspaces.marts.steps import CopyToStorage, RefreshMart
from lakehold.workspaces.settings_reader import SettingsReader
from lakehold.workspaces.transfer import delivery
from lakehold.workspaces.transfer.source import ConnectorFactory

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def copy_to_storage(step: CopyToStorage, step_ctx: StepContext) -> StepResult:
    """Replace the copy in the storage by all rows that the data mart has now."""
    settings = step_ctx.platform.settings
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        ctx.need("use", step.storage)
        volume = Volume(settings, readable_tables.identifier_of(ctx, step.storage))
        factory = ConnectorFactory(settings, credentials.load_for_use(ctx, step.storage), volume)
        reader, name = (
            storages.storage_settings(ctx, step.storage),
            MartDefinition.from_settings(mart_settings(ctx, step.mart)).kept_as,
        )
        place = readable_tables.identifier_of(ctx, step.mart)
    to = (
        _target_table(factory.create_database(reader), name)
        if storages.storage_type(reader) is StorageType.DATABASE
        else _target_file(volume, reader, name)
    )
    step_ctx.check_stopped()
    rows = step_ctx.tables.read(place)
    if isinstance(to, JdbcDestination):
        return delivery.delivery_result(step_ctx, jdbc.deliver_rows(rows, to, step_ctx.mark))
    # Where in the storage, not where on this machine.
    return delivery.delivery_result(
        step_ctx, replace(files.deliver_files(rows, to, step_ctx.mark), places=(to.file_name,))
    )


def _target_table(database: JdbcDatabase, name: str) -> JdbcDestination:
    schema, _, table = name.rpartition(".")
    return JdbcDestination(database, table, schema, DeliveryMode.OVERWRITE, only_own=True)


def _target_file(volume: Volume, reader: SettingsReader, name: str) -> FileDestination:
    return FileDestination(str(volume.folder_on_disk(reader.text("folder", ""))), name, ParquetFormat(), only_own=True)


def refresh_mart(step: RefreshMart, step_ctx: StepContext) -> StepResult:
    """Write what the definition returns now."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        definition = MartDefinition.from_settings(mart_settings(ctx, step.mart))
        place = readable_tables.identifier_of(ctx, step.mart)
        drawn = StreamSelection(
            _mart_connector(ctx, step_ctx, step, definition),
            definition.text,
            tuple(column.name for column in definition.columns if column.hidden),
            {column.name: column.type for column in definition.columns if column.type and not column.hidden},
            definition.by is DefinitionType.PATTERN,
        )
    step_ctx.check_stopped()
    done = sync_stream(
        step_ctx.tables,
        place,
        drawn,
        SELECTION_STREAM,
        _sync_options(step_ctx, definition, place, reload=step.reload),
        step_ctx.mark,
    )
    for note in done.notes:
        step_ctx.log(note)
    written = done.written
    step_ctx.log(f"{written.added:,} rows written, {written.removed:,} removed; the data mart has {written.total:,}")
    return StepResult(written.added, written.size, done.bad, {"cursor": done.cursor} if done.cursor else {})


def _mart_connector(
    ctx: RequestContext, step_ctx: StepContext, step: RefreshMart, definition: MartDefinition
) -> SourceConnector:
    """Return the connector of the rows: the storage, or a connector of the data mart with its own secrets."""
    if definition.by is DefinitionType.CONNECTOR:
        return ConnectorFactory(step_ctx.platform.settings, credentials.load_for_use(ctx, step.mart)).create_connector(
            mart_settings(ctx, step.mart)
        )
    return _storage_connector(ctx, step_ctx, step.storage, definition)


def _storage_connector(
    ctx: RequestContext, step_ctx: StepContext, storage: str, definition: MartDefinition
) -> SourceConnector:
    reader = storages.storage_settings(ctx, storage)
    if storages.storage_type(reader) is StorageType.LAKE:
        return _lakehouse_reader(ctx, step_ctx, reader, definition)
    settings = step_ctx.platform.settings
    volume = Volume(settings, readable_tables.identifier_of(ctx, storage))
    sql = definition.text if definition.by is DefinitionType.SQL else ""
    return connections.storage_connector(settings, reader, credentials.load_for_use(ctx, storage), volume, sql)


def _lakehouse_reader(
    ctx: RequestContext, step_ctx: StepContext, reader: SettingsReader, definition: MartDefinition
) -> LakeSource:
    """Return a reader of the lakehouse as the caller of the run, who needs rights there."""
    lake = storages.lake_tables(ctx, reader)
    tables = tuple(each.name for each in lake.tables)

    def ask(stream: str) -> DataFrame:
        text = stream if definition.by is DefinitionType.SQL else f"SELECT * FROM {_quoted_table(stream)}"  # noqa: S608 - quoted
        return step_ctx.run_query(lake.lakehouse, text)[0]

    return LakeSource(ask, lambda: tables)


def _quoted_table(name: str) -> str:
    layer, _, table = name.partition(".")
    return ".".join(quote_identifier(part) for part in (layer, table) if part)


def _sync_options(
    step_ctx: StepContext, definition: MartDefinition, place: TableIdentifier, *, reload: bool
) -> SyncOptions:
    """Return how rows are loaded; a reload of an incremental mart replaces everything."""
    mode = SyncMode(definition.mode)
    if reload and mode in {SyncMode.INCREMENTAL, SyncMode.APPEND}:
        mode = SyncMode.FULL
    cursor = definition.cursor if mode is SyncMode.INCREMENTAL else ""
    return SyncOptions(
        mode, definition.keys, cursor, current_cursor(step_ctx.tables, place, cursor, step_ctx.mark), allow_empty=True
    )
