"""The result of a query: rows, an error message, and a chart of the rows as bars or a line."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

from lakehold.directory.platform import Platform
from lakehold.kit.clock import SECOND
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.lake.errors import StoppedError
from lakehold.runs import queries
from lakehold.web import table_pages
from lakehold.web.chart_scale import ChartScale, ChartTick, format_number, format_value
from lakehold.web.runs import labels

CHART_KINDS = (("bars", "Bars"), ("line", "Line"))
MAX_CHART_ROWS = 200
_LONGEST = 60
_NESTED_TYPES = ("array<", "map<", "struct<")
WIDTH, HEIGHT = 760, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 16, 40
_LABELS, _LETTERS = 12, 14

ChartValue = str | float | None


class ChartSeries(NamedTuple):
    """A column that can be charted."""

    name: str
    is_number: bool
    values: Sequence[ChartValue]


class ChartMark(NamedTuple):
    """A bar, or a point of the line."""

    x: float
    y: float
    width: float
    height: float
    tooltip: str


class QueryChart(NamedTuple):
    """A chart of query rows, ready to be drawn."""

    kind: str
    x: int
    y: int
    label: str
    marks: Sequence[ChartMark]
    line: str
    """The `d` of its path; empty for bars."""
    ticks: Sequence[ChartTick]
    labels: Sequence[ChartTick]
    base: float


def chart_series(grid: table_pages.Grid) -> list[ChartSeries]:
    """Return the columns of the first rows that can be charted; none if no column is numeric."""
    first = grid.rows[:MAX_CHART_ROWS]
    found = [
        ChartSeries(
            column.name,
            column.is_number,
            [_chart_value(None if row[n].is_null else row[n].text, column.is_number) for row in first],
        )
        for n, column in enumerate(grid.columns)
        if not column.type.startswith(_NESTED_TYPES)
    ]
    return found if grid.rows and any(each.is_number for each in found) else []


def unpack_series(text: str) -> list[ChartSeries]:
    """Parse the columns that a form sent back; raise InvalidInputError if they are not valid."""
    try:
        packed = json.loads(text)
        found = [
            ChartSeries(str(name), bool(number), _parse_values(values, bool(number))) for name, number, values in packed
        ]
    except (ValueError, TypeError, RecursionError):
        raise InvalidInputError("No result to chart.", "Run the query again.") from None
    if not any(each.is_number for each in found) or len({len(each.values) for each in found}) != 1:
        raise InvalidInputError("The result has no number to chart.", "Add at least one to the query.")
    return found


def build_chart(columns: Sequence[ChartSeries], kind: str = "", x: str = "", y: str = "") -> QueryChart:
    """Chart one column over another. Missing or invalid choices are replaced by defaults."""
    numbers = [n for n, each in enumerate(columns) if each.is_number]
    words = [n for n, each in enumerate(columns) if not each.is_number]
    across = int(x) if x.isdigit() and int(x) < len(columns) else (words or numbers)[0]
    up = int(y) if y.isdigit() and int(y) in numbers else next((n for n in numbers if n != across), numbers[0])
    chosen = kind if kind in dict(CHART_KINDS) else CHART_KINDS[0][0]
    return _layout_chart(columns, chosen, across, up)


def _layout_chart(columns: Sequence[ChartSeries], kind: str, x: int, y: int) -> QueryChart:
    names, values = columns[x].values, [each if isinstance(each, float) else None for each in columns[y].values]
    scale = ChartScale.of_values([value for value in values if value is not None])
    wide = (WIDTH - _LEFT - _RIGHT) / max(len(values), 1)

    def up(value: float) -> float:
        return _TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - scale.share(value))

    marks = []
    for n, value in enumerate(values):
        if value is not None:
            top, left = up(value), _LEFT + n * wide
            tooltip = f"{format_value(names[n])}: {format_number(value)}"
            marks.append(ChartMark(left + wide * 0.12, min(top, up(0)), wide * 0.76, max(abs(up(0) - top), 1), tooltip))
    middles = [(_LEFT + (n + 0.5) * wide, up(value)) for n, value in enumerate(values) if value is not None]
    if kind == "line":
        marks = [ChartMark(px, py, 0, 0, mark.tooltip) for (px, py), mark in zip(middles, marks, strict=True)]
    every = max(-(-len(values) // _LABELS), 1)
    return QueryChart(
        kind,
        x,
        y,
        f"{dict(CHART_KINDS)[kind]}: {columns[y].name} by {columns[x].name}",
        marks,
        "M" + "L".join(f"{px:.1f} {py:.1f}" for px, py in middles) if kind == "line" and middles else "",
        [ChartTick(up(each), format_number(each)) for each in scale.steps()],
        [ChartTick(_LEFT + (n + 0.5) * wide, format_value(names[n], _LETTERS)) for n in range(0, len(values), every)],
        up(0),
    )


def _parse_values(values: object, is_number: bool) -> list[ChartValue]:  # noqa: FBT001 - as a column has it
    if not isinstance(values, list) or len(values) > MAX_CHART_ROWS:
        raise TypeError
    return [_chart_value(value, is_number) for value in values]


def _chart_value(value: Any, is_number: bool) -> ChartValue:  # noqa: ANN401, FBT001 - of a cell, or from JSON
    if value is None or not is_number:
        return None if value is None else str(value)[:_LONGEST]
    number = float(value)
    return number if isfinite(number) else None


MAX_RESULT_ROWS = 500
"""The most that a person looks through; the download has all of them."""


@dataclass(frozen=True, slots=True)
class EditorResult:
    """The outcome of a query in the editor."""

    sql: str
    took: str = ""
    grid: table_pages.Grid | None = None
    complete: bool = True
    stopped: bool = False
    error: LakeholdError | None = None
    series: tuple[ChartSeries, ...] = ()
    chart: QueryChart | None = None

    @property
    def line(self) -> tuple[int, int] | None:
        """Return line and character of the error, counted from one, or None."""
        name, _, position = self.error.field.partition(".") if self.error else ("", "", "")
        line, _, character = position.partition(".")
        return (int(line), int(character)) if name == "sql" and character else None

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Return the columns that can be the x-axis of the chart."""
        return [(str(n), each.name) for n, each in enumerate(self.series)]

    @property
    def numbers(self) -> list[tuple[str, str]]:
        """Return the numeric columns, which can be the y-axis."""
        return [(str(n), each.name) for n, each in enumerate(self.series) if each.is_number]

    @property
    def packed(self) -> str:
        """Return the serialised columns for a hidden field of the chart's form."""
        return json.dumps(self.series, ensure_ascii=False)


def run_query(platform: Platform, place: queries.QueryScope, sql: str, uid: str) -> EditorResult:
    """Run a query and wait for its result."""
    began = time.perf_counter()
    try:
        with queries.run_query(platform, place, sql, uid=uid, rows=MAX_RESULT_ROWS) as found:
            grid = table_pages.build_grid(found.batches.schema, found.batches)
            complete = found.complete
    except StoppedError:
        return EditorResult(sql, _elapsed(began), stopped=True)
    except LakeholdError as error:
        return EditorResult(sql, _elapsed(began), error=error)
    series = chart_series(grid)
    chart = build_chart(series) if series else None
    return EditorResult(sql, _elapsed(began), grid, complete, series=tuple(series), chart=chart)


def _elapsed(began: float) -> str:
    return labels.format_duration(int((time.perf_counter() - began) * SECOND))
