"""Lineage: what a resource is made from and what reads it, through pipelines and streams, as far as the
caller sees.

Behind a resource that the caller may not see nothing is followed: that there is more is said, but not how much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lakehold.catalog import kinds
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces.graph import edge_sources, edge_targets
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND
from lakehold.workspaces.lakehouse.pipelines.connections import STREAM_KIND

MAX_DEPTH = 8
"""So many steps away, nothing more is looked for."""
_MAX_NODES = 60
_PIPELINES = ("source", "stream", "query", "notebook", "history", "destination", "integration", "saved_query")
_LINEAGE_KINDS = frozenset(f"lakehouse.{word}" for word in ("table", "volume", *_PIPELINES))
"""The kinds that rows come from, go through or go into."""


@dataclass(slots=True)
class LineageDirection:
    """One direction: the resources found, each with its distance, and the links between them."""

    steps: dict[str, int] = field(default_factory=dict)
    links: list[tuple[str, str]] = field(default_factory=list)
    """From the nearer to the farther."""
    hidden: bool = False
    """Whether there is more that the caller may not see."""
    cut: bool = False
    """Whether there is more than is listed."""

    def limit_depth(self, max_depth: int) -> LineageDirection:
        """Return the part that is at most so many steps away."""
        steps = {uid: step for uid, step in self.steps.items() if step <= max_depth}
        links = [(near, far) for near, far in self.links if near in steps and far in steps]
        return LineageDirection(steps, links, self.hidden, self.cut)


def upstream(ctx: RequestContext, uid: str, *, max_depth: int = MAX_DEPTH) -> LineageDirection:
    """Return what the resource is made from."""
    return walk(ctx, uid, lambda here: _neighbours(ctx, here, upward=True), max_depth=max_depth)


def downstream(ctx: RequestContext, uid: str, *, max_depth: int = MAX_DEPTH) -> LineageDirection:
    """Return what reads the resource, and what is made from that."""
    return walk(ctx, uid, lambda here: _neighbours(ctx, here, upward=False), max_depth=max_depth)


def need_lineage(ctx: RequestContext, uid: str) -> None:
    """Refuse unless the caller sees the resource and it can have lineage."""
    ctx.need_visible(uid)
    schema = kinds.schema_of(ctx.view, uid)
    if schema.id not in _LINEAGE_KINDS:
        raise InvalidInputError(f"A {schema.title.lower()} has no lineage.", "Choose a table, a volume or a pipeline.")


def writers(ctx: RequestContext, uid: str) -> tuple[list[ResourceRef], bool]:
    """Return what writes the table, and whether there is more that the caller may not see."""
    side, eyes = LineageDirection(), VisibleRefs(ctx)
    return _visible_neighbours(ctx, eyes, edge_sources(ctx, uid, "writes"), side), side.hidden


def list_resources(ctx: RequestContext, side: LineageDirection) -> list[tuple[ResourceRef, int]]:
    """Return the resources found and their distance, nearest first."""
    eyes = VisibleRefs(ctx)
    found = [(ref, steps) for uid, steps in side.steps.items() if steps and (ref := eyes.ref(uid))]
    return sorted(found, key=lambda each: (each[1], each[0].name.casefold()))


def walk(
    ctx: RequestContext, uid: str, near: Callable[[str], Sequence[str]], *, max_depth: int = MAX_DEPTH
) -> LineageDirection:
    """Follow one direction: `near` returns the next resources, visible or not."""
    side, eyes = LineageDirection({uid: 0}), VisibleRefs(ctx)
    waiting = [uid]
    for here in waiting:
        if side.steps[here] >= max_depth:
            continue
        for each in _visible_neighbours(ctx, eyes, near(here), side):
            if each.uid not in side.steps:
                if len(side.steps) > _MAX_NODES:
                    side.cut = True
                    continue
                side.steps[each.uid] = side.steps[here] + 1
                waiting.append(each.uid)
            side.links.append((here, each.uid))
    return side


def _neighbours(ctx: RequestContext, uid: str, *, upward: bool) -> list[str]:
    """Return the next resources, visible or not. A source writes what its streams write."""
    if upward:
        return [
            *edge_targets(ctx, uid, "reads"),
            *edge_sources(ctx, uid, "writes"),
            *edge_targets(ctx, uid, "saved_from"),
        ]
    streams = edge_sources(ctx, uid, "source")
    written = [end for each in (uid, *streams) for end in edge_targets(ctx, each, "writes")]
    return [*edge_sources(ctx, uid, "reads"), *written, *edge_sources(ctx, uid, "saved_from")]


def _visible_neighbours(
    ctx: RequestContext, eyes: VisibleRefs, near: Sequence[str], side: LineageDirection
) -> list[ResourceRef]:
    """Return the visible ones. A stream is replaced by its source, where that is visible."""
    found: dict[str, ResourceRef] = {}
    for each in near:
        ref = eyes.ref(each)
        if ref is None:
            side.hidden = True
        elif ref.kind == STREAM_KIND:
            source = eyes.ref(next(iter(edge_targets(ctx, ref.uid, "source")), None))
            found[(source or ref).uid] = source or ref
        elif ref.kind != LAYER_KIND:
            found[ref.uid] = ref
    return sorted(found.values(), key=lambda ref: ref.name.casefold())
