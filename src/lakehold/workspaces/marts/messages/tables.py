"""A small table of the first rows."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from lakehold.lake.markdown import escape_chat
from lakehold.workspaces.marts.messages.first import MOST, First, is_number, short

_MOST_COLUMNS = 12
_CELL = "border:1px solid #ccc;padding:3px 8px"


@dataclass(frozen=True, slots=True)
class Table:
    """It."""

    first: First
    block = True

    def text(self) -> str:
        """In columns that letters of one width make."""
        if not self.first.rows:
            return "No rows."
        cells = [[short(name) for name in self._columns], *([short(value) for value in row] for row in self._rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join([*(self._line(row, widths) for row in cells), *self._rest()])

    def html(self) -> str:
        """As mail programs show it."""
        if not self.first.rows:
            return "<p>No rows.</p>"
        head = "".join(f'<th style="{_CELL}">{html.escape(short(name))}</th>' for name in self._columns)
        body = "".join(f"<tr>{self._cells(row)}</tr>" for row in self._rows)
        rest = "".join(f"<p>{line}</p>" for line in self._rest())
        return f'<table style="border-collapse:collapse"><tr>{head}</tr>{body}</table>{rest}'

    def chat(self) -> str:
        """Between fences, where letters have one width."""
        return fenced(self.text())

    @property
    def _columns(self) -> Sequence[str]:
        return self.first.columns[:_MOST_COLUMNS]

    @property
    def _rows(self) -> list[Sequence[object]]:
        return [row[:_MOST_COLUMNS] for row in self.first.rows[:MOST]]

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        cells = [
            cell.rjust(width) if self._right(place) else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    def _right(self, place: int) -> bool:
        return any(is_number(row[place]) for row in self._rows)

    def _cells(self, row: Sequence[object]) -> str:
        sides = [";text-align:right" if self._right(place) else "" for place in range(len(row))]
        cells = zip(sides, row, strict=True)
        return "".join(f'<td style="{_CELL}{side}">{html.escape(short(value))}</td>' for side, value in cells)

    def _rest(self) -> list[str]:
        """What is left out."""
        more = self.first.count - len(self._rows)
        columns = len(self.first.columns) - len(self._columns)
        said = [f"{more:,} more rows"] if more > 0 and self.first.complete else []
        said += ["more rows"] if not self.first.complete else []
        said += [f"{columns:,} more columns"] if columns else []
        return [f"… and {', '.join(said)}"] if said else []


def fenced(text: str) -> str:
    """As a chat shows what is to stand in columns. A fence inside would end it."""
    return f"```\n{escape_chat(text).replace('`', chr(39))}\n```"
