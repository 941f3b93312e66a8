"""Connectors of sources, created from settings and secrets; and probing what a connector would read.

Addresses and names come from members and are checked: files are those of a volume that the member may read, databases
and APIs are where the platform allows them to be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from lakehold.connectors.address_guard import resolve_host
from lakehold.connectors.database import JdbcDatabase
from lakehold.connectors.sources.connector import SourceConnector, parse_fields
from lakehold.connectors.sources.files.connector import FileSource
from lakehold.connectors.sources.files.file_format import FileFormat
from lakehold.connectors.sources.jdbc.connector import JdbcSource, TablePartitioning
from lakehold.connectors.sources.rest.connector import RestSource
from lakehold.connectors.sources.rest.settings import (
    ApiAuth,
    ApiEndpoint,
    ApiKeyAuth,
    ApiLimits,
    ApiSettings,
    BasicAuth,
    BearerAuth,
    CursorPaging,
    LinkHeaderPaging,
    NoAuth,
    PageNumberPaging,
    Paging,
)
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.kit.settings import Settings
from lakehold.lake.volumes import Volume
from lakehold.workspaces.settings_reader import SettingsReader

_POSTGRESQL = "jdbc:postgresql:"
_HOSTS = re.compile(r"jdbc:postgresql://([^/?]+)")
_DEFAULT_PORT = 5432


@dataclass(frozen=True, slots=True)
class ConnectorFactory:
    """Creates connectors from settings and secrets."""

    settings: Settings
    secrets: Mapping[str, str] = field(repr=False)
    volume: Volume | None = None
    """The one that files are read from."""

    def create_connector(
        self, reader: SettingsReader, streams: Mapping[str, SettingsReader] | None = None
    ) -> SourceConnector:
        """Return the connector; `streams` has the settings of streams by the names that they have at the source."""
        match reader.one_of("connector", ("files", "database", "api"), ""):
            case "files":
                return self._create_files(reader, streams or {})
            case "database":
                parts = {name: _create_parts(each) for name, each in (streams or {}).items() if each.has("parts")}
                return JdbcSource(self.create_database(reader), reader.texts("schemas"), parts)
            case _:
                return RestSource(self._create_api(reader))

    def create_database(self, reader: SettingsReader) -> JdbcDatabase:
        """Return a database, or refuse its address if the platform does not allow it."""
        made = JdbcDatabase(
            reader.text("address"),
            reader.text("user", ""),
            self.secrets.get("password", ""),
            reader.text("driver", ""),
            reader.pairs("properties"),
        )
        made.check()
        allowed = [start.strip() for start in self.settings.databases.split(",") if start.strip()]
        if made.is_postgresql:
            for host, port in _postgresql_hosts(made.url):
                resolve_host(host, port, private=self.settings.private_addresses)
        # Two dots lead out of where the beginning leads to.
        elif ".." in made.url or not made.url.startswith(tuple(allowed)):
            raise InvalidInputError(
                "Databases of this kind are not allowed here.",
                "Use PostgreSQL, or ask whoever keeps the installation to allow them: LAKEHOLD_DATABASES.",
            )
        return made

    def _create_files(self, reader: SettingsReader, streams: Mapping[str, SettingsReader]) -> FileSource:
        """Return the files of a folder of the volume; a stream with a star in its name is all files that match it."""
        if self.volume is None:
            raise InvalidInputError("The source names no volume.", "Choose the volume that its files are in.")
        found = self.volume.list_folder(reader.text("folder", ""))
        paths = {file.name: str(self.volume.path_on_disk(file.path)) for file in found if not file.is_folder}
        formats = {
            name: FileFormat.from_json(each.nested("format").raw)
            for name, each in streams.items()
            if each.has("format")
        }
        together = next((name for name in streams if "*" in name), "")
        if not together:
            return FileSource(tuple(paths.values()), formats=formats)
        fitting = tuple(path for name, path in paths.items() if fnmatchcase(name, together))
        return FileSource(fitting, together=together, formats=formats)

    def _create_api(self, reader: SettingsReader) -> ApiSettings:
        limits = reader.nested("limits") if reader.has("limits") else SettingsReader({}, "limits")
        made = ApiSettings(
            reader.text("address"),
            tuple(_create_endpoint(each) for each in reader.nested_list("endpoints")),
            self._create_auth(reader.nested("auth")) if reader.has("auth") else NoAuth(),
            reader.pairs("headers"),
            ApiLimits(per_second=limits.number("per_second", 0), retries=limits.count("retries", ApiLimits().retries)),
            self.settings.private_addresses,
        )
        made.check()
        return made

    def _create_auth(self, reader: SettingsReader) -> ApiAuth:
        match reader.one_of("kind", ("none", "bearer", "basic", "key"), "none"):
            case "bearer":
                return BearerAuth(self._secret("token"))
            case "basic":
                return BasicAuth(reader.text("user"), self._secret("password"))
            case "key":
                return ApiKeyAuth(reader.text("name"), self._secret("key"), reader.flag("in_question", default=False))
            case _:
                return NoAuth()

    def _secret(self, name: str) -> str:
        if name not in self.secrets:
            raise InvalidInputError(f"The source has no {name}.", f"Set the credential {name}.")
        return self.secrets[name]


def _create_endpoint(reader: SettingsReader) -> ApiEndpoint:
    return ApiEndpoint(
        reader.text("name"),
        reader.text("path"),
        reader.text("records", ""),
        _create_paging(reader.nested("paging")) if reader.has("paging") else None,
        reader.pairs("params"),
        reader.text("since", ""),
        reader.texts("keys"),
        parse_fields([each.raw for each in reader.nested_list("fields")]),
    )


def _create_paging(reader: SettingsReader) -> Paging:
    match reader.one_of("by", ("page", "cursor", "link"), "page"):
        case "cursor":
            return CursorPaging(reader.text("path"), reader.text("parameter", "cursor"))
        case "link":
            return LinkHeaderPaging()
        case _:
            size = reader.count("size", 0)
            return PageNumberPaging(
                reader.text("parameter", "page"), reader.count("first", 1), reader.text("size_parameter", ""), size
            )


def _create_parts(reader: SettingsReader) -> TablePartitioning:
    parts = reader.nested("parts")
    return TablePartitioning(parts.text("column"), parts.count("count", 4, least=1))


def _postgresql_hosts(url: str) -> list[tuple[str, int]]:
    """Return the hosts in the address of a PostgreSQL; one without a host is this machine."""
    found = _HOSTS.match(url)
    hosts = []
    for each in (found[1] if found else "localhost").split(","):
        host, _, port = each.rpartition(":") if ":" in each and not each.endswith("]") else (each, "", "")
        if not host or (port and not port.isdigit()):
            raise InvalidInputError(f"The database's address has a host that is none: {quote(each)}.", "Correct it.")
        hosts.append((host, int(port) if port else _DEFAULT_PORT))
    return hosts


_SAMPLE_ROWS = 20


def probe_connector(connector: SourceConnector, stream: str) -> dict[str, Any]:
    """Return as JSON a sample of a stream, or without a stream the streams that there are."""
    if not stream:
        connector.check()
        return {"streams": [asdict(each) for each in connector.streams()]}
    found = asdict(connector.sample(stream, _SAMPLE_ROWS))
    if isinstance(connector, FileSource):
        found["format"] = connector.stream_format(stream).to_json()
    return found
