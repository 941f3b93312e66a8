"""One person, one resource: yes or no. Each relation becomes one function, made once for a policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce

from lakehold.access.facts.view import Subject, View, role_bit
from lakehold.access.model.expressions import (
    All,
    Any,
    Every,
    Everyone,
    Expression,
    Granted,
    Holder,
    Is,
    Item,
    MemberIs,
    Not,
    Relation,
    Some,
    Step,
    parts,
)
from lakehold.access.model.policy import MEMBER, Key, Policy

Test = Callable[[View, Subject, int], bool]

MOST_REMEMBERED = 200_000
"""Answers that a view keeps; they take about 40 MB."""


def mask_of(roles: Iterable[str]) -> int:
    """The bits of these roles."""
    return reduce(int.__or__, map(role_bit, roles), 0)


class Checks:
    """The functions of one policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._containers = {end for kind in policy.kinds.values() if kind.parent for end in kind.parent.kinds}
        # Not by when they are first asked for: a view remembers answers by these numbers, and may outlive this object.
        self._numbers = {key: number for number, key in enumerate(policy.relations)}
        self._tests: dict[Key, Test] = {}
        self._parts: dict[int, tuple[Expression, Test]] = {}
        self.asked: dict[tuple[str | None, str], Test] = {}
        """The actions that somebody has asked for, without what is not an action."""

    def test(self, kind: str, name: str) -> Test:
        """The function that answers for this relation."""
        known = self._tests.get((kind, name))
        if known is None:
            expression = self._policy.relations[kind, name]
            known = self._compile(expression)
            if self._is_worth_remembering(kind, expression):
                known = _remembered(known, self._numbers[kind, name])
            self._tests[kind, name] = known
        return known

    def _is_worth_remembering(self, kind: str, expression: Expression) -> bool:
        """What asks of many, and what is asked of the few that many lie in: a layer is asked for each of its tables."""
        if isinstance(expression, Granted | Relation | Everyone):
            return False
        return kind in self._containers or _asks_every(expression)

    def of(self, expression: Expression) -> Test:
        """The function that answers for an expression of the policy."""
        known = self._parts.get(id(expression))
        if known is None:
            # The expression is kept too, so that its number is not given to another one.
            known = self._parts[id(expression)] = (expression, self._compile(expression))
        return known[1]

    def _compile(self, expression: Expression) -> Test:
        match expression:
            case Relation(kind, name):
                return self.test(kind, name)
            case Any((Granted() as granted, Some((Item(Step(edge, False, (_,)), (), None),), ((_, above),)))):
                return _here_or_above(self._granted(granted), edge, self._compile(above))
            case Any(inner):
                return _any([self._compile(part) for part in inner])
            case All(inner):
                return _all([self._compile(part) for part in inner])
            case Granted():
                return self._granted(expression)
            case Some(items, then):
                return self._some(items, {kind: self._compile(part) for kind, part in then})
            case Every(items, then):
                return self._every(items, {kind: self._compile(part) for kind, part in then})
            case Holder():
                return self._holder(expression)
            case Is(name, value, default):
                return lambda view, _subject, resource: view.attributes[name].get(resource, default) == value
            case MemberIs(name, value, default):
                return _member_is(name, value, default)
            case Not(part):
                test = self._compile(part)
                return lambda view, subject, resource: not test(view, subject, resource)
            case Everyone():
                return lambda _view, _subject, _resource: True

    def _granted(self, granted: Granted) -> Test:
        mask = mask_of(granted.roles)
        if granted.person_only:
            return _granted_to_person(mask)
        everyone = self._policy.everyone(granted.kind)
        if everyone is None:
            return _granted_to_any(mask)
        root_mask = mask_of(everyone.roles)
        edges = [step.edge for step in self._policy.kinds[granted.kind].everyone or ()]
        return _granted_within(mask, edges, root_mask)

    def _items(self, items: tuple[Item, ...]) -> Callable[[View, Subject, int], Iterable[int]]:
        sources = [self._item(item) for item in items]
        if len(sources) == 1:
            return sources[0]
        return lambda view, subject, resource: (
            found for source in sources for found in source(view, subject, resource)
        )

    def _item(self, item: Item) -> Callable[[View, Subject, int], Iterable[int]]:
        ahead = ends(item.step)
        where = {kind: self._compile(part) for kind, part in item.where}
        otherwise = ends(item.otherwise) if item.otherwise else None
        if not where and otherwise is None:
            return lambda view, _subject, resource: ahead(view, resource)

        def found(view: View, subject: Subject, resource: int) -> Iterable[int]:
            there = ahead(view, resource)
            if where:
                there = [end for end in there if where[view.kind(end)](view, subject, end)]
            return there or otherwise(view, resource) if otherwise else there

        return found

    def _some(self, items: tuple[Item, ...], then: dict[str, Test]) -> Test:
        if len(items) == 1 and not items[0].step.back and not items[0].where and not items[0].otherwise:
            return _along(items[0].step, then)
        found = self._items(items)

        def some(view: View, subject: Subject, resource: int) -> bool:
            return any(then[view.kind(end)](view, subject, end) for end in found(view, subject, resource))

        return some

    def _every(self, items: tuple[Item, ...], then: dict[str, Test]) -> Test:
        found = self._items(items)

        def every(view: View, subject: Subject, resource: int) -> bool:
            there = False
            for end in found(view, subject, resource):
                if not then[view.kind(end)](view, subject, end):
                    return False
                there = True
            return there

        return every

    def _holder(self, holder: Holder) -> Test:
        mask = mask_of(holder.role.roles)
        question = self._compile(holder.question)

        def held(view: View, _subject: Subject, resource: int) -> bool:
            return any(
                question(view, view.subject(person), resource) for person in holders(view, holder.steps, mask, resource)
            )

        return held


