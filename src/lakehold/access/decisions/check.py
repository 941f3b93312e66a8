"""Checks one person and one resource: yes or no. Each relation is compiled into one function, once for a policy."""

from collections.abc import Callable, Iterable
from functools import lru_cache, reduce

from lakehold.access.facts.view import FactView, MemberSubject, role_bit
from lakehold.access.model import expressions as expr
from lakehold.access.model.policy import MEMBER, Policy

RelationTest = Callable[[FactView, MemberSubject, int], bool]

MOST_REMEMBERED = 200_000
"""Answers that a view keeps; they take about 40 MB."""


def role_mask(roles: Iterable[str]) -> int:
    """Return the bits of these roles."""
    return reduce(int.__or__, map(role_bit, roles), 0)


class CompiledChecks:
    """The compiled check functions of one policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._containers = {end for kind in policy.kinds.values() if kind.parent for end in kind.parent.kinds}
        # Not in the order of first use: a view caches answers by these numbers, and may outlive this object.
        self._numbers = {key: number for number, key in enumerate(policy.relations)}
        self._tests: dict[expr.RelationKey, RelationTest] = {}
        self._parts: dict[int, tuple[expr.Expression, RelationTest]] = {}
        self.action_tests: dict[tuple[str | None, str], RelationTest] = {}
        """The actions that were requested, without names that are no actions."""

    def relation_test(self, kind: str, name: str) -> RelationTest:
        """Return the function that checks this relation."""
        known = self._tests.get((kind, name))
        if known is None:
            expression = self._policy.relations[kind, name]
            known = self._compile(expression)
            if self._is_worth_caching(kind, expression):
                known = _cached(known, self._numbers[kind, name])
            self._tests[kind, name] = known
        return known

    def _is_worth_caching(self, kind: str, expression: expr.Expression) -> bool:
        """Return whether to cache answers: over many edges, and of containers, which are checked for each inside."""
        if isinstance(expression, expr.HasRole | expr.Relation | expr.Everyone):
            return False
        return kind in self._containers or _contains_every(expression)

    def expression_test(self, expression: expr.Expression) -> RelationTest:
        """Return the function that checks an expression of the policy."""
        known = self._parts.get(id(expression))
        if known is None:
            # The expression is kept too, so that its number is not given to another one.
            known = self._parts[id(expression)] = (expression, self._compile(expression))
        return known[1]

    def _compile(self, expression: expr.Expression) -> RelationTest:
        match expression:
            case expr.Relation(kind, name):
                return self.relation_test(kind, name)
            case expr.AnyOf(
                (
                    expr.HasRole() as granted,
                    expr.Some((expr.QuantifierItem(expr.EdgeStep(edge, False, (_,)), (), None),), ((_, above),)),
                )
            ):
                return _granted_or_inherited(self._granted(granted), edge, self._compile(above))
            case expr.AnyOf(inner):
                return _any([self._compile(part) for part in inner])
            case expr.AllOf(inner):
                return _all([self._compile(part) for part in inner])
            case expr.HasRole():
                return self._granted(expression)
            case expr.IsSelf():
                return lambda _view, subject, resource: subject.id == resource
            case expr.Some(items, then):
                return self._some(items, {kind: self._compile(part) for kind, part in then})
            case expr.Every(items, then):
                return self._every(items, {kind: self._compile(part) for kind, part in then})
            case expr.RoleHolder():
                return self._holder(expression)
            case expr.AttributeIs(name, value, default):
                return lambda view, _subject, resource: view.attributes[name].get(resource, default) == value
            case expr.MembershipIs(name, value, default):
                return _member_is(name, value, default)
            case expr.Not(part):
                test = self._compile(part)
                return lambda view, subject, resource: not test(view, subject, resource)
            case expr.Everyone():
                return lambda _view, _subject, _resource: True

    def _granted(self, granted: expr.HasRole) -> RelationTest:
        mask = role_mask(granted.roles)
        if granted.person_only:
            return _granted_to_person(mask)
        everyone = self._policy.everyone_roles(granted.kind)
        if everyone is None:
            return _granted_to_any(mask)
        root_mask = role_mask(everyone.roles)
        edges = [step.edge for step in self._policy.kinds[granted.kind].everyone or ()]
        return _granted_within(mask, edges, root_mask)

    def _items(self, items: tuple[expr.QuantifierItem, ...]) -> Callable[[FactView, MemberSubject, int], Iterable[int]]:
        sources = [self._item(item) for item in items]
        if len(sources) == 1:
            return sources[0]
        return lambda view, subject, resource: (
            found for source in sources for found in source(view, subject, resource)
        )

    def _item(self, item: expr.QuantifierItem) -> Callable[[FactView, MemberSubject, int], Iterable[int]]:
        ahead = step_ends(item.step)
        where = {kind: self._compile(part) for kind, part in item.where}
        otherwise = step_ends(item.otherwise) if item.otherwise else None
        if not where and otherwise is None:
            return lambda view, _subject, resource: ahead(view, resource)

        def found(view: FactView, subject: MemberSubject, resource: int) -> Iterable[int]:
            there = ahead(view, resource)
            if where:
                there = [end for end in there if where[view.kind(end)](view, subject, end)]
            return there or otherwise(view, resource) if otherwise else there

        return found

    def _some(self, items: tuple[expr.QuantifierItem, ...], then: dict[str, RelationTest]) -> RelationTest:
        if len(items) == 1 and not items[0].step.back and not items[0].where and not items[0].otherwise:
            return _at_step_ends(items[0].step, then)
        found = self._items(items)

        def some(view: FactView, subject: MemberSubject, resource: int) -> bool:
            return any(then[view.kind(end)](view, subject, end) for end in found(view, subject, resource))

        return some

    def _every(self, items: tuple[expr.QuantifierItem, ...], then: dict[str, RelationTest]) -> RelationTest:
        found = self._items(items)

        def every(view: FactView, subject: MemberSubject, resource: int) -> bool:
            there = False
            for end in found(view, subject, resource):
                if not then[view.kind(end)](view, subject, end):
                    return False
                there = True
            return there

        return every

    def _holder(self, holder: expr.RoleHolder) -> RelationTest:
        persons = role_holders(holder)
        question = self._compile(holder.question)

        def held(view: FactView, _subject: MemberSubject, resource: int) -> bool:
            return any(question(view, view.subject(person), resource) for person in persons(view, resource))

        return held


compiled_checks = lru_cache(maxsize=32)(CompiledChecks)
"""The compiled checks of a policy, compiled once."""


def role_holders(holder: expr.RoleHolder) -> Callable[[FactView, int], list[int]]:
    """Return a function to the persons who themselves hold the role at the end of the steps, or are the resource."""
    if isinstance(holder.role, expr.IsSelf):
        return lambda _view, resource: [resource]
    steps, mask = holder.steps, role_mask(holder.role.roles)

    def persons(view: FactView, resource: int) -> list[int]:
        there = [resource]
        for step in steps:
            there = [end for here in there for end in view.edges_out[step.edge].get(here) or ()]
        return [
            person
            for here in there
            for person, roles in (view.grants.get(here) or {}).items()
            if roles & mask and view.kinds.get(person) == MEMBER
        ]

    return persons


def step_ends(step: expr.EdgeStep) -> Callable[[FactView, int], Iterable[int]]:
    """Return a function to the resources at the end of a step."""
    edge, kinds = step.edge, frozenset(step.kinds)
    if step.back:
        return lambda view, resource: [
            source for source in view.edges_in[edge].get(resource) or () if view.kinds.get(source) in kinds
        ]
    return lambda view, resource: view.edges_out[edge].get(resource) or ()


def _contains_every(expression: expr.Expression) -> bool:
    return isinstance(expression, expr.Every) or any(_contains_every(part) for part in expr.subexpressions(expression))


def _cached(test: RelationTest, number: int) -> RelationTest:
    """Wrap a test so that its answers are cached for as long as nothing in the view changes."""

    def remembered(view: FactView, subject: MemberSubject, resource: int) -> bool:
        question = (number, subject.id, resource)
        answer = view.memo.get(question)
        if answer is None:
            if len(view.memo) >= MOST_REMEMBERED:
                view.memo.clear()
            answer = view.memo[question] = test(view, subject, resource)
        return answer

    return remembered


def _granted_or_inherited(granted: RelationTest, edge: str, above: RelationTest) -> RelationTest:
    """Test for a grant here or on the container, in one function: it is by far the most frequent test."""

    def here_or_above(view: FactView, subject: MemberSubject, resource: int) -> bool:
        held = view.grants.get(resource)
        if held is not None and not held.keys().isdisjoint(subject.ids_with_all) and granted(view, subject, resource):
            return True
        for end in view.edges_out[edge].get(resource) or ():  # noqa: SIM110 - as below
            if above(view, subject, end):
                return True
        return False

    return here_or_above


def _any(tests: list[RelationTest]) -> RelationTest:
    if len(tests) == 2:  # noqa: PLR2004 - most have two, and a loop takes as long as they do
        one, other = tests
        return lambda view, subject, resource: one(view, subject, resource) or other(view, subject, resource)

    def any_of(view: FactView, subject: MemberSubject, resource: int) -> bool:
        for test in tests:  # noqa: SIM110 - a generator here costs as much as the tests themselves
            if test(view, subject, resource):
                return True
        return False

    return any_of


def _all(tests: list[RelationTest]) -> RelationTest:
    def all_of(view: FactView, subject: MemberSubject, resource: int) -> bool:
        for test in tests:  # noqa: SIM110 - a generator here costs as much as the tests themselves
            if not test(view, subject, resource):
                return False
        return True

    return all_of


def _at_step_ends(step: expr.EdgeStep, then: dict[str, RelationTest]) -> RelationTest:
    edge = step.edge
    if len(step.kinds) == 1:
        test = then[step.kinds[0]]

        def one(view: FactView, subject: MemberSubject, resource: int) -> bool:
            for end in view.edges_out[edge].get(resource) or ():  # noqa: SIM110 - as above
                if test(view, subject, end):
                    return True
            return False

        return one

    def along(view: FactView, subject: MemberSubject, resource: int) -> bool:
        return any(then[view.kind(end)](view, subject, end) for end in view.edges_out[edge].get(resource) or ())

    return along


def _member_is(name: str, value: str, default: str) -> RelationTest:
    def member_is(view: FactView, subject: MemberSubject, resource: int) -> bool:
        values = view.memberships[name].get(resource)
        return (values.get(subject.id, default) if values else default) == value

    return member_is


def _granted_to_person(mask: int) -> RelationTest:
    def granted(view: FactView, subject: MemberSubject, resource: int) -> bool:
        held = view.grants.get(resource)
        return held is not None and held.get(subject.id, 0) & mask != 0

    return granted


def _granted_to_any(mask: int) -> RelationTest:
    def granted(view: FactView, subject: MemberSubject, resource: int) -> bool:
        held = view.grants.get(resource)
        if held is None or held.keys().isdisjoint(subject.ids_with_all):
            return False
        for holder in subject.ids_with_all:  # noqa: SIM110 - as above
            if held.get(holder, 0) & mask:
                return True
        return False

    return granted


def _granted_within(mask: int, edges: list[str], root_mask: int) -> RelationTest:
    """Test for a grant, where All means those who hold a role at the end of the edges."""

    def granted(view: FactView, subject: MemberSubject, resource: int) -> bool:
        held = view.grants.get(resource)
        if held is None or held.keys().isdisjoint(subject.ids_with_all):
            return False
        for holder in subject.ids:
            if held.get(holder, 0) & mask:
                return True
        return held.get(subject.everyone, 0) & mask != 0 and is_in_everyone(view, subject, resource, edges, root_mask)

    return granted


def is_in_everyone(view: FactView, subject: MemberSubject, resource: int, edges: list[str], mask: int) -> bool:
    """Return whether the group All includes this subject: it holds a role at the end of the edges."""
    there: Iterable[int] = (resource,)
    for edge in edges:
        there = [end for here in there for end in view.edges_out[edge].get(here) or ()]
    return any((view.grants.get(root) or {}).get(holder, 0) & mask for root in there for holder in subject.ids)
