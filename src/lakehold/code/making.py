"""What is made anew: in which order, and with which parent, edges and attributes from the start."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lakehold.access.facts.records import Attribute, Edge
from lakehold.access.model.errors import SourceLocation, quote_excerpt
from lakehold.code.company import SUBJECTS, Company, Line, Slot, Thing
from lakehold.code.problems import wrong
from lakehold.code.steps import Create
from lakehold.code.times import ALWAYS


class Making:
    """The things of files that are not in the tenant yet."""

    def __init__(self, declared: Company, wanted: Mapping[Slot, Line], there: Collection[str]) -> None:
        self._declared = declared
        self._there = there
        new = [thing for ref, thing in declared.things.items() if ref not in there]
        # People first.
        self._new = [thing.ref for thing in sorted(new, key=lambda thing: (thing.kind not in SUBJECTS, thing.ref))]
        self._edges: dict[str, dict[str, list[str]]] = {ref: {} for ref in self._new}
        self._attributes: dict[str, dict[str, str]] = {ref: {} for ref in self._new}
        for line in wanted.values():
            fact, span = line[0]
            if len(line) > 1 or span != ALWAYS:
                continue
            if isinstance(fact, Edge) and fact.source in self._edges:
                self._edges[fact.source].setdefault(fact.name, []).append(fact.target)
            elif isinstance(fact, Attribute) and fact.member is None and fact.resource in self._attributes:
                self._attributes[fact.resource][fact.name] = fact.value
        self._parents = self._placed()

    def creates(self) -> list[Create]:
        """The steps that make them. What others lie in or point at comes before them, as far as that can be."""
        done: dict[str, Create] = {}
        begun: set[str] = set()
        for start in self._new:
            todo = [(start, False)]
            while todo:
                ref, is_ready = todo.pop()
                if is_ready:
                    done[ref] = self._create(self._declared.things[ref], done)
                elif ref in self._edges and ref not in begun and not self._is_inside(ref, begun - done.keys()):
                    begun.add(ref)
                    todo.append((ref, True))
                    todo.extend((end, False) for ends in self._edges[ref].values() for end in reversed(ends))
                    todo.append((self._parents[ref], False))
        return list(done.values())

    def _create(self, thing: Thing, done: Collection[str]) -> Create:
        """One step, with what can be said of the thing by then."""
        known = {
            name: tuple(sorted(end for end in ends if end in self._there or end in done))
            for name, ends in self._edges[thing.ref].items()
        }
        edges = {name: ends for name, ends in known.items() if ends}
        parent = self._declared.policy.kinds[thing.kind].parent
        if parent is not None:
            edges[parent.edge] = (self._parents[thing.ref],)
        return Create(thing.kind, thing.ref, thing.name, edges, self._attributes[thing.ref])

    def _is_inside(self, ref: str, unfinished: Collection[str]) -> bool:
        """Whether it lies in something that is waiting for what it points at: then it has to wait itself."""
        while ref in self._parents:
            ref = self._parents[ref]
            if ref in unfinished:
                return True
        return False

    def _placed(self) -> dict[str, str]:
        """What each is made in. Nothing is made without a parent, so what is to lie in nothing, or in something only
        later, is made somewhere and taken out again.
        """
        found: dict[str, str] = {}
        left = self._new
        while left:
            waiting = [ref for ref in left if not self._place(ref, found)]
            if len(waiting) == len(left):
                raise self._homeless(self._declared.things[waiting[0]])
            left = waiting
        return found

    def _place(self, ref: str, found: dict[str, str]) -> bool:
        """Whether it can be made once those that are found are."""
        things = self._declared.things
        parent = self._declared.policy.kinds[things[ref].kind].parent
        if parent is None:
            found[ref] = ""
            return True
        possible = self._edges[ref].get(parent.edge) or [r for r, other in things.items() if other.kind in parent.kinds]
        ready = [end for end in possible if end in self._there or end in found]
        if ready:
            found[ref] = min(ready)
        return bool(ready)

    def _homeless(self, thing: Thing) -> Exception:
        parent = self._declared.policy.kinds[thing.kind].parent
        kinds = " or ".join(parent.kinds) if parent else ""
        message = f"there is no {kinds} in which {quote_excerpt(thing.ref)} could be made."
        return wrong(thing.place or SourceLocation("", 0), message, "Declare one.")
