"""Compiles the expressions of a policy about one kind into operations, with the columns that they read.

A quantifier over items becomes plain questions of the form *does this hold at one of the ends*. A condition goes along
as a part of the question, since it may differ from member to member.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from lakehold.access.model import expressions as expr
from lakehold.access.model.policy import Policy
from lakehold.access.review.fact_columns import KindColumns, ReviewFacts
from lakehold.access.review.operations import (
    AttributeOperation,
    ComplementOperation,
    EdgeEndsOperation,
    EverybodyOperation,
    FlagOperation,
    GrantOperation,
    HolderOperation,
    IntersectionOperation,
    JoinAnswer,
    JoinAnswers,
    MemberListOperation,
    Operation,
    UnionOperation,
)


@dataclass(frozen=True, slots=True)
class EdgeQuestion:
    """The question whether an expression holds at one of the ends of a step, at least."""

    step: expr.EdgeStep
    then: tuple[tuple[str, expr.Expression], ...]

    @property
    def is_presence(self) -> bool:
        """Whether it only asks if there is an end."""
        return all(part == expr.ALWAYS for _, part in self.then)


class ItemQuestions(NamedTuple):
    """The questions of an item: of those that count, whether there are any, and the same of the fallback."""

    asked: EdgeQuestion
    there: EdgeQuestion
    instead: EdgeQuestion | None
    instead_there: EdgeQuestion | None


def item_questions(leaf: expr.Some | expr.Every) -> list[ItemQuestions]:
    """Return the questions of a quantifier. `every` holds where no end fails: it asks for the opposite."""
    then = {kind: expr.Not(part) if isinstance(leaf, expr.Every) else part for kind, part in leaf.then}
    return [_item_question(item, then) for item in leaf.items]


def _item_question(item: expr.QuantifierItem, then: dict[str, expr.Expression]) -> ItemQuestions:
    where, other = dict(item.where), item.otherwise
    counted = {kind: where.get(kind, expr.ALWAYS) for kind in item.step.kinds}
    return ItemQuestions(
        EdgeQuestion(item.step, tuple((kind, expr.all_of(counts, then[kind])) for kind, counts in counted.items())),
        EdgeQuestion(item.step, tuple(counted.items())),
        EdgeQuestion(other, tuple((kind, then[kind]) for kind in other.kinds)) if other else None,
        EdgeQuestion(other, tuple((kind, expr.ALWAYS) for kind in other.kinds)) if other else None,
    )


class EvaluationPlan:
    """Plans where the questions of a policy are evaluated. Those about few resources, which lead on to few, are
    evaluated in the driver and sent along. All others are evaluated by Spark in levels: each takes from lower ones.
    """

    def __init__(self, policy: Policy, count: Callable[[str], int], is_small: Callable[[str], bool]) -> None:
        self._policy = policy
        self._count = count
        self._is_small = is_small
        self._levels: dict[tuple[str, expr.Expression], int] = {}

    def level(self, kind: str, expression: expr.Expression) -> int:
        """Return the level of a question; 0 if it takes nothing that Spark has to evaluate before."""
        known = self._levels.get((kind, expression))
        if known is None:
            above = [1 + self.level(*end) for end in self._heavy_ends(kind, expression)]
            known = self._levels[kind, expression] = max(above, default=0)
        return known

    def is_light(self, kind: str, expression: expr.Expression) -> bool:
        """Return whether the driver evaluates it."""
        return self._is_small(kind) and self.level(kind, expression) == 0

    def spark_questions(self, requested: Iterable[tuple[str, expr.Expression]]) -> list[tuple[str, expr.Expression]]:
        """Return all questions that Spark has to evaluate before, directly or indirectly."""
        found: dict[tuple[str, expr.Expression], None] = {}
        left = list(requested)
        while left:
            new = [end for end in self._heavy_ends(*left.pop()) if end not in found]
            found.update(dict.fromkeys(new))
            left += new
        return list(found)

    def _heavy_ends(self, kind: str, expression: expr.Expression) -> Iterator[tuple[str, expr.Expression]]:
        """Yield the questions at the ends that Spark has to evaluate before."""
        for question in self._edge_questions(kind, expression):
            yield from ((end, part) for end, part in question.then if self._count(end) and not self.is_light(end, part))

    def _edge_questions(self, kind: str, expression: expr.Expression) -> Iterator[EdgeQuestion]:
        match expression:
            case expr.Relation(_, name):
                yield from self._edge_questions(kind, self._policy.relations[kind, name])
            case expr.Some() | expr.Every():
                for found in item_questions(expression):
                    yield from (question for question in found if question is not None and not question.is_presence)
            case _:
                for part in expr.subexpressions(expression):
                    yield from self._edge_questions(kind, part)


@dataclass(frozen=True, slots=True)
class JoinPath:
    """The path from a kind along a step to what Spark evaluates for another kind at some level."""

    source: str
    step: expr.EdgeStep
    end: str
    level: int


@dataclass(frozen=True, slots=True)
class AnswerJoin:
    """All expressions that are asked on one join path."""

    answers: JoinAnswers
    expressions: dict[expr.Expression, JoinAnswer] = field(default_factory=dict)

    def answer(self, expression: expr.Expression) -> JoinAnswer:
        """Return the place at which the answer will be."""
        if expression not in self.expressions:
            self.expressions[expression] = JoinAnswer(self.answers, self.answers.count)
            self.answers.count += 1
        return self.expressions[expression]


class OperationCompiler:
    """Compiles operations for one kind. What they take from Spark is added to the joins."""

    def __init__(
        self,
        facts: ReviewFacts,
        plan: EvaluationPlan,
        kind: str,
        columns: KindColumns,
        joins: dict[JoinPath, AnswerJoin],
    ) -> None:
        self._facts = facts
        self._plan = plan
        self._kind = kind
        self._columns = columns
        self._joins = joins
        self._known: dict[expr.Expression | EdgeQuestion, Operation] = {}

    def operation(self, expression: expr.Expression | EdgeQuestion) -> Operation:
        """Return the operation for an expression, the same one for the same expression."""
        if expression not in self._known:
            self._known[expression] = self._compile(expression)
        return self._known[expression]

    def _compile(self, expression: expr.Expression | EdgeQuestion) -> Operation:
        match expression:
            case EdgeQuestion():
                return self._edge_question(expression)
            case expr.Relation(_, name):
                return self.operation(self._facts.view.policy.relations[self._kind, name])
            case expr.AnyOf(inner):
                return UnionOperation(tuple(map(self.operation, inner)))
            case expr.AllOf(inner):
                return IntersectionOperation(tuple(map(self.operation, inner)))
            case expr.Not(part):
                return ComplementOperation(self.operation(part))
            case expr.Everyone():
                return EverybodyOperation()
            case expr.HasRole():
                return GrantOperation(self._columns.grants(expression), expression.person_only, self._facts.groups)
            case expr.IsSelf():
                return MemberListOperation(self._columns.holders(expr.RoleHolder((), expression, expr.ALWAYS)))
            case expr.AttributeIs():
                return AttributeOperation(self._columns.values(expression), expression.value)
            case expr.MembershipIs(_, value, default):
                named = MemberListOperation(self._columns.members_with(expression))
                return ComplementOperation(named) if value == default else named
            case expr.RoleHolder():
                return HolderOperation(self._columns.holders(expression), self.operation(expression.question))
            case expr.Some():
                return self._some(item_questions(expression))
            case expr.Every():
                items = item_questions(expression)
                return IntersectionOperation((self._there(items), ComplementOperation(self._some(items))))

    def _some(self, items: list[ItemQuestions]) -> Operation:
        found: list[Operation] = []
        for item in items:
            found.append(self.operation(item.asked))
            if item.instead is not None:
                none = ComplementOperation(self.operation(item.there))
                found.append(IntersectionOperation((self.operation(item.instead), none)))
        return UnionOperation(tuple(found))

    def _there(self, items: list[ItemQuestions]) -> Operation:
        return UnionOperation(
            tuple(self.operation(found) for item in items for found in (item.there, item.instead_there) if found)
        )

    def _edge_question(self, question: EdgeQuestion) -> Operation:
        if question.is_presence:
            return FlagOperation(self._columns.presence(question.step))
        there = [(kind, part) for kind, part in question.then if self._facts.count(kind)]
        light = [(kind, part) for kind, part in there if self._plan.is_light(kind, part)]
        found: list[Operation] = [self._answer(question.step, *asked) for asked in there if asked not in light]
        if light:
            found.append(EdgeEndsOperation(self._columns.ends(question.step), *self._facts.evaluate(light)))
        return UnionOperation(tuple(found))

    def _answer(self, step: expr.EdgeStep, kind: str, part: expr.Expression) -> Operation:
        path = JoinPath(self._kind, step, kind, self._plan.level(kind, part))
        return self._joins.setdefault(path, AnswerJoin(JoinAnswers(len(self._joins)))).answer(part)
