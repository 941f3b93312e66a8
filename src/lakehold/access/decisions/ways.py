"""Ways to access: what would have to be added to make a denial an allow, fewest facts first, and who could add it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from lakehold.access.decisions.check import compiled_checks, role_holders, role_mask, step_ends
from lakehold.access.decisions.member_sets import Members, bit_positions, compiled_member_sets
from lakehold.access.facts.changes import is_reachable, with_changes
from lakehold.access.facts.records import Add, Attribute, Edge, Fact, Grant
from lakehold.access.facts.view import FactView, MemberSubject
from lakehold.access.model import expressions as expr
from lakehold.access.model.policy import GROUP, MEMBER_OF
from lakehold.access.model.validation import implied_roles
from lakehold.kit.errors import ConflictError

MOST_WAYS = 5
MOST_GIVERS = 5
_BEAM = 12
_MOST_ENDS = 60

FactSet = frozenset[Fact]


@dataclass(frozen=True, slots=True)
class MissingFact:
    """A fact to add, and some of those who may add it."""

    fact: Fact
    givers: tuple[str, ...]
    more_givers: int


@dataclass(frozen=True, slots=True)
class Way:
    """A set of facts that together make the answer yes."""

    needed: tuple[MissingFact, ...]

    @property
    def is_grantable(self) -> bool:
        """Whether there is somebody for each of the facts who may add it."""
        return all(each.givers for each in self.needed)


class WayFinder:
    """Finds ways to access in one view."""

    def __init__(self, view: FactView) -> None:
        self._view = view
        self._checks = compiled_checks(view.policy)
        self._sets = compiled_member_sets(view.policy)
        self._known: dict[tuple[int, int, int], list[FactSet]] = {}
        # By the object, which is kept too: to find it by what it says would take longer than to weigh it.
        self._weights: dict[int, tuple[int, str, Fact]] = {}

    def find(self, expression: expr.Expression, kind: str, subject: MemberSubject, here: int) -> Iterator[FactSet]:
        """Yield sets of facts, each of which makes the expression hold; none of them contains another."""
        best: list[FactSet] = []
        for way in self._ways(expression, kind, subject, here):
            if any(other <= way for other in best) or not self._is_sufficient(way, expression, subject, here):
                continue
            best.append(way)
            yield way

    def missing_facts(self, way: FactSet) -> tuple[MissingFact, ...]:
        """Return the facts of a way, each with its givers."""
        return tuple(
            self._missing_fact(fact) for fact in sorted(way, key=lambda fact: (type(fact).__name__, repr(fact)))
        )

    def _is_sufficient(self, way: FactSet, expression: expr.Expression, subject: MemberSubject, here: int) -> bool:
        try:
            after = with_changes(self._view, [Add(fact) for fact in way])
        except ConflictError:
            # Each edge could be, but together they would close a circle.
            return False
        return self._checks.expression_test(expression)(after, after.subject(subject.id), here)

    # Search

    def _ways(self, expression: expr.Expression, kind: str, subject: MemberSubject, here: int) -> list[FactSet]:
        """Return the ways of one expression, cached because resources share their containers."""
        question = (id(expression), subject.id, here)
        known = self._known.get(question)
        if known is None:
            known = self._known[question] = self._search(expression, kind, subject, here)
        return known

    def _search(self, expression: expr.Expression, kind: str, subject: MemberSubject, here: int) -> list[FactSet]:
        if self._checks.expression_test(expression)(self._view, subject, here):
            return [frozenset()]
        match expression:
            case expr.Relation(_, name):
                return self._ways(self._view.policy.relations[kind, name], kind, subject, here)
            case expr.AnyOf(inner):
                return self._best([way for part in inner for way in self._ways(part, kind, subject, here)])
            case expr.AllOf(inner):
                return self._combine(self._ways(part, kind, subject, here) for part in inner)
            case expr.HasRole():
                return self._best(self._grants(expression, subject, here))
            case expr.AttributeIs(name, value, _):
                return self._attribute(kind, here, name, value)
            case expr.Not(expr.AttributeIs(name, value, _)):
                attribute = self._view.policy.kinds[kind].schema.attributes.get(name)
                values = attribute.values if attribute else ()  # none can be set of what a question brings along
                return [way for other in values if other != value for way in self._attribute(kind, here, name, other)]
            case expr.MembershipIs(name, value, _):
                settable = (kind, expr.set_relation(name, value)) in self._view.policy.relations
                fact = Attribute(self._view.uid(here), name, value, self._view.uid(subject.id))
                return [frozenset({fact})] if settable else []
            case expr.Some():
                return self._some(expression, kind, subject, here)
            case expr.Every(items, then):
                there = list(islice(self._ends(items, subject, here), _MOST_ENDS + 1))
                if not there or len(there) > _MOST_ENDS:
                    return []
                conditions = dict(then)
                return self._combine(
                    self._ways(conditions[self._view.kind(end)], self._view.kind(end), subject, end) for end in there
                )
            case expr.RoleHolder(_, _, question):
                persons = role_holders(expression)(self._view, here)
                return self._ways(question, kind, self._view.subject(persons[0]), here) if persons else []
            case _:
                return []

    def _grants(self, granted: expr.HasRole, subject: MemberSubject, here: int) -> list[FactSet]:
        view = self._view
        roles = view.policy.kinds[granted.kind].schema.roles
        weakest = [
            name
            for name in granted.roles
            if roles[name].given_with and not (implied_roles(roles, roles[name]) - {name}) & granted.roles
        ]
        found: list[FactSet] = [frozenset({Grant(view.uid(subject.id), role, view.uid(here))}) for role in weakest]
        if granted.person_only:
            return found
        mask = role_mask(granted.roles)
        for holder, held in (view.grants.get(here) or {}).items():
            if held & mask and view.kinds.get(holder) == GROUP:
                found.append(frozenset({Edge(MEMBER_OF, view.uid(subject.id), view.uid(holder))}))
        return found

    def _attribute(self, kind: str, here: int, name: str, value: str) -> list[FactSet]:
        if (kind, expr.set_relation(name, value)) not in self._view.policy.relations:
            return []
        return [frozenset({Attribute(self._view.uid(here), name, value)})]

    def _ends(self, items: tuple[expr.QuantifierItem, ...], subject: MemberSubject, here: int) -> Iterator[int]:
        for item in items:
            where = {kind: self._checks.expression_test(part) for kind, part in item.where}
            there = [
                end
                for end in step_ends(item.step)(self._view, here)
                if not where or where[self._view.kind(end)](self._view, subject, end)
            ]
            yield from there or (step_ends(item.otherwise)(self._view, here) if item.otherwise else ())

    def _some(self, some: expr.Some, kind: str, subject: MemberSubject, here: int) -> list[FactSet]:
        then = dict(some.then)
        found = [
            way
            for end in islice(self._ends(some.items, subject, here), _MOST_ENDS)
            for way in self._ways(then[self._view.kind(end)], self._view.kind(end), subject, end)
        ]
        for item in some.items:
            found.extend(self._new_edges(item, then, kind, subject, here))
        return self._best(found)

    def _new_edges(
        self, item: expr.QuantifierItem, then: dict[str, expr.Expression], kind: str, subject: MemberSubject, here: int
    ) -> Iterator[FactSet]:
        """Yield edges to resources for which the expression holds already, such as a context that the person has."""
        step = item.step
        if step.back or item.where or (kind, expr.link_relation(step.edge)) not in self._view.policy.relations:
            return
        if not self._view.policy.kinds[kind].schema.edges[step.edge].many:
            return
        parent = self._view.policy.kinds[kind].parent
        around = set(self._view.edges_out[parent.edge].get(here) or ()) if parent else set()
        for end_kind in step.kinds:
            test = self._checks.expression_test(then[end_kind])
            for end in islice(self._view.by_kind.get(end_kind) or (), _MOST_ENDS):
                beside = self._view.policy.kinds[end_kind].parent
                lies_in = set(self._view.edges_out[beside.edge].get(end) or ()) if beside else set()
                if (
                    lies_in & around
                    and not is_reachable(self._view, step.edge, end, here)
                    and test(self._view, subject, end)
                ):
                    yield frozenset({Edge(step.edge, self._view.uid(here), self._view.uid(end))})

    # Choosing

    def _combine(self, parts: Iterable[list[FactSet]]) -> list[FactSet]:
        found: dict[FactSet, int] = {frozenset(): 0}
        for ways in parts:
            weighed = [(way, self._total_spread(way)) for way in ways]
            both: dict[FactSet, int] = {}
            for have, spread in found.items():
                for way, more in weighed:
                    # What two parts need alike is counted once.
                    apart = have.isdisjoint(way)
                    both[have | way] = spread + (more if apart else self._total_spread(way - have))
            found = {way: both[way] for way in self._choose(both)}
            if not found:
                return []
        return list(found)

    def _best(self, ways: Iterable[FactSet]) -> list[FactSet]:
        """Return the first ways in order; a way that contains another one is left out."""
        return self._choose({way: self._total_spread(way) for way in ways})

    def _choose(self, weighed: Mapping[FactSet, int]) -> list[FactSet]:
        """Choose the ways with the fewest facts; among as many, those that open the least to the fewest; then by their
        text, which takes the longest to compute.
        """
        chosen: list[FactSet] = []
        rank: Callable[[FactSet], tuple[int, int]] = lambda way: (len(way), weighed[way])  # noqa: E731 - said twice
        for _, tied in groupby(sorted(weighed, key=rank), key=rank):
            alike = list(tied)
            for way in alike if len(alike) == 1 else sorted(alike, key=self._sort_texts):
                if not any(other <= way for other in chosen):
                    chosen.append(way)
                if len(chosen) == _BEAM:
                    return chosen
        return chosen

    def _total_spread(self, way: FactSet) -> int:
        known = self._weights
        return sum([(known.get(id(fact)) or self._weigh(fact))[0] for fact in way])

    def _sort_texts(self, way: FactSet) -> list[str]:
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
                return self._container_weight(here) + 3 * len(implied_roles(roles, roles[role]))
            case Edge(name):
                return 100 if name == MEMBER_OF else 45
            case Attribute(resource, _, _, None):
                return 30 + self._container_weight(self._view.resource(resource))
            case Attribute():
                return 60

    def _container_weight(self, here: int) -> int:
        """Return how much a grant here opens: little for what lies deep, more for a workspace, most for the tenant."""
        kinds = self._view.policy.kinds
        depth = sum(1 for place in self._view.containers(here) if kinds[self._view.kind(place)].parent)
        return (200, 130, 40, 30)[min(depth, 3)]

    # Givers

    def _missing_fact(self, fact: Fact) -> MissingFact:
        view = self._view
        here = view.resource(fact.source if isinstance(fact, Edge) else fact.resource)
        kind = view.kind(here)
        name = change_relation(fact)
        givers = self._sets.relation_set(kind, name)(view, here) if (kind, name) in view.policy.relations else 0
        if isinstance(fact, Edge):
            declared = view.policy.edge(kind, fact.name)
            if declared.needs:
                target = view.resource(fact.target)
                givers &= self._sets.relation_set(view.kind(target), declared.needs)(view, target)
            if declared.also_after and givers:
                givers &= self._sets.relation_set(kind, name)(with_changes(view, [Add(fact)]), here)
        chosen = list(islice(self._nearest_first(here, givers), MOST_GIVERS))
        return MissingFact(fact, tuple(view.uid(giver) for giver in chosen), givers.bit_count() - len(chosen))

    def _nearest_first(self, here: int, givers: int) -> Iterator[int]:
        """Yield those who hold a role right here before those who hold one further up, and these before all others."""
        view, order = self._view, list(self._view.members)
        for place in view.containers(here):
            if not givers:
                return
            near = givers & _direct_holders(view, place)
            yield from (order[number] for number in bit_positions(near))
            givers &= ~near
        yield from (order[number] for number in bit_positions(givers))


def _direct_holders(view: FactView, here: int) -> Members:
    """Return the members who themselves hold a role here."""
    question = ("holding", here)
    known = view.sets.get(question)
    if known is None:
        members, known = view.members, 0
        for holder in view.grants.get(here) or ():
            known |= 1 << members[holder] if holder in members else 0
        view.sets[question] = known
    return known


def change_relation(fact: Fact) -> str:
    """Return the name of the relation of those who may add the fact."""
    match fact:
        case Grant(_, role, _):
            return expr.give_relation(role)
        case Edge(name):
            return expr.link_relation(name)
        case Attribute(_, name, value):
            return expr.set_relation(name, value)


def rank_ways(view: FactView, uid: str, ways: Sequence[Way]) -> list[tuple[int, Way]]:
    """Return the ways to a right on a resource, nearest first, each with its number.

    What is granted far above the resource opens more than was asked for, so it comes last.
    """
    above = [view.uid(place) for place in view.containers(view.resource(uid))]
    return sorted(enumerate(ways), key=lambda each: _distance_range(above, each[1]))


def _distance_range(above: Sequence[str], way: Way) -> tuple[int, int]:
    """Return the distance of the nearest and of the farthest part of a way."""
    parts = [_distance(above, needed.fact) for needed in way.needed]
    return min(parts, default=0), max(parts, default=0)


def _distance(above: Sequence[str], fact: Fact) -> int:
    place = fact.source if isinstance(fact, Edge) else fact.resource
    if isinstance(fact, Edge) and fact.name == MEMBER_OF:
        # Members of a group have all that it holds: only the tenant's own roles open more.
        return max(len(above) - 2, 0)
    # What does not lie above it lies beside it, as the tables of a pipeline do.
    return above.index(place) if place in above else 1
