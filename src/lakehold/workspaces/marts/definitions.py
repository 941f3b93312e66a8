"""The definition of a data mart: by SQL, a table or a pattern over tables of its storage, or loaded by a
connector.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.workspaces.settings_reader import SettingsReader

DATA_MART_LABEL = "data mart"


class DefinitionType(StrEnum):
    """How a data mart is defined."""

    SQL = "sql"
    TABLE = "table"
    PATTERN = "pattern"
    CONNECTOR = "connector"
    """Loaded from a stream of a database or API by its own connector, into its storage."""


class StorageType(StrEnum):
    """The type of a storage."""

    LAKE = "lake"
    DATABASE = "database"
    FILES = "files"


CONNECTORS = ("database", "api")
COPY_SUFFIX = ".parquet"
"""Of the copy of a data mart in a folder."""
REFRESH_MODES = ("full", "append", "merge", "mirror", "incremental")


@dataclass(frozen=True, slots=True)
class MartColumn:
    """A field of a data mart as its readers see it. A hidden field is not stored at all."""

    name: str
    alias: str = ""
    description: str = ""
    type: str = ""
    """Another one than it arrives with."""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class MartDefinition:
    """The definition of a data mart in its settings."""

    by: DefinitionType
    text: str
    """The query, the table, the pattern or the stream."""
    mode: str
    keys: tuple[str, ...]
    cursor: str
    columns: tuple[MartColumn, ...]
    published: bool
    kept_as: str
    """What a copy of its rows is called in its storage; empty if none is kept there."""

    @classmethod
    def from_settings(cls, reader: SettingsReader) -> MartDefinition:
        """Return the definition that the settings describe, or raise if they are invalid."""
        by = DefinitionType(reader.one_of("by", tuple(DefinitionType), DefinitionType.SQL))
        mode = reader.one_of("mode", REFRESH_MODES, "full")
        keys, cursor = reader.texts("keys"), reader.text("cursor", "")
        if mode in {"merge", "mirror"} and not keys:
            raise InvalidInputError("To merge, the data mart needs a primary key.", "Set keys.")
        if mode == "incremental" and not cursor:
            raise InvalidInputError("To read only what is new, a cursor is needed.", "Set cursor.")
        if by is DefinitionType.CONNECTOR:
            reader.one_of("connector", CONNECTORS, "")
        text = reader.text("stream" if by is DefinitionType.CONNECTOR else by.value)
        kept_as = _copy_name(reader, by, text)
        return cls(
            by, text, mode, keys, cursor, _load_columns(reader), reader.flag("published", default=False), kept_as
        )


def reads_from(by: str, text: str, name: str) -> bool:
    """Return whether a definition reads what has this name in its storage, as far as the definition says so.

    A file has an ending there. A table without a schema may be in any schema, so it counts as the one that is read.
    """
    if not name or by not in {DefinitionType.TABLE, DefinitionType.PATTERN}:
        return False
    drawn = {text, text if "." in name else text.rpartition(".")[2]}
    called = (name, f"{name}{COPY_SUFFIX}")
    return any(
        each == one or (by == DefinitionType.PATTERN and fnmatchcase(each, one)) for each in called for one in drawn
    )


def _copy_name(reader: SettingsReader, by: DefinitionType, text: str) -> str:
    """Return the name of the copy; never that of something the data mart reads."""
    name = reader.text("kept_as", "")
    if reads_from(by, text, name):
        raise InvalidInputError(
            f"The data mart cannot be kept as {quote(name)}: it draws from that.", "Give the copy another name."
        )
    return name


def _load_columns(reader: SettingsReader) -> tuple[MartColumn, ...]:
    found = [
        MartColumn(
            each.text("name"),
            each.text("alias", ""),
            each.text("description", ""),
            each.text("type", ""),
            each.flag("hidden", default=False),
        )
        for each in reader.nested_list("columns")
    ]
    twice = next((column.name for n, column in enumerate(found) if column.name in {one.name for one in found[:n]}), "")
    if twice:
        raise InvalidInputError(f"The column {quote(twice)} of the data mart stands twice.", "Keep one of them.")
    return tuple(found)
