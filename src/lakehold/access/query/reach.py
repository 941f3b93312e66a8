"""How far an asker's grants lead, looked at in memory, so that the database is asked in the way that suits it."""

from __future__ import annotations

from collections.abc import Iterator

from lakehold.access.decide.check import mask_of
from lakehold.access.decide.decisions import checks_of
from lakehold.access.facts.view import Subject, View
from lakehold.access.model.expressions import All, Any, Every, Expression, Granted, Item, Relation, Some, Step


class _FarError(Exception):
    """More would have to be looked at than may be, or no grant leads there at all."""


class Reach:
    """The resources that the grants of one subject lead to: what a driver finds."""

    def __init__(self, view: View, subject: Subject, most: int) -> None:
        self._view = view
        self._subject = subject
        self._left = most

    def is_near(self, expression: Expression, kind: str) -> bool:
        """Whether all that the expression holds for is found by looking at few grants and edges."""
        try:
            for _ in self._found(expression, kind):
                pass
        except _FarError:
            return False
        return True

    def _found(self, expression: Expression, kind: str) -> Iterator[int]:
        match expression:
            case Relation(_, name):
                yield from self._found(self._view.policy.relations[kind, name], kind)
            case Any(inner):
                for part in inner:
                    yield from self._found(part, kind)
            case Granted():
                yield from self._granted(expression)
            case Some(items, then) | Every(items, then):
                for item in items:
                    yield from self._before(item, dict(then), kind)
            case All(inner):
                yield from self._in_all(expression, inner, kind)
            case _:
                raise _FarError

    def _granted(self, granted: Granted) -> Iterator[int]:
        view, mask = self._view, mask_of(granted.roles)
        holders = (self._subject.id,) if granted.person_only else self._subject.ids_with_all
        held = [view.held.get(holder) or {} for holder in holders]
        self._spend(sum(map(len, held)))
        for resource, roles in (pair for of_one in held for pair in of_one.items()):
            if roles & mask and view.kinds.get(resource) == granted.kind:
                yield resource

    def _before(self, item: Item, then: dict[str, Expression], kind: str) -> Iterator[int]:
        """The resources of the kind from which a step leads to one that is found."""
        for step in (item.step, item.otherwise) if item.otherwise else (item.step,):
            for end_kind in step.kinds:
                for end in self._found(then[end_kind], end_kind):
                    yield from self._near(step, kind, end)

    def _near(self, step: Step, kind: str, end: int) -> Iterator[int]:
        edges = (self._view.out if step.back else self._view.back)[step.edge].get(end) or ()
        self._spend(len(edges))
        return (near for near in edges if self._view.kinds.get(near) == kind)

    def _in_all(self, whole: Expression, parts: tuple[Expression, ...], kind: str) -> Iterator[int]:
        """Found by the first part that grants lead to, and tested by the whole."""
        holds = checks_of(self._view.policy).of(whole)
        for part in parts:
            try:
                found = list(self._found(part, kind))
            except _FarError:
                continue
            yield from (here for here in found if holds(self._view, self._subject, here))
            return
        raise _FarError

    def _spend(self, looked_at: int) -> None:
        self._left -= looked_at
        if self._left < 0:
            raise _FarError
