"""The connector of a source, from what is written in its settings and the secrets that are kept apart from them.

What a person may write is an address and a name, and each is looked at: files are those of a volume that they may read,
databases and APIs are where the installation allows them to be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

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
    BasicAuth,
    BearerAuth,
    CursorPaging,
    LinkHeaderPaging,
    NoAuth,
    PageNumberPaging,
    Paging,
)
from lakehold.connectors.sources.rest.settings import ApiSettings as Api
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.kit.settings import Settings
from lakehold.lake.volumes import Volume
from lakehold.workspaces.told import SettingsReader

_POSTGRESQL = "jdbc:postgresql:"
_HOSTS = re.compile(r"jdbc:postgresql://([^/?]+)")
_PORT = 5432


@dataclass(frozen=True, slots=True)
class Connecting:
    """What connectors are made with."""

    settings: Settings
    secrets: Mapping[str, str] = field(repr=False)
    volume: Volume | None = None
    """The one that files are read from."""

    def connector(self, told: SettingsReader, streams: Mapping[str, SettingsReader] | None = None) -> SourceConnector:
        """The connector; streams are told by the names that they have at the source."""
        match told.one_of("connector", ("files", "database", "api"), ""):
            case "files":
                return self._files(told, streams or {})
            case "database":
                parts = {name: _parts(each) for name, each in (streams or {}).items() if each.has("parts")}
                return JdbcSource(self.database(told), told.texts("schemas"), parts)
            case _:
                return RestSource(self._api(told))

    def database(self, told: SettingsReader) -> JdbcDatabase:
        """A database, if it is where one may be."""
        made = JdbcDatabase(
            told.text("address"),
            told.text("user", ""),
            self.secrets.get("password", ""),
            told.text("driver", ""),
            told.pairs("properties"),
        )
        made.check()
        allowed = [start.strip() for start in self.settings.databases.split(",") if start.strip()]
        if made.is_postgresql:
            for host, port in _hosts(made.url):
                resolve_host(host, port, private=self.settings.private_addresses)
        # Two dots lead out of where the beginning leads to.
        elif ".." in made.url or not made.url.startswith(tuple(allowed)):
            raise InvalidInputError(
                "Databases of this kind are not allowed here.",
                "Use PostgreSQL, or ask whoever keeps the installation to allow them: LAKEHOLD_DATABASES.",
            )
        return made

    def _files(self, told: SettingsReader, streams: Mapping[str, SettingsReader]) -> FileSource:
        """The files of a folder of the volume; a stream with a star in its name is all files that fit it."""
        if self.volume is None:
            raise InvalidInputError("The source names no volume.", "Choose the volume that its files are in.")
        found = self.volume.list_folder(told.text("folder", ""))
        paths = {file.name: str(self.volume.path_on_disk(file.path)) for file in found if not file.is_folder}
        formats = {
            name: FileFormat.from_json(each.within("format").all)
            for name, each in streams.items()
            if each.has("format")
        }
        together = next((name for name in streams if "*" in name), "")
        if not together:
            return FileSource(tuple(paths.values()), formats=formats)
        fitting = tuple(path for name, path in paths.items() if fnmatchcase(name, together))
        return FileSource(fitting, together=together, formats=formats)

    def _api(self, told: SettingsReader) -> Api:
        limits = told.within("limits") if told.has("limits") else SettingsReader({}, "limits")
        made = Api(
            told.text("address"),
            tuple(_endpoint(each) for each in told.each("endpoints")),
            self._auth(told.within("auth")) if told.has("auth") else NoAuth(),
            told.pairs("headers"),
            ApiLimits(per_second=limits.number("per_second", 0), retries=limits.count("retries", ApiLimits().retries)),
            self.settings.private_addresses,
        )
        made.check()
        return made

    def _auth(self, told: SettingsReader) -> ApiAuth:
        match told.one_of("kind", ("none", "bearer", "basic", "key"), "none"):
            case "bearer":
                return BearerAuth(self._secret("token"))
            case "basic":
                return BasicAuth(told.text("user"), self._secret("password"))
            case "key":
                return ApiKeyAuth(told.text("name"), self._secret("key"), told.flag("in_question", default=False))
            case _:
                return NoAuth()

    def _secret(self, name: str) -> str:
        if name not in self.secrets:
            raise InvalidInputError(f"The source has no {name}.", f"Set the credential {name}.")
        return self.secrets[name]


def _endpoint(told: SettingsReader) -> ApiEndpoint:
    return ApiEndpoint(
        told.text("name"),
        told.text("path"),
        told.text("records", ""),
        _paging(told.within("paging")) if told.has("paging") else None,
        told.pairs("params"),
        told.text("since", ""),
        told.texts("keys"),
        parse_fields([each.all for each in told.each("fields")]),
    )


def _paging(told: SettingsReader) -> Paging:
    match told.one_of("by", ("page", "cursor", "link"), "page"):
        case "cursor":
            return CursorPaging(told.text("path"), told.text("parameter", "cursor"))
        case "link":
            return LinkHeaderPaging()
        case _:
            size = told.count("size", 0)
            return PageNumberPaging(
                told.text("parameter", "page"), told.count("first", 1), told.text("size_parameter", ""), size
            )


def _parts(told: SettingsReader) -> TablePartitioning:
    parts = told.within("parts")
    return TablePartitioning(parts.text("column"), parts.count("count", 4, least=1))


def _hosts(url: str) -> list[tuple[str, int]]:
    """The hosts in the address of a PostgreSQL; one without a host is this machine."""
    found = _HOSTS.match(url)
    hosts = []
    for each in (found[1] if found else "localhost").split(","):
        host, _, port = each.rpartition(":") if ":" in each and not each.endswith("]") else (each, "", "")
        if not host or (port and not port.isdigit()):
            raise InvalidInputError(f"The database's address has a host that is none: {quote(each)}.", "Correct it.")
        hosts.append((host, int(port) if port else _PORT))
    return hosts
