"""The graph of resources: its nodes, and their layout in columns. Templates draw it as SVG."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
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
class GraphBox:
    """A node as it is drawn."""

    kind: str
    label: str
    icon: str
    href: str = ""
    uid: str = ""

    @property
    def short(self) -> str:
        """Return the label, cut to the width of the box."""
        return self.label if len(self.label) <= _LONGEST else f"{self.label[: _LONGEST - 1]}…"


@dataclass(frozen=True, slots=True)
class PlacedBox:
    """A box with its position."""

    box: GraphBox
    x: float
    y: float
    is_here: bool


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """A laid-out graph."""

    width: float = 0
    height: float = 0
    boxes: Sequence[PlacedBox] = ()
    lines: Sequence[str] = field(default=())
    """Each as the `d` of a path."""


def resource_box(title: str, ref: ResourceRef, href: str) -> GraphBox:
    """Return the box of a resource."""
    return GraphBox(title, ref.name, icon_of(ref.kind), href, ref.uid)


def layout_graph(
    nodes: Mapping[K, tuple[int, GraphBox]], links: Sequence[tuple[K, K]], here: K | None = None
) -> GraphDrawing:
    """Lay out the nodes, each in its column, ordered so that linked nodes stand close to each other."""
    columns: dict[int, list[K]] = {}
    for key, (column, _) in nodes.items():
        columns.setdefault(column, []).append(key)
    order = sorted(columns)
    _sort_columns([columns[at] for at in order], links)
    tallest = max((len(some) for some in columns.values()), default=0)
    height = tallest * (HEIGHT + _BETWEEN) - _BETWEEN + 2 * _EDGE
    at: dict[K, tuple[float, float]] = {}
    for n, column in enumerate(order):
        some = columns[column]
        top = (height - len(some) * (HEIGHT + _BETWEEN) + _BETWEEN) / 2
        for m, key in enumerate(some):
            at[key] = (_EDGE + n * (WIDTH + _ACROSS), top + m * (HEIGHT + _BETWEEN))
    width = len(order) * (WIDTH + _ACROSS) - _ACROSS + 2 * _EDGE
    boxes = [PlacedBox(box, *at[key], is_here=key == here) for key, (_, box) in nodes.items()]
    return GraphDrawing(width, height, boxes, [_link_path(at[one], at[other]) for one, other in links])


def _sort_columns(columns: Sequence[list[K]], links: Sequence[tuple[K, K]]) -> None:
    """Sort every column by the positions of its neighbours, in some sweeps back and forth."""
    near: dict[K, list[K]] = {}
    for one, other in links:
        near.setdefault(one, []).append(other)
        near.setdefault(other, []).append(one)
    for sweep in range(_SWEEPS):
        place = {key: n / max(len(column), 1) for column in columns for n, key in enumerate(column)}
        for column in columns if sweep % 2 else reversed(columns):
            column.sort(key=lambda key: _mean([place[each] for each in near.get(key, ())], place[key]))
            place |= {key: n / max(len(column), 1) for n, key in enumerate(column)}


def _mean(places: Sequence[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise


def _link_path(one: tuple[float, float], other: tuple[float, float]) -> str:
    """Return the SVG path from the right edge of one box to the left edge of another."""
    x1, y1, x2, y2 = one[0] + WIDTH, one[1] + HEIGHT / 2, other[0], other[1] + HEIGHT / 2
    swing = max((x2 - x1) / 2, 24)
    return f"M{x1:g} {y1:g}C{x1 + swing:g} {y1:g} {x2 - swing:g} {y2:g} {x2:g} {y2:g}"


Link = tuple[str, str]


def all_nodes(pairs: Iterable[Link], more: Iterable[str] = ()) -> dict[str, None]:
    """Return all nodes of the links, each once."""
    return dict.fromkeys([*more, *(end for pair in pairs for end in pair)])


def connected_nodes(pairs: Sequence[Link], uid: str) -> dict[str, None]:
    """Return all nodes upstream and downstream of a node."""
    found = {uid: None}
    for start, end in ((0, 1), (1, 0)):
        waiting = [uid]
        for here in waiting:
            fresh = [pair[end] for pair in pairs if pair[start] == here and pair[end] not in waiting]
            waiting += dict.fromkeys(fresh)
        found |= dict.fromkeys(waiting)
    return found


def assign_columns(pairs: Sequence[Link], nodes: Iterable[str]) -> dict[str, int]:
    """Return the column of each node, right of all nodes that lead to it. Links that close a cycle are ignored."""
    after: dict[str, list[str]] = {each: [] for each in nodes}
    for one, other in pairs:
        after[one].append(other)
    order = _topological_order(after)
    place = {each: n for n, each in enumerate(order)}
    found = dict.fromkeys(order, 0)
    for one in order:
        for other in after[one]:
            if place[other] > place[one]:
                found[other] = max(found[other], found[one] + 1)
    return _pull_right(found, pairs)


def _topological_order(after: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the nodes so that each comes after those that lead to it."""
    done: dict[str, None] = {}
    begun: set[str] = set()
    for start in after:
        waiting = [(start, False)]
        while waiting:
            here, left = waiting.pop()
            if left:
                done[here] = None
            elif here not in begun:
                begun.add(here)
                waiting.append((here, True))
                waiting += [(each, False) for each in reversed(after[here]) if each not in begun]
    return list(reversed(done))


def _pull_right(found: dict[str, int], pairs: Sequence[Link]) -> dict[str, int]:
    """Move each node without predecessors next to the first node that it leads to."""
    led_to = {other for _, other in pairs}
    first: dict[str, int] = {}
    for one, other in pairs:
        if one not in led_to and found[other] > found[one]:
            first[one] = min(found[other], first.get(one, found[other]))
    return {each: first[each] - 1 if each in first else place for each, place in found.items()}
