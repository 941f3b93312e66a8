"""What a table is made from, and what reads it: through pipelines and streams, as far as the viewer sees.

Behind what they may not see nothing is looked for: that there is more is said, and not how much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from fastapi import Request, Response

from lakehold.access.facts.view import View
from lakehold.api.frame.works import Reading
from lakehold.catalog.shapes import Eyes, Ref
from lakehold.directory.work import Work
from lakehold.web import pages
from lakehold.web.access import acting
from lakehold.web.lakehouse import graphs
from lakehold.web.lakehouse.frames import need_table, shell
from lakehold.web.lakehouse.graphs import Drawing
from lakehold.web.routes import router

routes = router("/resources")

_FARTHEST, _NEAR = 8, 2
_MOST = 60
_STREAM, _LAYER = "lakehouse.stream", "lakehouse.layer"
_UP = (("out", "reads"), ("back", "writes"), ("out", "saved_from"))
_DOWN = (("back", "reads"), ("out", "writes"), ("back", "saved_from"))


@dataclass(slots=True)
class Side:
    """One direction: what was found, nearest first, each with how many steps it is away, and what leads to what."""

    steps: dict[str, int] = field(default_factory=dict)
    links: list[tuple[str, str]] = field(default_factory=list)
    """From the nearer to the farther."""
    hidden: bool = False
    """Whether there is more that the viewer may not see."""
    cut: bool = False
    """Whether there is more than is listed."""

    def within(self, most: int) -> Side:
        """The part of it that is no farther away than so many steps."""
        steps = {uid: step for uid, step in self.steps.items() if step <= most}
        links = [(near, far) for near, far in self.links if near in steps and far in steps]
        return Side(steps, links, self.hidden, self.cut)


@routes.get("/{uid:path}/lineage")
def table_lineage(request: Request, work: Reading, uid: str) -> Response:
    """Drawn, and as a list."""
    found = need_table(work, uid, "see")
    up, down = walk(work, uid, _UP), walk(work, uid, _DOWN)
    whole = bool(request.query_params.get("all"))
    near = (up, down) if whole else (up.within(_NEAR), down.within(_NEAR))
    values = {
        "up": up,
        "down": down,
        "made_from": listed(work, up),
        "read_by": listed(work, down),
        "drawing": drawn(work, uid, *near),
        "whole": whole,
        "goes_on": (up, down) != near,
    }
    return pages.page(request, "lakehouse/lineage.html", shell(work, found, "lineage") | values)


def writers(work: Work, uid: str) -> tuple[list[Ref], bool]:
    """What writes the table, and whether there is more that the caller may not see."""
    side = Side()
    near = _near(work, Eyes(work), uid, _UP[1:2], side)
    return near, side.hidden


def walk(work: Work, uid: str, ways: Iterable[tuple[str, str]]) -> Side:
    """All that can be reached one way, as far as the caller sees."""
    side, eyes, chosen = Side({uid: 0}), Eyes(work), tuple(ways)
    waiting = [uid]
    for here in waiting:
        if side.steps[here] == _FARTHEST:
            continue
        for near in _near(work, eyes, here, chosen, side):
            if near.uid not in side.steps:
                if len(side.steps) > _MOST:
                    side.cut = True
                    continue
                side.steps[near.uid] = side.steps[here] + 1
                waiting.append(near.uid)
            side.links.append((here, near.uid))
    return side


def listed(work: Work, side: Side) -> list[tuple[Ref, int]]:
    """What was found, nearest first, and how far away each is."""
    eyes = Eyes(work)
    found = [(ref, steps) for uid, steps in side.steps.items() if steps and (ref := eyes.ref(uid))]
    return sorted(found, key=lambda each: (each[1], each[0].name.casefold()))


def drawn(work: Work, uid: str, up: Side, down: Side) -> Drawing:
    """Both directions as one drawing, with the table between them."""
    eyes = Eyes(work)
    to = _boxes(work, eyes)
    left, right = _columns(up), _columns(down)
    nodes = {("", uid): (0, to(uid))}
    nodes |= {("up", each): (-step, to(each)) for each, step in left.items() if step}
    nodes |= {("down", each): (step, to(each)) for each, step in right.items() if step}
    links = [(_key("up", far, uid), _key("up", near, uid)) for near, far in up.links if left[far] > left[near]]
    links += [(_key("down", near, uid), _key("down", far, uid)) for near, far in down.links if right[far] > right[near]]
    for side, name, end in ((up, "up", -1), (down, "down", 1)):
        if side.hidden:
            nodes[name, "\0"] = (end, graphs.Box("More", "Not visible to you", "eye-off"))
            links.append((("", uid), (name, "\0")) if end == 1 else ((name, "\0"), ("", uid)))
    return graphs.drawn(nodes, list(dict.fromkeys(links)), ("", uid))


def _boxes(work: Work, eyes: Eyes) -> Callable[[str], graphs.Box]:
    policy = work.view.policy

    def box(uid: str) -> graphs.Box:
        ref = eyes.ref(uid)
        assert ref is not None  # noqa: S101 - only what is seen was found
        return graphs.box(policy.kind(ref.kind).schema.title, ref, acting.home_of(work, uid))

    return box


def _key(side: str, uid: str, here: str) -> tuple[str, str]:
    return ("", uid) if uid == here else (side, uid)


def _columns(side: Side) -> dict[str, int]:
    """How far out each is drawn: farther than all that lead to it, unless these go round in a circle."""
    found = dict(side.steps)
    for _ in range(_FARTHEST):
        for near, far in side.links:
            if side.steps[far] and found[near] < _FARTHEST:
                found[far] = max(found[far], found[near] + 1)
    return found


def _near(work: Work, eyes: Eyes, uid: str, ways: Iterable[tuple[str, str]], side: Side) -> list[Ref]:
    """The next ones. A stream is told as its source, where that is seen."""
    found: dict[str, Ref] = {}
    for each in work.session.asking(lambda view: _ends(view, uid, ways)):
        ref = eyes.ref(each)
        if ref is None:
            side.hidden = True
        elif ref.kind == _STREAM:
            source = eyes.ref(work.session.asking(partial(_source, stream=ref.uid)))
            found[(source or ref).uid] = source or ref
        elif ref.kind != _LAYER:
            found[ref.uid] = ref
    return sorted(found.values(), key=lambda ref: ref.name.casefold())


def _ends(view: View, uid: str, ways: Iterable[tuple[str, str]]) -> list[str]:
    here = view.resource(uid)
    return [
        view.uid(end)
        for direction, edge in ways
        for end in (view.out if direction == "out" else view.back)[edge].get(here) or ()
    ]


def _source(view: View, stream: str) -> str | None:
    ends = view.out["source"].get(view.resource(stream))
    return view.uid(ends[0]) if ends else None
