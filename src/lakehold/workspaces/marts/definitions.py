"""How a data mart is defined: by SQL, a table or a pattern over tables of its storage, or fed by a connector."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import shown
from lakehold.workspaces.told import Told

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

    @classmethod
    def of(cls, told: Told) -> Definition:
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
        return cls(by, text, mode, keys, cursor, _columns(told), told.flag("published", default=False))

    def refuse_draft(self, uid: str) -> None:
        """A draft is not reported on."""
        if not self.published:
            raise ConflictError(f"The data mart {shown(uid)} is a draft.", "Publish it first.")


def _columns(told: Told) -> tuple[Column, ...]:
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
        raise InvalidInputError(f"The column {shown(twice)} of the data mart stands twice.", "Keep one of them.")
    return tuple(found)
