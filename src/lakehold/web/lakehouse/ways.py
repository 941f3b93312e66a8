"""What leads where: from tables to pipelines that read them, from pipelines to tables that they write. Only what the
caller sees is followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.web.access import resource_header
from lakehold.web.lakehouse import graphs
from lakehold.workspaces.graph import edge_sources, edge_targets
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND

Link = tuple[str, str]
TO_COME = "\0"
"""Between a pipeline and the layer in which its table will be made: no id has it in it."""


def links(ctx: RequestContext, eyes: VisibleRefs, pipelines: Iterable[str]) -> list[Link]:
    """Each pair of ends, once, in the direction in which rows go."""
    found: dict[Link, None] = {}
    for uid in pipelines:
        for end in eyes.refs(reads(ctx, uid)):
            found[end.uid, uid] = None
        for end in eyes.refs(writes(ctx, eyes, uid)):
            found[uid, f"{uid}{TO_COME}{end.uid}" if end.kind == LAYER_KIND else end.uid] = None
    return list(found)


def reads(ctx: RequestContext, uid: str) -> list[str]:
    """What a pipeline reads, seen or not."""
    return edge_targets(ctx, uid, "reads")


def writes(ctx: RequestContext, eyes: VisibleRefs, uid: str) -> list[str]:
    """What a pipeline writes, seen or not: by itself, by streams that the caller sees, or the layer of what it will."""
    seen = [each for each in streams(ctx, uid) if eyes.sees(each)]
    own = [end for each in (uid, *seen) for end in edge_targets(ctx, each, "writes")]
    return list(dict.fromkeys(own or edge_targets(ctx, uid, "into")))


def streams(ctx: RequestContext, uid: str) -> list[str]:
    """What a source is made of, seen or not."""
    return sorted(edge_sources(ctx, uid, "source"))


def things(pairs: Iterable[Link], more: Iterable[str] = ()) -> dict[str, None]:
    """All ends, each once."""
    return dict.fromkeys([*more, *(end for pair in pairs for end in pair)])


def near(pairs: Sequence[Link], uid: str) -> dict[str, None]:
    """What it comes from and what comes from it, however far."""
    found = {uid: None}
    for start, end in ((0, 1), (1, 0)):
        waiting = [uid]
        for here in waiting:
            fresh = [pair[end] for pair in pairs if pair[start] == here and pair[end] not in waiting]
            waiting += dict.fromkeys(fresh)
        found |= dict.fromkeys(waiting)
    return found


def columns(pairs: Sequence[Link], all_things: Iterable[str]) -> dict[str, int]:
    """How far to the right each stands: behind all that lead to it. What closes a circle is not counted."""
    after: dict[str, list[str]] = {each: [] for each in all_things}
    for one, other in pairs:
        after[one].append(other)
    order = _order(after)
    place = {each: n for n, each in enumerate(order)}
    found = dict.fromkeys(order, 0)
    for one in order:
        for other in after[one]:
            if place[other] > place[one]:
                found[other] = max(found[other], found[one] + 1)
    return _drawn_near(found, pairs)


def box(ctx: RequestContext, eyes: VisibleRefs, uid: str) -> graphs.Box:
    """A thing as it is drawn; a table says which layer it is in."""
    pipeline, _, layer = uid.partition(TO_COME)
    found = eyes.ref(layer or pipeline)
    assert found is not None  # noqa: S101 - only what is seen was followed
    if layer:
        return graphs.Box(
            f"Table in {found.name}", "Not made yet", "circle-dashed", resource_header.overview_url(ctx, layer), uid
        )
    title = ctx.view.policy.kind(found.kind).schema.title
    above = eyes.parent(uid) if found.kind in {"lakehouse.table", "lakehouse.volume"} else None
    return graphs.box(f"{title} in {above.name}" if above else title, found, resource_header.overview_url(ctx, uid))


def _order(after: Mapping[str, Sequence[str]]) -> list[str]:
    """What leads to something before it."""
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


def _drawn_near(found: dict[str, int], pairs: Sequence[Link]) -> dict[str, int]:
    """What nothing leads to stands right before the first that it leads to, and not far out on the left."""
    led_to = {other for _, other in pairs}
    first: dict[str, int] = {}
    for one, other in pairs:
        if one not in led_to and found[other] > found[one]:
            first[one] = min(found[other], first.get(one, found[other]))
    return {each: first[each] - 1 if each in first else place for each, place in found.items()}