def holders(view: View, steps: tuple[Step, ...], mask: int, resource: int) -> list[int]:
    """The persons who themselves hold a role of the mask at the end of the steps."""
    there = [resource]
    for step in steps:
        there = [end for here in there for end in view.out[step.edge].get(here) or ()]
    return [
        person
        for here in there
        for person, roles in (view.grants.get(here) or {}).items()
        if roles & mask and view.kinds.get(person) == MEMBER
    ]


def ends(step: Step) -> Callable[[View, int], Iterable[int]]:
    """The resources at the end of a step."""
    edge, kinds = step.edge, frozenset(step.kinds)
    if step.back:
        return lambda view, resource: [
            source for source in view.back[edge].get(resource) or () if view.kinds.get(source) in kinds
        ]
    return lambda view, resource: view.out[edge].get(resource) or ()


def _asks_every(expression: Expression) -> bool:
    return isinstance(expression, Every) or any(_asks_every(part) for part in parts(expression))


def _remembered(test: Test, number: int) -> Test:
    """The same test, answered once for as long as nothing in the view changes."""

    def remembered(view: View, subject: Subject, resource: int) -> bool:
        question = (number, subject.id, resource)
        answer = view.memo.get(question)
        if answer is None:
            if len(view.memo) >= MOST_REMEMBERED:
                view.memo.clear()
            answer = view.memo[question] = test(view, subject, resource)
        return answer

    return remembered


def _here_or_above(granted: Test, edge: str, above: Test) -> Test:
    """Given here, or so for what it lies in: by far the most asked, and so without a function for each half."""

    def here_or_above(view: View, subject: Subject, resource: int) -> bool:
        held = view.grants.get(resource)
        if held is not None and not held.keys().isdisjoint(subject.ids_with_all) and granted(view, subject, resource):
            return True
        for end in view.out[edge].get(resource) or ():  # noqa: SIM110 - as below
            if above(view, subject, end):
                return True
        return False

    return here_or_above


def _any(tests: list[Test]) -> Test:
    if len(tests) == 2:  # noqa: PLR2004 - most have two, and a loop takes as long as they do
        one, other = tests
        return lambda view, subject, resource: one(view, subject, resource) or other(view, subject, resource)

    def any_of(view: View, subject: Subject, resource: int) -> bool:
        for test in tests:  # noqa: SIM110 - a generator here costs as much as the tests themselves
            if test(view, subject, resource):
                return True
        return False

    return any_of


def _all(tests: list[Test]) -> Test:
    def all_of(view: View, subject: Subject, resource: int) -> bool:
        for test in tests:  # noqa: SIM110 - a generator here costs as much as the tests themselves
            if not test(view, subject, resource):
                return False
        return True

    return all_of


def _along(step: Step, then: dict[str, Test]) -> Test:
    edge = step.edge
    if len(step.kinds) == 1:
        test = then[step.kinds[0]]

        def one(view: View, subject: Subject, resource: int) -> bool:
            for end in view.out[edge].get(resource) or ():  # noqa: SIM110 - as above
                if test(view, subject, end):
                    return True
            return False

        return one

    def along(view: View, subject: Subject, resource: int) -> bool:
        return any(then[view.kind(end)](view, subject, end) for end in view.out[edge].get(resource) or ())

    return along


def _member_is(name: str, value: str, default: str) -> Test:
    def member_is(view: View, subject: Subject, resource: int) -> bool:
        values = view.memberships[name].get(resource)
        return (values.get(subject.id, default) if values else default) == value

    return member_is


def _granted_to_person(mask: int) -> Test:
    def granted(view: View, subject: Subject, resource: int) -> bool:
        held = view.grants.get(resource)
        return held is not None and held.get(subject.id, 0) & mask != 0

    return granted


def _granted_to_any(mask: int) -> Test:
    def granted(view: View, subject: Subject, resource: int) -> bool:
        held = view.grants.get(resource)
        if held is None or held.keys().isdisjoint(subject.ids_with_all):
            return False
        for holder in subject.ids_with_all:  # noqa: SIM110 - as above
            if held.get(holder, 0) & mask:
                return True
        return False

    return granted


def _granted_within(mask: int, edges: list[str], root_mask: int) -> Test:
    """As above, but All means those who hold a role at the end of the edges."""

    def granted(view: View, subject: Subject, resource: int) -> bool:
        held = view.grants.get(resource)
        if held is None or held.keys().isdisjoint(subject.ids_with_all):
            return False
        for holder in subject.ids:
            if held.get(holder, 0) & mask:
                return True
        return held.get(subject.everyone, 0) & mask != 0 and belongs(view, subject, resource, edges, root_mask)

    return granted


def belongs(view: View, subject: Subject, resource: int, edges: list[str], mask: int) -> bool:
    """Whether All means this subject here: it holds a role on the resource at the end of the edges."""
    there: Iterable[int] = (resource,)
    for edge in edges:
        there = [end for here in there for end in view.out[edge].get(here) or ()]
    return any((view.grants.get(root) or {}).get(holder, 0) & mask for root in there for holder in subject.ids)
