"""What something is made from, and what reads it: through pipelines and streams, as far as the caller sees.

Behind what they may not see nothing is looked for: that there is more is said, and not how much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lakehold.catalog import kinds
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces.ends import ends, starts
from lakehold.workspaces.lakehouse.pipelines.pipeline import LAYER
from lakehold.workspaces.lakehouse.pipelines.source import STREAM

FARTHEST = 8
"""So many steps away, nothing more is looked for."""
_MOST = 60
_PIPELINES = ("source", "stream", "query", "notebook", "history", "destination", "integration", "saved_query")
_FLOWING = frozenset(f"lakehouse.{word}" for word in ("table", "volume", *_PIPELINES))
"""The kinds that rows come from, go through or go into."""


@dataclass(slots=True)
class Side:
    """One direction: what was found, nearest first, each with how many steps it is away, and what leads to what."""

    steps: dict[str, int] = field(default_factory=dict)
    links: list[tuple[str, str]] = field(default_factory=list)
    """From the nearer to the farther."""
    hidden: bool = False
    """Whether there is more that the caller may not see."""
    cut: bool = False
    """Whether there is more than is listed."""

    def within(self, most: int) -> Side:
        """The part of it that is no farther away than so many steps."""
        steps = {uid: step for uid, step in self.steps.items() if step <= most}
        links = [(near, far) for near, far in self.links if near in steps and far in steps]
        return Side(steps, links, self.hidden, self.cut)


def up(ctx: RequestContext, uid: str, *, most: int = FARTHEST) -> Side:
    """What it is made from."""
    return walk(ctx, uid, lambda here: _near(ctx, here, upward=True), most=most)


def down(ctx: RequestContext, uid: str, *, most: int = FARTHEST) -> Side:
    """What reads it, and what is made from that."""
    return walk(ctx, uid, lambda here: _near(ctx, here, upward=False), most=most)


def need(ctx: RequestContext, uid: str) -> None:
    """Refuse unless the caller sees it and rows can come from it or go into it."""
    ctx.need_visible(uid)
    schema = kinds.schema_of(ctx.view, uid)
    if schema.id not in _FLOWING:
        raise InvalidInputError(f"A {schema.title.lower()} has no lineage.", "Choose a table, a volume or a pipeline.")


def writers(ctx: RequestContext, uid: str) -> tuple[list[ResourceRef], bool]:
    """What writes the table, and whether there is more that the caller may not see."""
    side, eyes = Side(), VisibleRefs(ctx)
    return _seen(ctx, eyes, starts(ctx, uid, "writes"), side), side.hidden


def listed(ctx: RequestContext, side: Side) -> list[tuple[ResourceRef, int]]:
    """What was found, nearest first, and how far away each is."""
    eyes = VisibleRefs(ctx)
    found = [(ref, steps) for uid, steps in side.steps.items() if steps and (ref := eyes.ref(uid))]
    return sorted(found, key=lambda each: (each[1], each[0].name.casefold()))


def walk(ctx: RequestContext, uid: str, near: Callable[[str], Sequence[str]], *, most: int = FARTHEST) -> Side:
    """In one direction: `near` says what comes next, seen or not."""
    side, eyes = Side({uid: 0}), VisibleRefs(ctx)
    waiting = [uid]
    for here in waiting:
        if side.steps[here] >= most:
            continue
        for each in _seen(ctx, eyes, near(here), side):
            if each.uid not in side.steps:
                if len(side.steps) > _MOST:
                    side.cut = True
                    continue
                side.steps[each.uid] = side.steps[here] + 1
                waiting.append(each.uid)
            side.links.append((here, each.uid))
    return side


def _near(ctx: RequestContext, uid: str, *, upward: bool) -> list[str]:
    """The next ones, seen or not. A source writes what its streams write."""
    if upward:
        return [*ends(ctx, uid, "reads"), *starts(ctx, uid, "writes"), *ends(ctx, uid, "saved_from")]
    streams = starts(ctx, uid, "source")
    written = [end for each in (uid, *streams) for end in ends(ctx, each, "writes")]
    return [*starts(ctx, uid, "reads"), *written, *starts(ctx, uid, "saved_from")]


def _seen(ctx: RequestContext, eyes: VisibleRefs, near: Sequence[str], side: Side) -> list[ResourceRef]:
    """Those that are seen. A stream is told as its source, where that is seen."""
    found: dict[str, ResourceRef] = {}
    for each in near:
        ref = eyes.ref(each)
        if ref is None:
            side.hidden = True
        elif ref.kind == STREAM:
            source = eyes.ref(next(iter(ends(ctx, ref.uid, "source")), None))
            found[(source or ref).uid] = source or ref
        elif ref.kind != LAYER:
            found[ref.uid] = ref
    return sorted(found.values(), key=lambda ref: ref.name.casefold())
