"""A data mart is refreshed: its rows are drawn from its storage and kept in the lake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakehold.catalog import credentials
from lakehold.directory.request_context import RequestContext
from lakehold.pipeline import reading
from lakehold.pipeline.connectors.inward.connector import Connector
from lakehold.pipeline.connectors.inward.drawing import DRAWN, Asked, Drawn
from lakehold.pipeline.connectors.inward.sync import SyncHow, SyncMode, reached, sync
from lakehold.pipeline.lake import Place
from lakehold.pipeline.quoting import quoted
from lakehold.pipeline.volumes import Volume
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
        place = reading.place_of(ctx, step.mart)
        drawn = Drawn(
            _connector(ctx, doing, step, definition),
            definition.text,
            tuple(column.name for column in definition.columns if column.hidden),
            {column.name: column.type for column in definition.columns if column.type and not column.hidden},
            definition.by is By.PATTERN,
        )
    doing.go_on()
    done = sync(doing.tables, place, drawn, DRAWN, _how(doing, definition, place, reload=step.reload), doing.mark)
    for note in done.notes:
        doing.log(note)
    written = done.written
    doing.log(f"{written.added:,} rows written, {written.removed:,} removed; the data mart has {written.total:,}")
    return Done(written.added, written.size, done.bad, {"cursor": done.cursor} if done.cursor else {})


def _connector(ctx: RequestContext, doing: StepContext, step: Refresh, definition: Definition) -> Connector:
    """Where its rows come from: its storage, or a connector of its own with the secrets that the mart keeps."""
    if definition.by is By.CONNECTOR:
        return Connecting(doing.platform.settings, credentials.load_for_use(ctx, step.mart)).connector(
            told_of(ctx, step.mart)
        )
    return _storage(ctx, doing, step.storage, definition)


def _storage(ctx: RequestContext, doing: StepContext, storage: str, definition: Definition) -> Connector:
    told = storages.told_of(ctx, storage)
    if storages.where(told) is In.LAKE:
        return _lake(ctx, doing, told, definition)
    settings = doing.platform.settings
    volume = Volume(settings, reading.place_of(ctx, storage))
    sql = definition.text if definition.by is By.SQL else ""
    return storing.connector(settings, told, credentials.load_for_use(ctx, storage), volume, sql)


def _lake(ctx: RequestContext, doing: StepContext, told: SettingsReader, definition: Definition) -> Asked:
    """The lake is read as the person whom the run is for: whoever uses the storage brings their own levels."""
    lake = storages.lake_tables(ctx, told)
    tables = tuple(each.name for each in lake.tables)

    def ask(stream: str) -> DataFrame:
        text = stream if definition.by is By.SQL else f"SELECT * FROM {_quoted(stream)}"  # noqa: S608 - quoted
        return doing.asked(lake.lakehouse, text)[0]

    return Asked(ask, lambda: tables)


def _quoted(name: str) -> str:
    layer, _, table = name.partition(".")
    return ".".join(quoted(part) for part in (layer, table) if part)


def _how(doing: StepContext, definition: Definition, place: Place, *, reload: bool) -> SyncHow:
    """A reload of what comes bit by bit replaces it all."""
    mode = SyncMode(definition.mode)
    if reload and mode in {SyncMode.INCREMENTAL, SyncMode.APPEND}:
        mode = SyncMode.FULL
    cursor = definition.cursor if mode is SyncMode.INCREMENTAL else ""
    return SyncHow(mode, definition.keys, cursor, reached(doing.tables, place, cursor, doing.mark), allow_empty=True)
