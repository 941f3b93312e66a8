"""Sets of members: for one resource all members for whom a relation holds, as the bits of one whole number."""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from lakehold.access.decisions.check import role_holders, role_mask, step_ends
from lakehold.access.facts.view import FactView
from lakehold.access.model import expressions as expr
from lakehold.access.model.policy import MEMBER, MEMBER_OF, Policy

Members = int
MemberSetFunction = Callable[[FactView, int], Members]

_ANYBODY: Members = -1
"""All bits: leaves another set as it is."""


def all_members(view: FactView) -> Members:
    """Return all members of the tenant."""
    return (1 << len(view.members)) - 1


def bit_positions(members: Members) -> Iterator[int]:
    """Yield the positions of the bits that are set."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


class CompiledMemberSets:
    """The compiled member-set functions of one policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._sets: dict[expr.RelationKey, MemberSetFunction] = {}

    def relation_set(self, kind: str, name: str) -> MemberSetFunction:
        """Return the function that computes the members of this relation."""
        known = self._sets.get((kind, name))
        if known is None:
            known = self._sets[kind, name] = _cached(
                self.expression_set(self._policy.relations[kind, name]), (kind, name)
            )
        return known

    def expression_set(self, expression: expr.Expression) -> MemberSetFunction:
        """Return the function that computes the members of an expression."""
        match expression:
            case expr.Relation(kind, name):
                return self.relation_set(kind, name)
            case expr.AnyOf(inner):
                return _union([self.expression_set(part) for part in inner])
            case expr.AllOf(inner):
                return _intersection([self.expression_set(part) for part in inner])
            case expr.HasRole():
                return self._granted(expression)
            case expr.IsSelf():
                return lambda view, resource: 1 << view.members[resource]
            case expr.Some(items, then):
                return self._some(items, {kind: self.expression_set(part) for kind, part in then})
            case expr.Every(items, then):
                return self._every(items, {kind: self.expression_set(part) for kind, part in then})
            case expr.RoleHolder():
                return self._holder(expression)
            case expr.AttributeIs(name, value, default):
                return lambda view, resource: (
                    all_members(view) if view.attributes[name].get(resource, default) == value else 0
                )
            case expr.MembershipIs(name, value, default):
                return _member_is(name, value, default)
            case expr.Not(part):
                inverse = self.expression_set(part)
                return lambda view, resource: all_members(view) & ~inverse(view, resource)
            case expr.Everyone():
                return lambda view, _resource: all_members(view)

    def _granted(self, granted: expr.HasRole) -> MemberSetFunction:
        mask = role_mask(granted.roles)
        everyone = self._policy.everyone_roles(granted.kind)
        edges = [step.edge for step in self._policy.kinds[granted.kind].everyone or ()]
        root_mask = role_mask(everyone.roles) if everyone else 0

        def granted_to(view: FactView, resource: int) -> Members:
            held = view.grants.get(resource)
            if not held:
                return 0
            found, to_all = 0, view.everyone
            for holder, roles in held.items():
                if not roles & mask:
                    continue
                if holder == to_all and not granted.person_only:
                    found |= everyone_members(view, resource, edges, root_mask) if everyone else all_members(view)
                elif not granted.person_only or view.kinds.get(holder) == MEMBER:
                    found |= members_of_holder(view, holder)
            return found

        return granted_to

    def _items(
        self, items: tuple[expr.QuantifierItem, ...]
    ) -> Callable[[FactView, int], Iterable[tuple[int, Members]]]:
        sources = [self._item(item) for item in items]
        return lambda view, resource: (found for source in sources for found in source(view, resource))

    def _item(self, item: expr.QuantifierItem) -> Callable[[FactView, int], Iterable[tuple[int, Members]]]:
        """Return a function to the ends of an item, each with the members for whom it counts."""
        ahead = step_ends(item.step)
        where = {kind: self.expression_set(part) for kind, part in item.where}
        otherwise = step_ends(item.otherwise) if item.otherwise else None

        def found(view: FactView, resource: int) -> Iterable[tuple[int, Members]]:
            there = ahead(view, resource)
            if not where:
                if not there and otherwise:
                    there = otherwise(view, resource)
                return [(end, _ANYBODY) for end in there]
            # A condition may ask for an attribute of a membership, which is not the same for all.
            counted = [(end, where[view.kind(end)](view, end)) for end in there]
            if otherwise:
                without = all_members(view)
                for _, members in counted:
                    without &= ~members
                counted += [(end, without) for end in otherwise(view, resource)]
            return counted

        return found

    def _some(self, items: tuple[expr.QuantifierItem, ...], then: dict[str, MemberSetFunction]) -> MemberSetFunction:
        found = self._items(items)

        def some(view: FactView, resource: int) -> Members:
            members, most = 0, all_members(view)
            for end, counted in found(view, resource):
                members |= then[view.kind(end)](view, end) & counted
                if members == most:
                    break
            return members

        return some

    def _every(self, items: tuple[expr.QuantifierItem, ...], then: dict[str, MemberSetFunction]) -> MemberSetFunction:
        found = self._items(items)

        def every(view: FactView, resource: int) -> Members:
            members, there = _ANYBODY, 0
            for end, counted in found(view, resource):
                members &= then[view.kind(end)](view, end) | ~counted
                there |= counted
            return members & there

        return every

    def _holder(self, holder: expr.RoleHolder) -> MemberSetFunction:
        persons = role_holders(holder)
        question = self.expression_set(holder.question)

        def held(view: FactView, resource: int) -> Members:
            yes = question(view, resource)
            held_by = persons(view, resource)
            return all_members(view) if any(yes >> view.members[person] & 1 for person in held_by) else 0

        return held


