"""One resource: the set of all members for whom a relation holds, as the bits of one whole number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from lakehold.access.decide.check import ends, holders, mask_of
from lakehold.access.facts.view import View
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
)
from lakehold.access.model.policy import MEMBER, MEMBER_OF, Key, Policy

Members = int
SetOf = Callable[[View, int], Members]

_ANYBODY: Members = -1
"""All bits: leaves another set as it is."""


def everybody(view: View) -> Members:
    """All members of the tenant."""
    return (1 << len(view.members)) - 1


def numbers(members: Members) -> Iterator[int]:
    """The numbers of the bits that are set."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


class MemberSets:
    """The functions of one policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._sets: dict[Key, SetOf] = {}

    def set_of(self, kind: str, name: str) -> SetOf:
        """The function that answers for this relation."""
        known = self._sets.get((kind, name))
        if known is None:
            known = self._sets[kind, name] = _remembered(self.of(self._policy.relations[kind, name]), (kind, name))
        return known

    def of(self, expression: Expression) -> SetOf:
        """The function that answers for an expression."""
        match expression:
            case Relation(kind, name):
                return self.set_of(kind, name)
            case Any(inner):
                return _union([self.of(part) for part in inner])
            case All(inner):
                return _intersection([self.of(part) for part in inner])
            case Granted():
                return self._granted(expression)
            case Some(items, then):
                return self._some(items, {kind: self.of(part) for kind, part in then})
            case Every(items, then):
                return self._every(items, {kind: self.of(part) for kind, part in then})
            case Holder():
                return self._holder(expression)
            case Is(name, value, default):
                return lambda view, resource: (
                    everybody(view) if view.attributes[name].get(resource, default) == value else 0
                )
            case MemberIs(name, value, default):
                return _member_is(name, value, default)
            case Not(part):
                inverse = self.of(part)
                return lambda view, resource: everybody(view) & ~inverse(view, resource)
            case Everyone():
                return lambda view, _resource: everybody(view)

    def _granted(self, granted: Granted) -> SetOf:
        mask = mask_of(granted.roles)
        everyone = self._policy.everyone(granted.kind)
        edges = [step.edge for step in self._policy.kinds[granted.kind].everyone or ()]
        root_mask = mask_of(everyone.roles) if everyone else 0

        def granted_to(view: View, resource: int) -> Members:
            held = view.grants.get(resource)
            if not held:
                return 0
            found, to_all = 0, view.everyone
            for holder, roles in held.items():
                if not roles & mask:
                    continue
                if holder == to_all:
                    if not granted.person_only:
                        found |= everybody(view) if everyone is None else belonging(view, resource, edges, root_mask)
                elif not granted.person_only or view.kinds.get(holder) == MEMBER:
                    found |= of_holder(view, holder)
            return found

        return granted_to

    def _items(self, items: tuple[Item, ...]) -> Callable[[View, int], Iterable[tuple[int, Members]]]:
        sources = [self._item(item) for item in items]
        return lambda view, resource: (found for source in sources for found in source(view, resource))

    def _item(self, item: Item) -> Callable[[View, int], Iterable[tuple[int, Members]]]:
        """The ends, each with the members for whom it counts."""
        ahead = ends(item.step)
        where = {kind: self.of(part) for kind, part in item.where}
        otherwise = ends(item.otherwise) if item.otherwise else None

        def found(view: View, resource: int) -> Iterable[tuple[int, Members]]:
            there = ahead(view, resource)
            if not where:
                if not there and otherwise:
                    there = otherwise(view, resource)
                return [(end, _ANYBODY) for end in there]
            # A condition may ask for an attribute of a membership, which is not the same for all.
            counted = [(end, where[view.kind(end)](view, end)) for end in there]
            if otherwise:
                without = everybody(view)
                for _, members in counted:
                    without &= ~members
                counted += [(end, without) for end in otherwise(view, resource)]
            return counted

        return found

    def _some(self, items: tuple[Item, ...], then: dict[str, SetOf]) -> SetOf:
        found = self._items(items)

        def some(view: View, resource: int) -> Members:
            members, most = 0, everybody(view)
            for end, counted in found(view, resource):
                members |= then[view.kind(end)](view, end) & counted
                if members == most:
                    break
            return members

        return some

    def _every(self, items: tuple[Item, ...], then: dict[str, SetOf]) -> SetOf:
        found = self._items(items)

        def every(view: View, resource: int) -> Members:
            members, there = _ANYBODY, 0
            for end, counted in found(view, resource):
                members &= then[view.kind(end)](view, end) | ~counted
                there |= counted
            return members & there

        return every

    def _holder(self, holder: Holder) -> SetOf:
        mask = mask_of(holder.role.roles)
        question = self.of(holder.question)

        def held(view: View, resource: int) -> Members:
            yes = question(view, resource)
            persons = holders(view, holder.steps, mask, resource)
            return everybody(view) if any(yes >> view.members[person] & 1 for person in persons) else 0

        return held


def _remembered(set_of: SetOf, key: Key) -> SetOf:
    def remembered(view: View, resource: int) -> Members:
        question = (key, resource)
        answer = view.sets.get(question)
        if answer is None:
            answer = view.sets[question] = set_of(view, resource)
        return answer

    return remembered


def _union(sets: list[SetOf]) -> SetOf:
    def union(view: View, resource: int) -> Members:
        members, most = 0, everybody(view)
        for part in sets:
            members |= part(view, resource)
            if members == most:
                break
        return members

    return union


def _intersection(sets: list[SetOf]) -> SetOf:
    def intersection(view: View, resource: int) -> Members:
        members = -1
        for part in sets:
            members &= part(view, resource)
            if not members:
                break
        return members

    return intersection


def _member_is(name: str, value: str, default: str) -> SetOf:
    def member_is(view: View, resource: int) -> Members:
        values = view.memberships[name].get(resource) or {}
        told = sum(1 << view.members[member] for member, found in values.items() if found == value)
        if value != default:
            return told
        others = sum(1 << view.members[member] for member, found in values.items() if found != value)
        return everybody(view) & ~others

    return member_is


def of_holder(view: View, holder: int) -> Members:
    """The members whom a grant to this subject reaches: a member itself, or those in the group."""
    question = ("holder", holder)
    known = view.sets.get(question)
    if known is None:
        persons = (holder,) if view.kinds.get(holder) == MEMBER else view.back[MEMBER_OF].get(holder) or ()
        known = view.sets[question] = sum(1 << view.members[person] for person in persons)
    return known


def belonging(view: View, resource: int, edges: list[str], mask: int) -> Members:
    """Whom All means here: those who hold a role on the resource at the end of the edges."""
    there: Iterable[int] = (resource,)
    for edge in edges:
        there = [end for here in there for end in view.out[edge].get(here) or ()]
    found = 0
    for root in there:
        for holder, roles in (view.grants.get(root) or {}).items():
            if roles & mask and holder != view.everyone:
                found |= of_holder(view, holder)
    return found
