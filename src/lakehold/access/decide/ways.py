"""What would have to be added to make a denial an allow, fewest facts first, and who could add it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, islice

from lakehold.access.decide.check import Checks, ends, holders, mask_of
from lakehold.access.decide.members import Members, MemberSets, numbers
from lakehold.access.facts.changes import reaches, with_changes
from lakehold.access.facts.records import Add, Attribute, Edge, Fact, Grant
from lakehold.access.facts.view import Subject, View
from lakehold.access.model.expressions import (
    All,
    Any,
    Every,
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
from lakehold.access.model.names import give, link, put
from lakehold.access.model.policy import GROUP, MEMBER_OF
from lakehold.access.model.soundness import implied_roles
from lakehold.kit.errors import ConflictError

MOST_WAYS = 5
MOST_GIVERS = 5
_BEAM = 12
_MOST_ENDS = 60

Facts = frozenset[Fact]


@dataclass(frozen=True, slots=True)
class Needed:
    """A fact to add, and some of those who may add it."""

    fact: Fact
    givers: tuple[str, ...]
    more_givers: int


@dataclass(frozen=True, slots=True)
class Way:
    """Facts that together make the answer yes."""

    needed: tuple[Needed, ...]


class Ways:
    """Looks for ways in one view."""

    def __init__(self, view: View, checks: Checks, sets: MemberSets) -> None:
        self._view = view
        self._checks = checks
        self._sets = sets
        self._known: dict[tuple[int, int, int], list[Facts]] = {}
        # By the object, which is kept too: to find it by what it says would take longer than to weigh it.
        self._weights: dict[int, tuple[int, str, Fact]] = {}

    def find(self, expression: Expression, kind: str, subject: Subject, here: int) -> Iterator[Facts]:
        """Sets of facts, each of which makes the expression hold; none of them contains another."""
        best: list[Facts] = []
        for way in self._ways(expression, kind, subject, here):
            if any(other <= way for other in best) or not self._works(way, expression, subject, here):
                continue
            best.append(way)
            yield way

    def needed(self, way: Facts) -> tuple[Needed, ...]:
        """The facts of a way, each with its givers."""
        return tuple(self._needed(fact) for fact in sorted(way, key=lambda fact: (type(fact).__name__, repr(fact))))

    def _works(self, way: Facts, expression: Expression, subject: Subject, here: int) -> bool:
        try:
            after = with_changes(self._view, [Add(fact) for fact in way])
        except ConflictError:
            # Each edge could be, but together they would close a circle.
            return False
        return self._checks.of(expression)(after, after.subject(subject.id), here)

    # Looking

    def _ways(self, expression: Expression, kind: str, subject: Subject, here: int) -> list[Facts]:
        """Looked for once: twenty tables lie in one lakehouse. The expressions are the policy's, and stay."""
        question = (id(expression), subject.id, here)
        known = self._known.get(question)
        if known is None:
            known = self._known[question] = self._looked_for(expression, kind, subject, here)
        return known

    def _looked_for(self, expression: Expression, kind: str, subject: Subject, here: int) -> list[Facts]:
        if self._checks.of(expression)(self._view, subject, here):
            return [frozenset()]
        match expression:
            case Relation(_, name):
                return self._ways(self._view.policy.relations[kind, name], kind, subject, here)
            case Any(inner):
                return self._best([way for part in inner for way in self._ways(part, kind, subject, here)])
            case All(inner):
                return self._together(self._ways(part, kind, subject, here) for part in inner)
            case Granted():
                return self._best(self._grants(expression, subject, here))
            case Is(name, value, _):
                return self._attribute(kind, here, name, value)
            case Not(Is(name, value, _)):
                attribute = self._view.policy.kinds[kind].schema.attributes.get(name)
                values = attribute.values if attribute else ()  # none can be set of what a question brings along
                return [way for other in values if other != value for way in self._attribute(kind, here, name, other)]
            case MemberIs(name, value, _):
                settable = (kind, put(name, value)) in self._view.policy.relations
                fact = Attribute(self._view.uid(here), name, value, self._view.uid(subject.id))
                return [frozenset({fact})] if settable else []
            case Some(items, then):
                return self._some(items, dict(then), kind, subject, here)
            case Every(items, then):
                there = list(islice(self._ends(items, subject, here), _MOST_ENDS + 1))
                if not there or len(there) > _MOST_ENDS:
                    return []
                asked = dict(then)
                return self._together(
                    self._ways(asked[self._view.kind(end)], self._view.kind(end), subject, end) for end in there
                )
            case Holder(steps, role, question):
                persons = holders(self._view, steps, mask_of(role.roles), here)
                return [
                    way
                    for person in persons[:1]
                    for way in self._ways(question, kind, self._view.subject(person), here)
                ]
            case _:
                return []

    def _grants(self, granted: Granted, subject: Subject, here: int) -> list[Facts]:
        view = self._view
        roles = view.policy.kinds[granted.kind].schema.roles
        weakest = [
            name
            for name in granted.roles
            if roles[name].given_with and not (implied_roles(roles, roles[name]) - {name}) & granted.roles
        ]
        found: list[Facts] = [frozenset({Grant(view.uid(subject.id), role, view.uid(here))}) for role in weakest]
        if granted.person_only:
            return found
        mask = mask_of(granted.roles)
        for holder, held in (view.grants.get(here) or {}).items():
            if held & mask and view.kinds.get(holder) == GROUP:
                found.append(frozenset({Edge(MEMBER_OF, view.uid(subject.id), view.uid(holder))}))
        return found

    def _attribute(self, kind: str, here: int, name: str, value: str) -> list[Facts]:
        if (kind, put(name, value)) not in self._view.policy.relations:
            return []
        return [frozenset({Attribute(self._view.uid(here), name, value)})]

    def _ends(self, items: tuple[Item, ...], subject: Subject, here: int) -> Iterator[int]:
        for item in items:
            where = {kind: self._checks.of(part) for kind, part in item.where}
            there = [
                end
                for end in ends(item.step)(self._view, here)
                if not where or where[self._view.kind(end)](self._view, subject, end)
            ]
            yield from there or (ends(item.otherwise)(self._view, here) if item.otherwise else ())

    def _some(
        self, items: tuple[Item, ...], then: dict[str, Expression], kind: str, subject: Subject, here: int
    ) -> list[Facts]:
        found = [
            way
            for end in islice(self._ends(items, subject, here), _MOST_ENDS)
            for way in self._ways(then[self._view.kind(end)], self._view.kind(end), subject, end)
        ]
        for item in items:
            found.extend(self._new_edges(item, then, kind, subject, here))
        return self._best(found)

    def _new_edges(
        self, item: Item, then: dict[str, Expression], kind: str, subject: Subject, here: int
    ) -> Iterator[Facts]:
        """Edges that could be added to what holds already: a context that the person has."""
        step = item.step
        if step.back or item.where or (kind, link(step.edge)) not in self._view.policy.relations:
            return
        if not self._view.policy.kinds[kind].schema.edges[step.edge].many:
            return
        parent = self._view.policy.kinds[kind].parent
        around = set(self._view.out[parent.edge].get(here) or ()) if parent else set()
        for end_kind in step.kinds:
            test = self._checks.of(then[end_kind])
            for end in islice(self._view.of_kind.get(end_kind) or (), _MOST_ENDS):
                beside = self._view.policy.kinds[end_kind].parent
                lies_in = set(self._view.out[beside.edge].get(end) or ()) if beside else set()
                if (
                    lies_in & around
                    and not reaches(self._view, step.edge, end, here)
                    and test(self._view, subject, end)
                ):
                    yield frozenset({Edge(step.edge, self._view.uid(here), self._view.uid(end))})

    # Choosing

    def _together(self, parts: Iterable[list[Facts]]) -> list[Facts]:
        found: dict[Facts, int] = {frozenset(): 0}
        for ways in parts:
            weighed = [(way, self._spread_of(way)) for way in ways]
            both: dict[Facts, int] = {}
            for have, spread in found.items():
                for way, more in weighed:
                    # What two parts need alike is counted once.
                    apart = have.isdisjoint(way)
                    both[have | way] = spread + (more if apart else self._spread_of(way - have))
            found = {way: both[way] for way in self._chosen(both)}
            if not found:
                return []
        return list(found)

    def _best(self, ways: Iterable[Facts]) -> list[Facts]:
        """The first in order; what has another one in it is left out, so that all differ in what they need."""
        return self._chosen({way: self._spread_of(way) for way in ways})

    def _chosen(self, weighed: Mapping[Facts, int]) -> list[Facts]:
        """Fewest facts first; among as many, those that open the least to the fewest; then by what they say, which
        takes the longest to find out.
        """
        kept: list[Facts] = []
        rank: Callable[[Facts], tuple[int, int]] = lambda way: (len(way), weighed[way])  # noqa: E731 - said twice
        for _, tied in groupby(sorted(weighed, key=rank), key=rank):
            alike = list(tied)
            for way in alike if len(alike) == 1 else sorted(alike, key=self._said):
                if not any(other <= way for other in kept):
                    kept.append(way)
                if len(kept) == _BEAM:
                    return kept
        return kept

    def _spread_of(self, way: Facts) -> int:
        known = self._weights
        return sum([(known.get(id(fact)) or self._weigh(fact))[0] for fact in way])

    def _said(self, way: Facts) -> list[str]:
        known = self._weights
        return sorted([(known.get(id(fact)) or self._weigh(fact))[1] for fact in way])

    def _weigh(self, fact: Fact) -> tuple[int, str, Fact]:
        weight = self._weights[id(fact)] = (self._spread(fact), repr(fact), fact)
        return weight

    def _spread(self, fact: Fact) -> int:
        match fact:
            case Grant(_, role, resource):
                here = self._view.resource(resource)
                roles = self._view.policy.kinds[self._view.kind(here)].schema.roles
                return self._reach(here) + 3 * len(implied_roles(roles, roles[role]))
            case Edge(name):
                return 100 if name == MEMBER_OF else 45
            case Attribute(resource, _, _, None):
                return 30 + self._reach(self._view.resource(resource))
            case Attribute():
                return 60

    def _reach(self, here: int) -> int:
        """Little for what lies deep, more for a workspace, most for the tenant."""
        return (200, 130, 40, 30)[min(self._depth(here), 3)]

    def _depth(self, here: int) -> int:
        """How many containers it lies in: what lies deeper opens less."""
        depth = 0
        parent = self._view.policy.kinds[self._view.kind(here)].parent
        while parent is not None:
            depth += 1
            here = next(iter(self._view.out[parent.edge].get(here) or ()), 0)
            if not here:
                break
            parent = self._view.policy.kinds[self._view.kind(here)].parent
        return depth

    # Givers

    def _needed(self, fact: Fact) -> Needed:
        view = self._view
        here = view.resource(fact.source if isinstance(fact, Edge) else fact.resource)
        kind = view.kind(here)
        name = _setting(fact)
        givers = self._sets.set_of(kind, name)(view, here) if (kind, name) in view.policy.relations else 0
        if isinstance(fact, Edge):
            declared = view.policy.edge(kind, fact.name)
            if declared.needs:
                target = view.resource(fact.target)
                givers &= self._sets.set_of(view.kind(target), declared.needs)(view, target)
            if declared.also_after and givers:
                givers &= self._sets.set_of(kind, name)(with_changes(view, [Add(fact)]), here)
        chosen = list(islice(self._nearest_first(here, givers), MOST_GIVERS))
        return Needed(fact, tuple(view.uid(giver) for giver in chosen), givers.bit_count() - len(chosen))

    def _nearest_first(self, here: int, givers: int) -> Iterator[int]:
        """Those who hold something right here before those who hold it further up, and these before all others."""
        view, order = self._view, list(self._view.members)
        place: int | None = here
        while place is not None and givers:
            near = givers & _holding(view, place)
            yield from (order[number] for number in numbers(near))
            givers &= ~near
            parent = view.policy.kinds[view.kind(place)].parent
            place = next(iter(view.out[parent.edge].get(place) or ()), None) if parent else None
        yield from (order[number] for number in numbers(givers))


def _holding(view: View, here: int) -> Members:
    """The members who themselves hold something here."""
    question = ("holding", here)
    known = view.sets.get(question)
    if known is None:
        members, known = view.members, 0
        for holder in view.grants.get(here) or ():
            known |= 1 << members[holder] if holder in members else 0
        view.sets[question] = known
    return known


def _setting(fact: Fact) -> str:
    match fact:
        case Grant(_, role, _):
            return give(role)
        case Edge(name):
            return link(name)
        case Attribute(_, name, value):
            return put(name, value)
