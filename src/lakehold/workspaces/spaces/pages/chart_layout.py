"""The picture of a chart: where its bars, lines, dots and labels are, for a template that draws them as SVG."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import NamedTuple

from lakehold.web.chart_scale import ChartScale, ChartTick, format_number, format_value
from lakehold.workspaces.spaces.apps.app_data import ChartData
from lakehold.workspaces.spaces.pages import treemap

WIDTH, HEIGHT = 520, 280
LEFT, RIGHT, TOP, BOTTOM = 60, 34, 12, 34
DRAWING = (WIDTH, HEIGHT, LEFT, RIGHT)
"""What a template needs of it."""
_LABELS, _LETTERS, _GAP = 5, 11, 0.14
_MAX_DOTS = 60
Row = Sequence[object]


class ChartBox(NamedTuple):
    """A bar, or a part of a tree map."""

    x: float
    y: float
    width: float
    height: float
    series: int
    tooltip: str
    text: str = ""


class ChartDot(NamedTuple):
    """A point of a line, or of a scatter chart."""

    x: float
    y: float
    series: int
    tooltip: str


class ChartPath(NamedTuple):
    """The line of a series, or its area, as the `d` of a path."""

    line: str
    area: str
    series: int


@dataclass(frozen=True, slots=True)
class ChartPicture:
    """All that is drawn of a chart."""

    boxes: Sequence[ChartBox] = ()
    dots: Sequence[ChartDot] = ()
    paths: Sequence[ChartPath] = ()
    ticks: Sequence[ChartTick] = ()
    labels: Sequence[ChartTick] = ()
    base: float | None = None
    """Where zero is; None without axes."""
    titles: tuple[str, str] = ("", "")
    """Of both axes, where each has a series."""
    series: Sequence[str] = field(default=())
    """The names of several series, in the order of their colours."""


def draw_chart(data: ChartData) -> ChartPicture | None:
    """Return the picture of a chart; None if its series are no numbers."""
    rows, names = data.rows(), [each.title for each in data.chart.series]
    numbers = [[to_number(value) for value in row[len(data.chart.group_by) :]] for row in rows]
    if not any(value is not None for row in numbers for value in row):
        return None
    groups = [row[0] for row in rows]
    match data.chart.type:
        case "scatter":
            return _scatter(groups, numbers, names)
        case "treemap":
            return ChartPicture(boxes=_tree(groups, [row[0] for row in numbers]))
        case "bar":
            return _bars(groups, numbers, names)
        case _:
            return _lines(groups, numbers, names, has_area=data.chart.type == "area")


def to_number(value: object) -> float | None:
    """Return a value as a number; None if it is none that can be drawn."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if isfinite(found) else None


def _scale_up(numbers: Sequence[Sequence[float | None]]) -> tuple[ChartScale, Callable[[float], float]]:
    scale = ChartScale.of_values([value for row in numbers for value in row if value is not None])
    return scale, lambda value: TOP + (HEIGHT - TOP - BOTTOM) * (1 - scale.share(value))


