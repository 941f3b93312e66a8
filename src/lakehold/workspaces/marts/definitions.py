"""How a data mart is defined: by SQL, a table or a pattern over tables of its storage, or fed by a connector."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.workspaces.told import SettingsReader

WORD = "data mart"


class By(StrEnum):
    """What a definition is."""

    SQL = "sql"
    TABLE = "table"
    PATTERN = "pattern"
    CONNECTOR = "connector"
    """Fed by a stream of a database or an API of its own, into its storage."""


class In(StrEnum):
    """What a storage is."""

    LAKE = "lake"
    DATABASE = "database"
    FILES = "files"


CONNECTORS = ("database", "api")
KEPT_ENDING = ".parquet"
"""Of the copy of a data mart in a folder."""
MODES = ("full", "append", "merge", "mirror", "incremental")


@dataclass(frozen=True, slots=True)
class Column:
    """A field of a mart as its readers see it. What is hidden is not kept at all."""

    name: str
    alias: str = ""
    description: str = ""
    type: str = ""
    """Another one than it arrives with."""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """A data mart, as its settings say."""

    by: By
    text: str
    """The query, the table, the pattern or the stream."""
    mode: str
    keys: tuple[str, ...]
    cursor: str
    columns: tuple[Column, ...]
    published: bool
    kept_as: str
    """What a copy of its rows is called in its storage; empty if none is kept there."""

    @classmethod
    def of(cls, told: SettingsReader) -> Definition:
        """What is told, checked."""
        by = By(told.one_of("by", tuple(By), By.SQL))
        mode = told.one_of("mode", MODES, "full")
        keys, cursor = told.texts("keys"), told.text("cursor", "")
        if mode in {"merge", "mirror"} and not keys:
            raise InvalidInputError("To merge, the data mart needs a primary key.", "Set keys.")
        if mode == "incremental" and not cursor:
            raise InvalidInputError("To read only what is new, a cursor is needed.", "Set cursor.")
        if by is By.CONNECTOR:
            told.one_of("connector", CONNECTORS, "")
        text = told.text("stream" if by is By.CONNECTOR else by.value)
        kept_as = _kept_as(told, by, text)
        return cls(by, text, mode, keys, cursor, _columns(told), told.flag("published", default=False), kept_as)


def draws_from(by: str, text: str, name: str) -> bool:
    """Whether a definition draws from what has this name in its storage, as far as it says so itself.

    A file has an ending there. A table without a schema may be in any: so it is taken for one of that which is drawn.
    """
    if not name or by not in {By.TABLE, By.PATTERN}:
        return False
    drawn = {text, text if "." in name else text.rpartition(".")[2]}
    called = (name, f"{name}{KEPT_ENDING}")
    return any(each == one or (by == By.PATTERN and fnmatchcase(each, one)) for each in called for one in drawn)


def _kept_as(told: SettingsReader, by: By, text: str) -> str:
    """Never over what it draws from."""
    name = told.text("kept_as", "")
    if draws_from(by, text, name):
        raise InvalidInputError(
            f"The data mart cannot be kept as {quote(name)}: it draws from that.", "Give the copy another name."
        )
    return name


def _columns(told: SettingsReader) -> tuple[Column, ...]:
    found = [
        Column(
            each.text("name"),
            each.text("alias", ""),
            each.text("description", ""),
            each.text("type", ""),
            each.flag("hidden", default=False),
        )
        for each in told.each("columns")
    ]
    twice = next((column.name for n, column in enumerate(found) if column.name in {one.name for one in found[:n]}), "")
    if twice:
        raise InvalidInputError(f"The column {quote(twice)} of the data mart stands twice.", "Keep one of them.")
    return tuple(found)