compiled_member_sets = lru_cache(maxsize=32)(CompiledMemberSets)
"""The compiled member sets of a policy, compiled once."""


def _cached(set_of: MemberSetFunction, key: expr.RelationKey) -> MemberSetFunction:
    def remembered(view: FactView, resource: int) -> Members:
        question = (key, resource)
        answer = view.sets.get(question)
        if answer is None:
            answer = view.sets[question] = set_of(view, resource)
        return answer

    return remembered


def _union(sets: list[MemberSetFunction]) -> MemberSetFunction:
    def union(view: FactView, resource: int) -> Members:
        members, most = 0, all_members(view)
        for part in sets:
            members |= part(view, resource)
            if members == most:
                break
        return members

    return union


def _intersection(sets: list[MemberSetFunction]) -> MemberSetFunction:
    def intersection(view: FactView, resource: int) -> Members:
        members = -1
        for part in sets:
            members &= part(view, resource)
            if not members:
                break
        return members

    return intersection


def _member_is(name: str, value: str, default: str) -> MemberSetFunction:
    def member_is(view: FactView, resource: int) -> Members:
        values = view.memberships[name].get(resource) or {}
        usual = value == default
        named = sum(1 << view.members[member] for member, found in values.items() if (found == value) != usual)
        return all_members(view) & ~named if usual else named

    return member_is


def members_of_holder(view: FactView, holder: int) -> Members:
    """Return the members whom a grant to this subject reaches: a member itself, or those in the group."""
    question = ("holder", holder)
    known = view.sets.get(question)
    if known is None:
        persons = (holder,) if view.kinds.get(holder) == MEMBER else view.edges_in[MEMBER_OF].get(holder) or ()
        known = view.sets[question] = sum(1 << view.members[person] for person in persons)
    return known


def everyone_members(view: FactView, resource: int, edges: list[str], mask: int) -> Members:
    """Return the members of the group All here: those who hold a role on the resource at the end of the edges."""
    there: Iterable[int] = (resource,)
    for edge in edges:
        there = [end for here in there for end in view.edges_out[edge].get(here) or ()]
    found = 0
    for root in there:
        for holder, roles in (view.grants.get(root) or {}).items():
            if roles & mask and holder != view.everyone:
                found |= members_of_holder(view, holder)
    return found
