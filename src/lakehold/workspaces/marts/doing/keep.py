"""A data mart is kept in its storage too: a copy of its rows, for those who ask the storage itself."""

from __future__ import annotations

from dataclasses import replace

from lakehold.catalog import credentials
from lakehold.connectors.database import JdbcDatabase
from lakehold.connectors.destinations import files, jdbc
from lakehold.connectors.destinations.file_formats import ParquetFormat
from lakehold.connectors.destinations.files import FileDestination
from lakehold.connectors.destinations.jdbc import DeliveryMode, JdbcDestination
from lakehold.lake import readable_tables
from lakehold.lake.volumes import Volume
from lakehold.runs.runnable import Done, StepContext
from lakehold.workspaces.marts import storages
from lakehold.workspaces.marts.definitions import Definition, In
from lakehold.workspaces.marts.pipelines.mart import told_of
from lakehold.workspaces.marts.steps import Keep
from lakehold.workspaces.moving import noted
from lakehold.workspaces.moving.connecting import Connecting
from lakehold.workspaces.told import SettingsReader


def do(step: Keep, doing: StepContext) -> Done:
    """All rows that the mart has now, in place of the copy before."""
    settings = doing.platform.settings
    with doing.platform.read(doing.caller) as ctx:
        ctx.need("use", step.storage)
        volume = Volume(settings, readable_tables.identifier_of(ctx, step.storage))
        connecting = Connecting(settings, credentials.load_for_use(ctx, step.storage), volume)
        told, name = storages.told_of(ctx, step.storage), Definition.of(told_of(ctx, step.mart)).kept_as
        place = readable_tables.identifier_of(ctx, step.mart)
    to = _table(connecting.database(told), name) if storages.where(told) is In.DATABASE else _file(volume, told, name)
    doing.go_on()
    rows = doing.tables.read(place)
    if isinstance(to, JdbcDestination):
        return noted.told_of(doing, jdbc.deliver_rows(rows, to, doing.mark))
    # Where in the storage, not where on this machine.
    return noted.told_of(doing, replace(files.deliver_files(rows, to, doing.mark), places=(to.file_name,)))


def _table(database: JdbcDatabase, name: str) -> JdbcDestination:
    schema, _, table = name.rpartition(".")
    return JdbcDestination(database, table, schema, DeliveryMode.OVERWRITE, only_own=True)


def _file(volume: Volume, told: SettingsReader, name: str) -> FileDestination:
    return FileDestination(str(volume.folder_on_disk(told.text("folder", ""))), name, ParquetFormat(), only_own=True)
