"""A small chart of the first rows: a bar for each. Text can draw it, so that mails and chats need no picture."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from dataclasses import dataclass

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.workspaces.marts.messages.first import MOST, First, is_number, short
from lakehold.workspaces.marts.messages.tables import fenced

_WIDTH = 24
_CELL, _BAR = "padding:2px 8px 2px 0", "height:12px;border-radius:2px;background:"
_UP, _DOWN = "#2f6fde", "#c0392b"


@dataclass(frozen=True, slots=True)
class _Bar:
    label: str
    number: str
    part: float
    """Of the longest; below nothing if the number is."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Of one column, by another."""

    first: First
    x: str
    y: str
    block = True

    def text(self) -> str:
        """Of block letters; what is below nothing is drawn lighter."""
        bars = list(self._bars())
        if not bars:
            return "No rows."
        width = max(len(bar.label) for bar in bars)
        return "\n".join(f"{bar.label.ljust(width)}  {_drawn(bar.part)} {bar.number}".rstrip() for bar in bars)

    def html(self) -> str:
        """Of cells with a colour."""
        rows = "".join(
            f'<tr><td style="{_CELL}">{html.escape(bar.label)}</td><td style="width:200px"><div style="{_BAR}'
            f'{_UP if bar.part >= 0 else _DOWN};width:{abs(bar.part):.0%}"></div></td>'
            f'<td style="text-align:right;padding-left:8px">{html.escape(bar.number)}</td></tr>'
            for bar in self._bars()
        )
        return f'<table style="border-collapse:collapse">{rows}</table>' if rows else "<p>No rows.</p>"

    def chat(self) -> str:
        """Between fences, where letters have one width."""
        return fenced(self.text())

    def _bars(self) -> Iterator[_Bar]:
        x, y = self.first.place(self.x), self.first.place(self.y)
        some = self.first.rows[:MOST]
        numbers = [self._number(row[y]) for row in some]
        longest = max((abs(number) for number in numbers), default=0) or 1
        for row, number in zip(some, numbers, strict=True):
            yield _Bar(short(row[x]), short(row[y]), number / longest)

    def _number(self, value: object) -> float:
        if value is None:
            return 0.0
        if not is_number(value):
            raise InvalidInputError(
                f"The chart of the message cannot draw {quote(self.y)}: it is no number.", "Choose another column."
            )
        number = float(value)  # type: ignore[arg-type]
        return number if math.isfinite(number) else 0.0


def _drawn(part: float) -> str:
    halves = round(abs(part) * _WIDTH * 2)
    if part < 0:
        return "░" * max(1, halves // 2)
    return "█" * (halves // 2) + "▌" * (halves % 2)
