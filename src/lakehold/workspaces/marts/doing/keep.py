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
from lakehold.runs.runnable import Doing, Done
from lakehold.workspaces.marts import storages
from lakehold.workspaces.marts.definitions import Definition, In
from lakehold.workspaces.marts.pipelines.mart import told_of
from lakehold.workspaces.marts.steps import Keep
from lakehold.workspaces.moving import noted
from lakehold.workspaces.moving.connecting import Connecting
from lakehold.workspaces.told import Told


def do(step: Keep, doing: Doing) -> Done:
    """All rows that the mart has now, in place of the copy before."""
    settings = doing.house.settings
    with doing.house.read(doing.caller) as work:
        work.need("use", step.storage)
        volume = Volume(settings, reading.place_of(work, step.storage))
        connecting = Connecting(settings, credentials.used(work, step.storage), volume)
        told, name = storages.told_of(work, step.storage), Definition.of(told_of(work, step.mart)).kept_as
        place = reading.place_of(work, step.mart)
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


def _file(volume: Volume, told: Told, name: str) -> Files:
    return Files(str(volume.inside(told.text("folder", ""))), name, Parquet(), ours=True)
