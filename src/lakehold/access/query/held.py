"""All resources for which something holds for one person, found in memory.

A database hands out some millions of numbers in a second, one row after the other; the index has them together already.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import cast

from lakehold.access.decide.check import belongs, ends, mask_of
from lakehold.access.decide.decisions import checks_of
from lakehold.access.facts.view import Subject, View
from lakehold.access.model.expressions import (
    All,
    Any,
    Every,
    Everyone,
    Expression,
    Granted,
    Item,
    Not,
    Relation,
    Some,
    Step,
)
from lakehold.access.query.found import NUMBER, Behind, Found, Written, either

Grants = dict[str, list[tuple[int, int]]]
"""Resources and the roles on them, by the kind of resource."""


class Held:
    """What one subject holds, at one moment."""

    def __init__(self, view: View, subject: Subject) -> None:
        self._view = view
        self._subject = subject
        self._known: dict[tuple[str, Expression], Found] = {}

    def of(self, expression: Expression, kind: str) -> Found:
        """The resources of the kind for which it holds."""
        known = self._known.get((kind, expression))
        if known is None:
            known = self._known[kind, expression] = self._found(expression, kind)
        return known

    def _found(self, expression: Expression, kind: str) -> Found:
        match expression:
            case Relation(_, name):
                return self.of(self._view.policy.relations[kind, name], kind)
            case Any(inner):
                return either(self.of(part, kind) for part in inner)
            case All(inner):
                return self._in_all(inner, kind)
            case Granted():
                return Written(set(self._granted(expression)))
            case Some((Item(step, (), None),), then):
                return self._behind(step, self._ends(step, dict(then)), kind)
            case Some() | Every():
                return self._of_items(expression, kind)
            case Not(part):
                others = self.of(part, kind)
                return Written({here for here in self._all(kind) if here not in others})
            case Everyone():
                return self._all(kind)
            case _:
                return self._tested(expression, self._all(kind))

    def _all(self, kind: str) -> Written:
        return Written(self._view.of_kind.get(kind) or {})

    def _tested(self, expression: Expression, resources: Iterable[int]) -> Found:
        holds = checks_of(self._view.policy).of(expression)
        return Written({here for here in resources if holds(self._view, self._subject, here)})

    def _in_all(self, parts: tuple[Expression, ...], kind: str) -> Found:
        """What grants lead to comes first, and the rest is asked of that alone."""
        led = [part for part in parts if isinstance(part, Granted | Some | Every | Relation)]
        found = sorted((self.of(part, kind) for part in led), key=lambda part: part.most) or [self._all(kind)]
        left: Found = Written({here for here in found[0] if all(here in other for other in found[1:])})
        for part in parts:
            if part not in led:
                left = self._tested(part, left)
        return left

    def _granted(self, granted: Granted) -> Iterator[int]:
        view, subject, mask = self._view, self._subject, mask_of(granted.roles)
        own = (subject.id,) if granted.person_only else subject.ids
        for holder in own:
            yield from (here for here, roles in self._held(holder, granted.kind) if roles & mask)
        if granted.person_only:
            return
        everyone = view.policy.everyone(granted.kind)
        edges = [step.edge for step in view.policy.kinds[granted.kind].everyone or ()]
        for here, roles in self._held(subject.everyone, granted.kind):
            if roles & mask and (everyone is None or belongs(view, subject, here, edges, mask_of(everyone.roles))):
                yield here

    def _held(self, holder: int, kind: str) -> Sequence[tuple[int, int]]:
        """What the holder was given on resources of a kind, with the roles: sorted once, until something changes."""
        view, key = self._view, (Held, holder)
        by_kind = cast("Grants | None", view.kept.get(key))
        if by_kind is None:
            view.kept[key] = by_kind = Grants()
            for grant in (view.held.get(holder) or {}).items():
                by_kind.setdefault(view.kind(grant[0]), []).append(grant)
        return by_kind.get(kind) or ()

    def _ends(self, step: Step, then: dict[str, Expression]) -> Found:
        """The resources at the ends of a step for which it holds there."""
        return either(self.of(then[kind], kind) for kind in step.kinds)

    def _behind(self, step: Step, there: Found, kind: str) -> Found:
        """The resources of the kind from which the step leads to one of these, looked for from the smaller side."""
        view, everything = self._view, self._view.of_kind.get(kind) or {}
        if len(everything) < there.most:
            ahead = ends(step)
            return Written({here for here in everything if any(end in there for end in ahead(view, here))})
        if not step.back and not view.policy.kinds[kind].schema.edges[step.edge].many:
            behind = partial(self._of_kind_behind, step.edge, kind)
            return Behind(there, view.out[step.edge].get, behind, self._beside(step, kind))
        near = (view.out if step.back else view.back)[step.edge].get
        return Written({here for end in there for here in near(end) or () if here in everything})

    def _of_kind_behind(self, edge: str, kind: str, end: int) -> array[int]:
        """The resources of the kind whose edge leads to this one: packed once, until something changes."""
        view, key = self._view, (Behind, edge, kind, end)
        packed = cast("array[int] | None", view.kept.get(key))
        if packed is None:
            kinds, sources = view.kinds, view.back[edge].get(end) or ()
            packed = view.kept[key] = array(NUMBER, [source for source in sources if kinds.get(source) == kind])
        return packed

    def _beside(self, step: Step, kind: str) -> list[dict[int, None]]:
        """The resources of other kinds that have an edge of the same name."""
        kinds = self._view.policy.kinds.values()
        others = (other.id for other in kinds if step.edge in other.schema.edges and other.id != kind)
        return [found for other in others if (found := self._view.of_kind.get(other))]

    def _of_items(self, leaf: Some | Every, kind: str) -> Found:
        """Each resource by itself, but what is at its ends is looked up."""
        view, every = self._view, isinstance(leaf, Every)
        yes = either(self.of(part, end) for end, part in leaf.then)
        items = [
            (
                ends(item.step),
                self._ends(item.step, dict(item.where)) if item.where else None,
                ends(item.otherwise) if item.otherwise else None,
            )
            for item in leaf.items
        ]

        def holds(here: int) -> bool:
            any_there = False
            for ahead, counted, otherwise in items:
                there = ahead(view, here)
                if counted is not None:
                    there = [end for end in there if end in counted]
                for end in there or (otherwise(view, here) if otherwise else ()):
                    any_there = True
                    if (end in yes) != every:
                        return not every
            return any_there and every

        return Written({here for here in self._all(kind) if holds(here)})
