"""What would have to be given, as paths with what is missing in them, and who could give it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lakehold.access import Attribute, Edge, Grant
from lakehold.access.decisions.evaluator import Explanation
from lakehold.access.decisions.ways import MissingFact, Way
from lakehold.access.facts.records import Fact
from lakehold.access.model.policy import MEMBER_OF
from lakehold.catalog import kinds
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.web import addresses
from lakehold.web.access import saying
from lakehold.web.access.drawing import Drawing
from lakehold.web.access.nearness import nearest_first
from lakehold.web.paths import Node, Path
from lakehold.web.words import counted, spoken


class Missing:
    """The ways to a right that somebody does not have, for one viewer."""

    def __init__(self, ctx: RequestContext, member: str, uid: str) -> None:
        self._ctx = ctx
        self._member = member
        self._here = uid
        self._drawing = Drawing(ctx, member, uid)
        self._eyes = VisibleRefs(ctx)

    def paths(self, found: Explanation) -> list[Path]:
        """Each way; who looks at their own can ask for it."""
        return [self._path(found, way, n) for n, way in nearest_first(self._ctx, self._here, found.ways)]

    def givers(self, way: Way) -> tuple[str, ...]:
        """Who could give all of it; where nobody could alone, who could give what."""
        names = [self._names(needed) for needed in way.needed]
        common = [name for name in names[0] if all(name in others for others in names[1:])]
        if common or len(way.needed) == 1:
            return tuple(common)
        return tuple(
            f"{' or '.join(some)} ({self.words(needed.fact)})"
            for needed, some in zip(way.needed, names, strict=True)
            if some
        )

    def words(self, fact: Fact) -> str:
        """One fact, as it is told to the viewer."""
        return self._ctx.session.read_view(lambda view: saying.fact(view, fact, self._member))

    def _path(self, found: Explanation, way: Way, n: int) -> Path:
        mine = self._member == self._ctx.caller.member
        asked = f"{addresses.request(self._here, found.action)}&way={n}"
        return Path(tuple(self._nodes(way)), givers=self.givers(way), request=asked if mine else "")

    def _nodes(self, way: Way) -> Iterator[Node]:
        yield self._drawing.person(self._member)
        shown: set[str] = {self._here}
        note = "of"
        for needed in sorted(way.needed, key=lambda each: -self._distance(each.fact)):
            again = len(shown) > 1
            node = self._needed(needed.fact)
            yield replace(node, note=f"and {node.note}") if again else node
            note = "on" if isinstance(needed.fact, Grant) else "to" if isinstance(needed.fact, Edge) else "of"
            for uid in self._chain(needed.fact):
                if uid not in shown:
                    shown.add(uid)
                    yield self._drawing.thing(uid, note=note)
                    note = "has"
        yield self._drawing.thing(self._here, note=note)

    def _needed(self, fact: Fact) -> Node:
        match fact:
            case Grant(subject, role, resource):
                title = self._ctx.session.read_view(lambda view: saying.role_of(view, role, resource))
                whose = "" if subject == self._member else f" for {self._name(subject)}"
                return Node("Role", f"{title}{whose}", "key-round", held=False, note="needs")
            case Edge(name, source, target) if name == MEMBER_OF:
                whose = "needs a place in" if source == self._member else f"{self._name(source)} in"
                return self._drawing.thing(target, note=whose, held=False)
            case Edge(name, _, target):
                return Node(spoken(name), self._name(target), "link", held=False, note="needs")
            case Attribute(_, name, value, _):
                label = f"{spoken(name)}: {saying.value_of(value)}"
                return Node("Setting", label, "sliders-horizontal", held=False, note="needs")

    def _chain(self, fact: Fact) -> list[str]:
        """From where the fact is to the thing, if it lies in it."""
        if isinstance(fact, Edge):
            return [] if fact.name == MEMBER_OF else [fact.source]
        above = self._ctx.session.read_view(lambda _: self._above())
        return list(reversed(above[: above.index(fact.resource) + 1])) if fact.resource in above else [fact.resource]

    def _distance(self, fact: Fact) -> int:
        return len(self._chain(fact))

    def _above(self) -> list[str]:
        found: list[str] = []
        here: str | None = self._here
        while here is not None:
            found.append(here)
            here = kinds.parent_of(self._ctx.view, here)
        return found

    def _names(self, needed: MissingFact) -> list[str]:
        seen = [self._eyes.ref(giver) for giver in needed.givers]
        me = self._ctx.caller.member
        names = [each.name for each in seen if each and each.uid != me]
        names = ["You", *names] if any(each and each.uid == me for each in seen) else names
        # Whom one may not see is not counted either.
        more = needed.more_givers if len(names) == len(needed.givers) else 0
        return [*names, counted(more, "other")] if more else names

    def _name(self, uid: str) -> str:
        seen = self._eyes.ref(uid)
        return seen.name if seen else "somebody"
