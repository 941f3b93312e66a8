"""A data mart is kept in its storage too: a copy of its rows, for those who ask the storage itself."""

from __future__ import annotations

from dataclasses import replace

from lakehold.catalog import credentials
from lakehold.pipeline import reading
from lakehold.pipeline.connectors.outward import files, jdbc
from lakehold.pipeline.connectors.outward.database import Database
from lakehold.pipeline.connectors.outward.files import Files
from lakehold.pipeline.connectors.outward.jdbc import Into, Jdbc
from lakehold.pipeline.connectors.outward.shapes import Parquet
from lakehold.pipeline.volumes import Volume
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
        volume = Volume(settings, reading.place_of(ctx, step.storage))
        connecting = Connecting(settings, credentials.load_for_use(ctx, step.storage), volume)
        told, name = storages.told_of(ctx, step.storage), Definition.of(told_of(ctx, step.mart)).kept_as
        place = reading.place_of(ctx, step.mart)
    to = _table(connecting.database(told), name) if storages.where(told) is In.DATABASE else _file(volume, told, name)
    doing.go_on()
    rows = doing.tables.read(place)
    if isinstance(to, Jdbc):
        return noted.told_of(doing, jdbc.deliver(rows, to, doing.mark))
    # Where in the storage, not where on this machine.
    return noted.told_of(doing, replace(files.deliver(rows, to, doing.mark), places=(to.file,)))


def _table(database: Database, name: str) -> Jdbc:
    schema, _, table = name.rpartition(".")
    return Jdbc(database, table, schema, Into.OVERWRITE, ours=True)


def _file(volume: Volume, told: SettingsReader, name: str) -> Files:
    return Files(str(volume.inside(told.text("folder", ""))), name, Parquet(), ours=True)
