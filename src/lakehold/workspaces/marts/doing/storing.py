"""The connector of a storage that is a database or a folder of files."""

from __future__ import annotations

from collections.abc import Mapping

from lakehold.connectors.sources.connector import SourceConnector
from lakehold.connectors.sources.jdbc.connector import JdbcSource
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.settings import Settings
from lakehold.lake.volumes import Volume
from lakehold.workspaces.marts import storages
from lakehold.workspaces.marts.definitions import In
from lakehold.workspaces.moving.connecting import Connecting
from lakehold.workspaces.told import SettingsReader


def connector(
    settings: Settings, told: SettingsReader, secrets: Mapping[str, str], volume: Volume | None, sql: str = ""
) -> SourceConnector:
    """Its tables or files; or one query, which is then a stream of that name."""
    where = storages.where(told)
    connecting = Connecting(settings, secrets, volume)
    plain = SettingsReader({**told.all, "connector": where.value}, storages.WORD)
    if not sql:
        return connecting.connector(plain)
    if where is not In.DATABASE:
        raise InvalidInputError("Files are not asked in SQL.", "Define the data mart by a table or a pattern.")
    return JdbcSource(connecting.database(plain), queries={sql: sql})
