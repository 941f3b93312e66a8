"""The first rows of a report, and what is known of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake import row_formats as data

MOST = 20
"""So many rows are in a table or a chart."""
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class First:
    """What a message can speak of."""

    name: str
    """The report's."""
    day: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]] = ()
    count: int = 0
    complete: bool = True
    """Whether the count is of all rows; else there are more."""

    def place(self, column: str) -> int:
        """Where a column stands, or a refusal that says which there are."""
        if column not in self.columns:
            there = ", ".join(self.columns[:MOST]) or "none"
            raise InvalidInputError(
                f"The message speaks of a column {quote(column)}, which the report does not have.",
                f"Its columns: {there}. Beside them there are rows, day, name, table, and chart with two columns.",
            )
        return self.columns.index(column)

    def value(self, column: str) -> str:
        """Of the first row; nothing, if there is none."""
        place = self.place(column)
        return words(self.rows[0][place]) if self.rows else ""

    def counted(self) -> str:
        """How many rows there are, in words."""
        return f"{self.count:,}" if self.complete else f"more than {self.count:,}"


def words(value: object) -> str:
    """A value in one line."""
    plain = data.to_json_value(value)
    if plain is None:
        return ""
    text = str(plain).lower() if isinstance(plain, bool) else str(plain)
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def short(value: object) -> str:
    """The same, cut where it would make a table too wide."""
    text = words(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def is_number(value: object) -> bool:
    """Whether it stands to the right."""
    return not isinstance(value, bool) and hasattr(value, "__float__")
