"""What is asked at the ends of edges, and how much work that is.

A quantifier over items becomes plain questions of the form *does this hold at one of the ends*. A condition goes along
as a part of the question, since it may differ from member to member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from lakehold.access.model.expressions import ALWAYS, Every, Expression, Item, Not, Relation, Some, Step, both, parts
from lakehold.access.model.policy import Policy


@dataclass(frozen=True, slots=True)
class Reach:
    """A question that holds at one of the ends of a step, at least."""

    step: Step
    then: tuple[tuple[str, Expression], ...]

    @property
    def is_presence(self) -> bool:
        """Whether it is only asked if there is an end."""
        return all(part == ALWAYS for _, part in self.then)


class ItemReach(NamedTuple):
    """An item: what is asked of those that count, whether there are any, and the same of those to be asked instead."""

    asked: Reach
    there: Reach
    instead: Reach | None
    instead_there: Reach | None


def of_items(leaf: Some | Every) -> list[ItemReach]:
    """The questions of a quantifier. Every one answers yes where none answers no: it asks for the opposite."""
    then = {kind: Not(part) if isinstance(leaf, Every) else part for kind, part in leaf.then}
    return [_of_item(item, then) for item in leaf.items]


def _of_item(item: Item, then: dict[str, Expression]) -> ItemReach:
    where, other = dict(item.where), item.otherwise
    counted = {kind: where.get(kind, ALWAYS) for kind in item.step.kinds}
    return ItemReach(
        Reach(item.step, tuple((kind, both(counts, then[kind])) for kind, counts in counted.items())),
        Reach(item.step, tuple(counted.items())),
        Reach(other, tuple((kind, then[kind]) for kind in other.kinds)) if other else None,
        Reach(other, tuple((kind, ALWAYS) for kind in other.kinds)) if other else None,
    )


class Work:
    """How much work the questions of a policy are. What is asked of few resources, and leads on to few, is worked out
    in the driver and sent along. All else is worked out by Spark in levels: what is of one takes from lower ones.
    """

    def __init__(self, policy: Policy, count: Callable[[str], int], is_small: Callable[[str], bool]) -> None:
        self._policy = policy
        self._count = count
        self._is_small = is_small
        self._levels: dict[tuple[str, Expression], int] = {}

    def level(self, kind: str, expression: Expression) -> int:
        """0 if it takes nothing that Spark has to work out before."""
        known = self._levels.get((kind, expression))
        if known is None:
            above = [1 + self.level(*end) for end in self._heavy_ends(kind, expression)]
            known = self._levels[kind, expression] = max(above, default=0)
        return known

    def is_light(self, kind: str, expression: Expression) -> bool:
        """Whether the driver works it out."""
        return self._is_small(kind) and self.level(kind, expression) == 0

    def asked(self, wanted: Iterable[tuple[str, Expression]]) -> list[tuple[str, Expression]]:
        """All that Spark has to work out before, or before that."""
        found: dict[tuple[str, Expression], None] = {}
        left = list(wanted)
        while left:
            new = [end for end in self._heavy_ends(*left.pop()) if end not in found]
            found.update(dict.fromkeys(new))
            left += new
        return list(found)

    def _heavy_ends(self, kind: str, expression: Expression) -> Iterator[tuple[str, Expression]]:
        """What Spark has to work out before."""
        for reach in self._reaches(kind, expression):
            yield from ((end, part) for end, part in reach.then if self._count(end) and not self.is_light(end, part))

    def _reaches(self, kind: str, expression: Expression) -> Iterator[Reach]:
        match expression:
            case Relation(_, name):
                yield from self._reaches(kind, self._policy.relations[kind, name])
            case Some() | Every():
                for found in of_items(expression):
                    yield from (reach for reach in found if reach is not None and not reach.is_presence)
            case _:
                for part in parts(expression):
                    yield from self._reaches(kind, part)
