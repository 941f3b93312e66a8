"""Things and what leads from one to the other, laid out in columns from left to right. Templates draw it as SVG."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from lakehold.catalog.resource_view import ResourceRef
from lakehold.web.labels import icon_of

K = TypeVar("K", bound=Hashable)

WIDTH, HEIGHT = 160, 46
_ACROSS, _BETWEEN, _EDGE = 30, 14, 16
_LONGEST = 17
_SWEEPS = 4


@dataclass(frozen=True, slots=True)
class Box:
    """One thing as it is drawn."""

    kind: str
    label: str
    icon: str
    href: str = ""
    uid: str = ""

    @property
    def short(self) -> str:
        """The label, as much of it as there is room for."""
        return self.label if len(self.label) <= _LONGEST else f"{self.label[: _LONGEST - 1]}…"


@dataclass(frozen=True, slots=True)
class Placed:
    """A box, and where it is."""

    box: Box
    x: float
    y: float
    is_here: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """All of it."""

    width: float = 0
    height: float = 0
    boxes: Sequence[Placed] = ()
    lines: Sequence[str] = field(default=())
    """Each as the `d` of a path."""


def box(title: str, ref: ResourceRef, href: str) -> Box:
    """A resource."""
    return Box(title, ref.name, icon_of(ref.kind), href, ref.uid)


def drawn(nodes: Mapping[K, tuple[int, Box]], links: Sequence[tuple[K, K]], here: K | None = None) -> Drawing:
    """Lay them out: each node has its column; in a column, nodes stand near those that they hang together with."""
    columns: dict[int, list[K]] = {}
    for key, (column, _) in nodes.items():
        columns.setdefault(column, []).append(key)
    order = sorted(columns)
    _untangle([columns[at] for at in order], links)
    tallest = max((len(some) for some in columns.values()), default=0)
    height = tallest * (HEIGHT + _BETWEEN) - _BETWEEN + 2 * _EDGE
    at: dict[K, tuple[float, float]] = {}
    for n, column in enumerate(order):
        some = columns[column]
        top = (height - len(some) * (HEIGHT + _BETWEEN) + _BETWEEN) / 2
        for m, key in enumerate(some):
            at[key] = (_EDGE + n * (WIDTH + _ACROSS), top + m * (HEIGHT + _BETWEEN))
    width = len(order) * (WIDTH + _ACROSS) - _ACROSS + 2 * _EDGE
    boxes = [Placed(box, *at[key], is_here=key == here) for key, (_, box) in nodes.items()]
    return Drawing(width, height, boxes, [_line(at[one], at[other]) for one, other in links])


def _untangle(columns: Sequence[list[K]], links: Sequence[tuple[K, K]]) -> None:
    """Sort every column by where its neighbours stand, some times to and fro."""
    near: dict[K, list[K]] = {}
    for one, other in links:
        near.setdefault(one, []).append(other)
        near.setdefault(other, []).append(one)
    for sweep in range(_SWEEPS):
        place = {key: n / max(len(column), 1) for column in columns for n, key in enumerate(column)}
        for column in columns if sweep % 2 else reversed(columns):
            column.sort(key=lambda key: _middle([place[each] for each in near.get(key, ())], place[key]))
            place |= {key: n / max(len(column), 1) for n, key in enumerate(column)}


def _middle(places: Sequence[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise


def _line(one: tuple[float, float], other: tuple[float, float]) -> str:
    """From the right edge of the one to the left edge of the other, with a swing."""
    x1, y1, x2, y2 = one[0] + WIDTH, one[1] + HEIGHT / 2, other[0], other[1] + HEIGHT / 2
    swing = max((x2 - x1) / 2, 24)
    return f"M{x1:g} {y1:g}C{x1 + swing:g} {y1:g} {x2 - swing:g} {y2:g} {x2:g} {y2:g}"
