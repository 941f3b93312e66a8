"""Rows as bars or a line. The numbers come back from the page that shows them: nothing is kept, or asked twice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10

from lakehold.kit.errors import InvalidInputError
from lakehold.web.lakehouse.grids import Grid

KINDS = (("bars", "Bars"), ("line", "Line"))
MOST_ROWS = 200
_LONGEST = 60
_MADE_OF_PARTS = ("array<", "map<", "struct<")
WIDTH, HEIGHT = 760, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 16, 40
_TICKS, _LABELS, _LETTERS = 5, 12, 14

Value = str | float | None


@dataclass(frozen=True, slots=True)
class Series:
    """A column that can be drawn."""

    name: str
    is_number: bool
    values: Sequence[Value]


@dataclass(frozen=True, slots=True)
class Mark:
    """A bar, or a point of the line."""

    x: float
    y: float
    width: float
    height: float
    told: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A label at an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """What is drawn, and of what."""

    kind: str
    x: int
    y: int
    label: str
    marks: Sequence[Mark]
    line: str
    """The `d` of its path; empty for bars."""
    ticks: Sequence[Tick]
    labels: Sequence[Tick]
    base: float


def series(grid: Grid) -> list[Series]:
    """The columns of the first rows that can be drawn; none if there are no numbers."""
    found = [
        Series(column.name, column.is_number, [_value(row[n].text, row[n].is_null, column.is_number) for row in first])
        for first in [grid.rows[:MOST_ROWS]]
        for n, column in enumerate(grid.columns)
        if not column.type.startswith(_MADE_OF_PARTS)
    ]
    return found if grid.rows and any(each.is_number for each in found) else []


def packed(columns: Sequence[Series]) -> str:
    """The columns as a form sends them back."""
    return json.dumps([[each.name, each.is_number, each.values] for each in columns], ensure_ascii=False)


def unpacked(text: str) -> list[Series]:
    """What a form sent back. Anybody can send anything: what does not fit is refused."""
    try:
        told = json.loads(text)
        found = [Series(str(name), bool(number), _sent(values, bool(number))) for name, number, values in told]
    except (ValueError, TypeError, RecursionError):
        raise InvalidInputError("There is nothing to draw.", "Run the query again.") from None
    if not any(each.is_number for each in found) or len({len(each.values) for each in found}) != 1:
        raise InvalidInputError("There are no numbers to draw.", "Let the query give at least one.")
    return found


def chart(columns: Sequence[Series], kind: str = "", x: str = "", y: str = "") -> Chart:
    """Draw a column over another. What is not chosen, or cannot be, is chosen here."""
    numbers = [n for n, each in enumerate(columns) if each.is_number]
    words = [n for n, each in enumerate(columns) if not each.is_number]
    across = int(x) if x.isdigit() and int(x) < len(columns) else (words or numbers)[0]
    up = int(y) if y.isdigit() and int(y) in numbers else next((n for n in numbers if n != across), numbers[0])
    chosen = kind if kind in dict(KINDS) else KINDS[0][0]
    return _drawn(columns, chosen, across, up)


def _drawn(columns: Sequence[Series], kind: str, x: int, y: int) -> Chart:
    names, values = columns[x].values, [each if isinstance(each, float) else None for each in columns[y].values]
    known = [value for value in values if value is not None]
    step = _step(max([0.0, *known]) - min([0.0, *known]))
    low, high = _down(min([0.0, *known]), step), -_down(-max([0.0, *known]), step) or step
    wide = (WIDTH - _LEFT - _RIGHT) / max(len(values), 1)

    def up(value: float) -> float:
        return _TOP + (HEIGHT - _TOP - _BOTTOM) * (high - value) / (high - low)

    marks = []
    for n, value in enumerate(values):
        if value is not None:
            top, left = up(value), _LEFT + n * wide
            told = f"{_said(names[n])}: {_number(value)}"
            marks.append(Mark(left + wide * 0.12, min(top, up(0)), wide * 0.76, max(abs(up(0) - top), 1), told))
    middles = [(_LEFT + (n + 0.5) * wide, up(value)) for n, value in enumerate(values) if value is not None]
    if kind == "line":
        marks = [Mark(px, py, 0, 0, mark.told) for (px, py), mark in zip(middles, marks, strict=True)]
    every = max(-(-len(values) // _LABELS), 1)
    return Chart(
        kind,
        x,
        y,
        f"{dict(KINDS)[kind]}: {columns[y].name} by {columns[x].name}",
        marks,
        "M" + "L".join(f"{px:.1f} {py:.1f}" for px, py in middles) if kind == "line" and middles else "",
        [Tick(up(low + n * step), _number(low + n * step)) for n in range(round((high - low) / step) + 1)],
        [Tick(_LEFT + (n + 0.5) * wide, _cut(_said(names[n]))) for n in range(0, len(values), every)],
        up(0),
    )


def _step(span: float) -> float:
    """A round number, of which the span has about as many as there are lines."""
    if not span:
        return 1.0
    rough = span / _TICKS
    size = 10.0 ** floor(log10(rough))
    return next(size * n for n in (1, 2, 5, 10) if size * n >= rough)


def _down(value: float, step: float) -> float:
    return floor(value / step + 1e-9) * step


def _value(text: str, is_null: bool, is_number: bool) -> Value:  # noqa: FBT001 - a cell, and its column
    if is_null:
        return None
    return _finite(float(text)) if is_number else text[:_LONGEST]


def _sent(values: object, is_number: bool) -> list[Value]:  # noqa: FBT001 - as above
    if not isinstance(values, list) or len(values) > MOST_ROWS:
        raise TypeError
    if is_number:
        return [None if value is None else _finite(float(value)) for value in values]
    return [None if value is None else str(value)[:_LONGEST] for value in values]


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _said(value: Value) -> str:
    if value is None:
        return "null"
    return _number(value) if isinstance(value, float) else value


def _number(value: float) -> str:
    return f"{value:,.6g}" if abs(value) < 1e15 else f"{value:.3g}"  # noqa: PLR2004 - longer than can be read


def _cut(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"
