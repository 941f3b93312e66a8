"""Lineage: what a resource is made from and what reads it, as far as the caller sees.

Behind a resource that the caller may not see nothing is followed: that there is more is said, but not how much. A way
of working gives a `Lineage` for each of its kinds that has one; the walk is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext

MAX_DEPTH = 8
"""How many steps away the search ends."""
_MAX_NODES = 60

Neighbours = Callable[[RequestContext, str], Sequence[str]]
"""Returns the ids of the next resources in one direction, visible or not."""
Representation = Callable[[RequestContext, VisibleRefs, ResourceRef], ResourceRef | None]
"""Returns the resource that is shown for a visible one; None leaves it out."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """The lineage of a kind: its neighbours in both directions, and the texts of its page where there are none."""

    upstream_ids: Neighbours
    downstream_ids: Neighbours
    representation: Representation = lambda _ctx, _visible, ref: ref
    no_upstream: str
    no_downstream: str

    def upstream(self, ctx: RequestContext, uid: str, *, max_depth: int = MAX_DEPTH) -> LineageDirection:
        """Return the upstream lineage: the resources that this one is made from."""
        return self._walk(ctx, uid, self.upstream_ids, max_depth)

    def downstream(self, ctx: RequestContext, uid: str, *, max_depth: int = MAX_DEPTH) -> LineageDirection:
        """Return the downstream lineage: the resources that read this one, and those made from them."""
        return self._walk(ctx, uid, self.downstream_ids, max_depth)

    def visible_refs(
        self, ctx: RequestContext, visible: VisibleRefs, uids: Iterable[str]
    ) -> tuple[list[ResourceRef], bool]:
        """Return the references that the caller may see, by name; and whether there are others."""
        found: dict[str, ResourceRef] = {}
        hidden = False
        for uid in uids:
            ref = visible.ref(uid)
            if ref is None:
                hidden = True
            elif represented := self.representation(ctx, visible, ref):
                found[represented.uid] = represented
        return sorted(found.values(), key=lambda ref: ref.name.casefold()), hidden

    def _walk(self, ctx: RequestContext, uid: str, neighbours: Neighbours, max_depth: int) -> LineageDirection:
        """Follow one direction, the nearest first."""
        side, visible = LineageDirection({uid: 0}), VisibleRefs(ctx)
        waiting = [uid]
        for here in waiting:
            if side.steps[here] >= max_depth:
                continue
            near, hidden = self.visible_refs(ctx, visible, neighbours(ctx, here))
            side.hidden = side.hidden or hidden
            for each in near:
                if each.uid not in side.steps:
                    if len(side.steps) > _MAX_NODES:
                        side.cut = True
                        continue
                    side.steps[each.uid] = side.steps[here] + 1
                    waiting.append(each.uid)
                side.links.append((here, each.uid))
        return side


def list_resources(ctx: RequestContext, side: LineageDirection) -> list[tuple[ResourceRef, int]]:
    """Return the resources found and their distance, nearest first."""
    visible = VisibleRefs(ctx)
    found = [(ref, steps) for uid, steps in side.steps.items() if steps and (ref := visible.ref(uid))]
    return sorted(found, key=lambda each: (each[1], each[0].name.casefold()))
