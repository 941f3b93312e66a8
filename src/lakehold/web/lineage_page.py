"""The lineage page: what a resource is made from and what reads it, as a graph and as a list."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import resources
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake import lineage
from lakehold.lake.lineage import MAX_DEPTH, LineageDirection
from lakehold.web import pages
from lakehold.web.access import resource_header
from lakehold.web.labels import icon_of
from lakehold.web.routing import router
from lakehold.web.table_pages import table_frame
from lakehold.workspaces.descriptor import LINEAGE_PAGE
from lakehold.workspaces.registry import describe_kind, find_lineage

routes = router("/resources")

_DEFAULT_STEPS = 2


@routes.get("/{uid:path}/lineage")
def lineage_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the lineage."""
    found = resources.get(ctx, uid)
    followed = find_lineage(found.kind) if LINEAGE_PAGE in describe_kind(found.kind).pages else None
    if followed is None:
        raise NotFoundError(f"There is no table {quote(uid)}.", "Check the name in the catalog.")
    ctx.need("see", uid)
    up, down = followed.upstream(ctx, uid), followed.downstream(ctx, uid)
    whole = bool(request.query_params.get("all"))
    near = (up, down) if whole else (up.limit_depth(_DEFAULT_STEPS), down.limit_depth(_DEFAULT_STEPS))
    values = {
        "up": up,
        "down": down,
        "made_from": lineage.list_resources(ctx, up),
        "read_by": lineage.list_resources(ctx, down),
        "drawing": lineage_drawing(ctx, uid, *near),
        "whole": whole,
        "no_upstream": followed.no_upstream,
        "no_downstream": followed.no_downstream,
        "goes_on": (up, down) != near,
    }
    return pages.render(request, "lineage/lineage.html", table_frame(ctx, found, LINEAGE_PAGE.part) | values)


def lineage_drawing(ctx: RequestContext, uid: str, up: LineageDirection, down: LineageDirection) -> GraphDrawing:
    """Return both directions as one drawing, with the resource in the middle."""
    visible, policy, here = VisibleRefs(ctx), ctx.view.policy, ("", uid)

    def box(uid: str) -> GraphBox:
        ref = visible.ref(uid)
        assert ref is not None  # noqa: S101 - only what is seen was found
        return resource_box(policy.kind(ref.kind).schema.title, ref, resource_header.overview_url(ctx, uid))

    nodes = {here: (0, box(uid))}
    links: list[tuple[tuple[str, str], tuple[str, str]]] = []
    for side, name, end in ((up, "up", -1), (down, "down", 1)):
        columns = _node_columns(side)
        nodes |= {(name, each): (end * step, box(each)) for each, step in columns.items() if step}
        pairs = [(near, far) for near, far in side.links if columns[far] > columns[near]]
        ends = [tuple(here if each == uid else (name, each) for each in pair) for pair in pairs]
        if side.hidden:
            nodes[name, "\0"] = (end, GraphBox("More", "Not visible to you", "eye-off"))
            ends.append((here, (name, "\0")))
        links += [(near, far) if end == 1 else (far, near) for near, far in ends]
    return layout_graph(nodes, list(dict.fromkeys(links)), here)


def _node_columns(side: LineageDirection) -> dict[str, int]:
    """Return how far out each node is drawn: farther than all that lead to it, except in cycles."""
    found = dict(side.steps)
    for _ in range(MAX_DEPTH):
        for near, far in side.links:
            if side.steps[far] and found[near] < MAX_DEPTH:
                found[far] = max(found[far], found[near] + 1)
    return found


K = TypeVar("K", bound=Hashable)

WIDTH, HEIGHT = 160, 46
_ACROSS, _BETWEEN, _EDGE = 30, 14, 16
_SWEEPS = 4


@dataclass(frozen=True, slots=True)
class GraphBox:
    """A node as it is drawn."""

    kind: str
    label: str
    icon: str
    href: str = ""
    uid: str = ""


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

    width: float
    height: float
    boxes: Sequence[PlacedBox]
    lines: Sequence[str]
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
            column.sort(key=lambda key: fmean([place[each] for each in near.get(key, ())] or [place[key]]))
            place |= {key: n / max(len(column), 1) for n, key in enumerate(column)}


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
    done: list[str] = []
    begun: set[str] = set()

    def visit(node: str) -> None:
        if node not in begun:
            begun.add(node)
            for following in after[node]:
                visit(following)
            done.append(node)

    for node in after:
        visit(node)
    return done[::-1]


def _pull_right(found: dict[str, int], pairs: Sequence[Link]) -> dict[str, int]:
    """Move each node without predecessors next to the first node that it leads to."""
    led_to = {other for _, other in pairs}
    first: dict[str, int] = {}
    for one, other in pairs:
        if one not in led_to and found[other] > found[one]:
            first[one] = min(found[other], first.get(one, found[other]))
    return {each: first[each] - 1 if each in first else place for each, place in found.items()}