def _with_axes(
    picture: ChartPicture, scale: ChartScale, up: Callable[[float], float], places: Sequence[tuple[float, object]]
) -> ChartPicture:
    every = max(-(-len(places) // _LABELS), 1)
    labels = [ChartTick(x, format_value(_plain(group), _LETTERS)) for x, group in places[::every]]
    ticks = [ChartTick(up(each), format_number(each)) for each in scale.steps()]
    return ChartPicture(picture.boxes, picture.dots, picture.paths, ticks, labels, up(0), series=picture.series)


def _bars(groups: Row, numbers: Sequence[Sequence[float | None]], names: Sequence[str]) -> ChartPicture:
    scale, up = _scale_up(numbers)
    wide = (WIDTH - LEFT - RIGHT) / len(groups)
    each_wide = wide * (1 - 2 * _GAP) / len(names)
    boxes = [
        ChartBox(
            LEFT + n * wide + wide * _GAP + s * each_wide,
            min(up(value), up(0)),
            each_wide,
            max(abs(up(0) - up(value)), 1),
            s,
            _tooltip(groups[n], names[s], value),
        )
        for n, row in enumerate(numbers)
        for s, value in enumerate(row)
        if value is not None
    ]
    places = [(LEFT + (n + 0.5) * wide, group) for n, group in enumerate(groups)]
    return _with_axes(ChartPicture(boxes=boxes, series=_legend(names)), scale, up, places)


def _lines(
    groups: Row, numbers: Sequence[Sequence[float | None]], names: Sequence[str], *, has_area: bool
) -> ChartPicture:
    scale, up = _scale_up(numbers)
    across = _positions(groups)
    dots: list[ChartDot] = []
    paths: list[ChartPath] = []
    for s, name in enumerate(names):
        points = [(across[n], up(value), n, value) for n, row in enumerate(numbers) if (value := row[s]) is not None]
        line = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y, _, _ in points) if points else ""
        ends = f"L{points[-1][0]:.1f} {up(0):.1f}L{points[0][0]:.1f} {up(0):.1f}Z" if points and has_area else ""
        paths.append(ChartPath(line, f"{line}{ends}" if ends else "", s))
        if len(points) <= _MAX_DOTS:
            dots.extend(ChartDot(x, y, s, _tooltip(groups[n], name, value)) for x, y, n, value in points)
    picture = ChartPicture(dots=dots, paths=paths, series=_legend(names))
    return _with_axes(picture, scale, up, list(zip(across, groups, strict=True)))


def _positions(groups: Row) -> list[float]:
    """Return where groups are: by their values if all are numbers or times in order, else at equal distances."""
    values = [_ordinal(group) for group in groups]
    known = [value for value in values if value is not None]
    wide = WIDTH - LEFT - RIGHT
    if (
        len(known) == len(values) > 1
        and known in (sorted(known), sorted(known, reverse=True))
        and known[0] != known[-1]
    ):
        low, high = min(known), max(known)
        return [LEFT + wide * (0.03 + 0.94 * (value - low) / (high - low)) for value in known]
    return [LEFT + wide * (n + 0.5) / len(groups) for n in range(len(groups))]


def _ordinal(group: object) -> float | None:
    if isinstance(group, datetime):
        # Not its timestamp, which the first and last days there are do not have.
        return (group - datetime.min.replace(tzinfo=group.tzinfo)).total_seconds()
    if isinstance(group, date):
        return float(group.toordinal())
    return to_number(group)


def _scatter(groups: Row, numbers: Sequence[Sequence[float | None]], names: Sequence[str]) -> ChartPicture:
    points = [
        (group, row[0], row[1])
        for group, row in zip(groups, numbers, strict=True)
        if row[0] is not None and row[1] is not None
    ]
    across = ChartScale.of_values([x for _, x, _ in points], from_zero=False)
    upward = ChartScale.of_values([y for _, _, y in points], from_zero=False)
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    return ChartPicture(
        dots=[
            ChartDot(
                LEFT + wide * across.share(x),
                TOP + high * (1 - upward.share(y)),
                0,
                f"{format_value(_plain(group))}: {names[0]} {format_number(x)}, {names[1]} {format_number(y)}",
            )
            for group, x, y in points
        ],
        ticks=[ChartTick(TOP + high * (1 - upward.share(each)), format_number(each)) for each in upward.steps()],
        labels=[ChartTick(LEFT + wide * across.share(each), format_number(each)) for each in across.steps()],
        base=float(TOP + high),
        titles=(names[0], names[1]),
    )


def _tree(groups: Row, numbers: Sequence[float | None]) -> list[ChartBox]:
    parts = sorted(
        ((value, group) for value, group in zip(numbers, groups, strict=True) if value and value > 0),
        key=lambda part: -part[0],
    )
    boxes = treemap.squarify([value for value, _ in parts], WIDTH, HEIGHT)
    return [
        ChartBox(
            *(box.x, box.y, max(box.width - 2, 1), max(box.height - 2, 1), n % 8),
            f"{format_value(_plain(group))}: {format_number(value)}",
            format_value(_plain(group), max(int(box.width / 8), 1)) if box.width > 40 and box.height > 20 else "",  # noqa: PLR2004 - as large as a word
        )
        for n, (box, (value, group)) in enumerate(zip(boxes, parts, strict=True))
    ]


def _legend(names: Sequence[str]) -> Sequence[str]:
    return names if len(names) > 1 else ()


def _tooltip(group: object, name: str, value: float) -> str:
    return f"{format_value(_plain(group))}: {name} {format_number(value)}"


def _plain(group: object) -> object:
    """Return a group as its label has it: a decimal as a number, a moment without seconds that say nothing."""
    if isinstance(group, Decimal):
        return float(group)
    if isinstance(group, datetime):
        return group.date() if group.time() == datetime.min.time() else group.strftime("%Y-%m-%d %H:%M")
    return group
