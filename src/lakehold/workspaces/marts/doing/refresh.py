"""A data mart is refreshed: its rows are drawn from its storage and kept in the lake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakehold.catalog import credentials
from lakehold.connectors.sources.connector import SourceConnector
from lakehold.connectors.sources.stream_selection import SELECTION_STREAM, LakeSource, StreamSelection
from lakehold.connectors.sources.sync import SyncMode, SyncOptions, current_cursor, sync_stream
from lakehold.directory.request_context import RequestContext
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.row_formats import quote_identifier
from lakehold.lake.volumes import Volume
from lakehold.runs.runnable import Done, StepContext
from lakehold.workspaces.marts import storages
from lakehold.workspaces.marts.definitions import By, Definition, In
from lakehold.workspaces.marts.doing import storing
from lakehold.workspaces.marts.pipelines.mart import told_of
from lakehold.workspaces.marts.steps import Refresh
from lakehold.workspaces.moving.connecting import Connecting
from lakehold.workspaces.told import SettingsReader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def do(step: Refresh, doing: StepContext) -> Done:
    """One write of what the definition gives now."""
    with doing.platform.read(doing.caller) as ctx:
        definition = Definition.of(told_of(ctx, step.mart))
        place = readable_tables.identifier_of(ctx, step.mart)
        drawn = StreamSelection(
            _connector(ctx, doing, step, definition),
            definition.text,
            tuple(column.name for column in definition.columns if column.hidden),
            {column.name: column.type for column in definition.columns if column.type and not column.hidden},
            definition.by is By.PATTERN,
        )
    doing.go_on()
    done = sync_stream(
        doing.tables, place, drawn, SELECTION_STREAM, _how(doing, definition, place, reload=step.reload), doing.mark
    )
    for note in done.notes:
        doing.log(note)
    written = done.written
    doing.log(f"{written.added:,} rows written, {written.removed:,} removed; the data mart has {written.total:,}")
    return Done(written.added, written.size, done.bad, {"cursor": done.cursor} if done.cursor else {})


def _connector(ctx: RequestContext, doing: StepContext, step: Refresh, definition: Definition) -> SourceConnector:
    """Where its rows come from: its storage, or a connector of its own with the secrets that the mart keeps."""
    if definition.by is By.CONNECTOR:
        return Connecting(doing.platform.settings, credentials.load_for_use(ctx, step.mart)).connector(
            told_of(ctx, step.mart)
        )
    return _storage(ctx, doing, step.storage, definition)


def _storage(ctx: RequestContext, doing: StepContext, storage: str, definition: Definition) -> SourceConnector:
    told = storages.told_of(ctx, storage)
    if storages.where(told) is In.LAKE:
        return _lake(ctx, doing, told, definition)
    settings = doing.platform.settings
    volume = Volume(settings, readable_tables.identifier_of(ctx, storage))
    sql = definition.text if definition.by is By.SQL else ""
    return storing.connector(settings, told, credentials.load_for_use(ctx, storage), volume, sql)


def _lake(ctx: RequestContext, doing: StepContext, told: SettingsReader, definition: Definition) -> LakeSource:
    """The lake is read as the person whom the run is for: whoever uses the storage brings their own levels."""
    lake = storages.lake_tables(ctx, told)
    tables = tuple(each.name for each in lake.tables)

    def ask(stream: str) -> DataFrame:
        text = stream if definition.by is By.SQL else f"SELECT * FROM {_quoted(stream)}"  # noqa: S608 - quoted
        return doing.asked(lake.lakehouse, text)[0]

    return LakeSource(ask, lambda: tables)


def _quoted(name: str) -> str:
    layer, _, table = name.partition(".")
    return ".".join(quote_identifier(part) for part in (layer, table) if part)


def _how(doing: StepContext, definition: Definition, place: TableIdentifier, *, reload: bool) -> SyncOptions:
    """A reload of what comes bit by bit replaces it all."""
    mode = SyncMode(definition.mode)
    if reload and mode in {SyncMode.INCREMENTAL, SyncMode.APPEND}:
        mode = SyncMode.FULL
    cursor = definition.cursor if mode is SyncMode.INCREMENTAL else ""
    return SyncOptions(
        mode, definition.keys, cursor, current_cursor(doing.tables, place, cursor, doing.mark), allow_empty=True
    )
