"""Expressions of the policy about one kind as operations, with the columns that they read."""

from __future__ import annotations

from dataclasses import dataclass, field

from lakehold.access.model.expressions import (
    All,
    Any,
    Every,
    Everyone,
    Expression,
    Granted,
    Holder,
    Is,
    MemberIs,
    Not,
    Relation,
    Some,
    Step,
)
from lakehold.access.review.facts import Facts
from lakehold.access.review.operations import (
    Answer,
    Answers,
    AtEnds,
    Everybody,
    Flagged,
    Given,
    Held,
    Inverse,
    Meet,
    Named,
    Operation,
    Union,
    Valued,
)
from lakehold.access.review.reaches import ItemReach, Reach, Work, of_items
from lakehold.access.review.sheets import Sheet


@dataclass(frozen=True, slots=True)
class Way:
    """From a kind along a step to what Spark works out for another kind at some level."""

    asker: str
    step: Step
    end: str
    level: int


@dataclass(frozen=True, slots=True)
class Join:
    """All that is asked on one way."""

    answers: Answers
    asked: dict[Expression, Answer] = field(default_factory=dict)

    def answer(self, expression: Expression) -> Answer:
        """The place at which the answer will be."""
        if expression not in self.asked:
            self.asked[expression] = Answer(self.answers, self.answers.count)
            self.answers.count += 1
        return self.asked[expression]


class Compiler:
    """Writes operations for one kind. What they take from Spark is added to the joins."""

    def __init__(self, facts: Facts, ctx: Work, kind: str, sheet: Sheet, joins: dict[Way, Join]) -> None:
        self._facts = facts
        self._ctx = ctx
        self._kind = kind
        self._sheet = sheet
        self._joins = joins
        self._known: dict[Expression | Reach, Operation] = {}

    def operation(self, expression: Expression) -> Operation:
        """The operation for an expression, the same one for the same expression."""
        if expression not in self._known:
            self._known[expression] = self._made(expression)
        return self._known[expression]

    def _made(self, expression: Expression) -> Operation:
        match expression:
            case Relation(_, name):
                return self.operation(self._facts.view.policy.relations[self._kind, name])
            case Any(inner):
                return Union(tuple(map(self.operation, inner)))
            case All(inner):
                return Meet(tuple(map(self.operation, inner)))
            case Not(part):
                return Inverse(self.operation(part))
            case Everyone():
                return Everybody()
            case Granted():
                return Given(self._sheet.grants(expression), expression.person_only, self._facts.groups)
            case Is():
                return Valued(self._sheet.values(expression), expression.value)
            case MemberIs(_, value, default):
                told = Named(self._sheet.members_with(expression))
                return Inverse(told) if value == default else told
            case Holder():
                return Held(self._sheet.holders(expression), self.operation(expression.question))
            case Some():
                return self._some(of_items(expression))
            case Every():
                items = of_items(expression)
                return Meet((self._there(items), Inverse(self._some(items))))

    def _some(self, items: list[ItemReach]) -> Operation:
        found: list[Operation] = []
        for item in items:
            found.append(self._reach(item.asked))
            if item.instead is not None:
                found.append(Meet((self._reach(item.instead), Inverse(self._reach(item.there)))))
        return Union(tuple(found))

    def _there(self, items: list[ItemReach]) -> Operation:
        return Union(tuple(self._reach(found) for item in items for found in (item.there, item.instead_there) if found))

    def _reach(self, reach: Reach) -> Operation:
        if reach not in self._known:
            self._known[reach] = self._reached(reach)
        return self._known[reach]

    def _reached(self, reach: Reach) -> Operation:
        if reach.is_presence:
            return Flagged(self._sheet.presence(reach.step))
        there = [(kind, part) for kind, part in reach.then if self._facts.count(kind)]
        light = [(kind, part) for kind, part in there if self._ctx.is_light(kind, part)]
        found: list[Operation] = [self._answer(reach.step, *asked) for asked in there if asked not in light]
        if light:
            found.append(AtEnds(self._sheet.ends(reach.step), *self._facts.worked_out(light)))
        return Union(tuple(found))

    def _answer(self, step: Step, kind: str, part: Expression) -> Operation:
        way = Way(self._kind, step, kind, self._ctx.level(kind, part))
        return self._joins.setdefault(way, Join(Answers(len(self._joins)))).answer(part)
