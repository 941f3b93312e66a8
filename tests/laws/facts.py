"""Random facts for any policy. A case prints as calls on a `World`, so that a shrunk one can be pasted into a
test.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.vendor.pretty import RepresentationPrinter

from lakehold import directory
from lakehold.access.facts.records import Add, Attribute, Edge, Fact, Grant, Remove
from lakehold.access.facts.view import ALL_MEMBERS
from lakehold.access.model.loader import parse_model
from lakehold.access.model.policy import GROUP, MEMBER, MEMBER_OF, TENANT, Policy
from lakehold.workspaces import policy as shipped_policy
from tests.world import ALL, World

ACME = "acme"
MEMBERS = ("ann", "bob", "cyd", "dee")
GROUPS = ("makers", "readers")

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class CaseResource:
    """A resource of a case, and its parents."""

    kind: str
    uid: str
    edges: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        edges = "".join(f", {edge}={target!r}" for edge, target in self.edges)
        return f"world.add({self.kind!r}, {self.uid!r}{edges})"


@dataclass(frozen=True, slots=True, repr=False)
class Case:
    """Resources, and changes to the facts about them. Without a `model`, those that come with Lakehold apply."""

    things: tuple[CaseResource, ...]
    changes: tuple[Add | Remove, ...]
    model: str = ""

    @property
    def policy(self) -> Policy:
        """What applies to the case."""
        return random_policy(self.model) if self.model else shipped_policy()

    def world(self) -> World:
        """The case in memory."""
        world = World(self.policy)
        for thing in self.things:
            world.add(thing.kind, thing.uid, **dict(thing.edges))
        for change in self.changes:
            world.change(change)
        return world

    def _repr_pretty_(self, printer: RepresentationPrinter, _cycle: bool) -> None:
        printer.text(repr(self))

    def __repr__(self) -> str:
        policy = f'random_policy("""\n{self.model}""")' if self.model else ""
        return "\n".join(
            ("", f"world = World({policy})", *map(str, self.things), *map(render_change, self.changes), "")
        )


def render_change(change: Add | Remove) -> str:
    """Return the change as a call on a `World`."""
    fact = f"{type(change.fact).__name__}({', '.join(map(repr, astuple(change.fact)))})"
    return f"world.fact({fact})" if isinstance(change, Add) else f"world.change(Remove({fact}))"


def rename_fact(fact: Fact, names: Mapping[str, str]) -> Fact:
    """Return the same fact about resources with other ids."""
    match fact:
        case Grant(subject, role, resource):
            return Grant(names.get(subject, subject), role, names.get(resource, resource))
        case Attribute(resource, name, value, member):
            return Attribute(names.get(resource, resource), name, value, names.get(member, member) if member else None)
        case Edge(name, source, target):
            return Edge(name, names.get(source, source), names.get(target, target))


@lru_cache(maxsize=64)
def random_policy(model: str) -> Policy:
    """The tenant's model with this one standing on it."""
    return Policy((directory.model(), parse_model(model)))


PEOPLE = (
    *(CaseResource(GROUP, uid, (("tenant", ACME),)) for uid in GROUPS),
    *(CaseResource(MEMBER, uid, (("tenant", ACME),)) for uid in MEMBERS),
)


class PossibleFacts:
    """All facts that may hold for these resources."""

    def __init__(self, policy: Policy, things: Iterable[CaseResource]) -> None:
        self._policy = policy
        self._things = (CaseResource(TENANT, ACME), CaseResource(ALL_MEMBERS, ALL), *things)
        self._places = {thing.uid: place for place, thing in enumerate(self._things)}
        self._staying = {
            each
            for kind in policy.kinds.values()
            for edge in kind.schema.edges.values()
            if edge.beside
            for each in (kind.id, *kind.steps[edge.name].kinds)
        }

    def grants(self, accepts_kind: Callable[[str], bool]) -> list[Fact]:
        """Every role on every resource of the kinds that are wanted, to everybody who can hold it."""
        return [
            Grant(subject, role.name, thing.uid)
            for thing in self._things
            if accepts_kind(thing.kind)
            for role in self._policy.kinds[thing.kind].schema.roles.values()
            for subject in (MEMBERS if role.person_only else (*MEMBERS, *GROUPS, ALL))
        ]

    def is_permanent(self, fact: Fact) -> bool:
        """Whether the fact is a grant of a role that somebody must always hold."""
        if not isinstance(fact, Grant):
            return False
        kind = self._things[self._places[fact.resource]].kind
        return self._policy.role(kind, fact.role).last_stays

    def is_untimed(self, fact: Fact) -> bool:
        """Whether the fact is an edge that its source is never without, and so begins at once and does not end."""
        if not isinstance(fact, Edge) or fact.source not in self._places:
            return False
        schema = self._policy.kinds[self._things[self._places[fact.source]].kind].schema
        return fact.name == schema.parent or fact.name in schema.required_edges

    def attributes(self) -> list[Fact]:
        """Every value of every attribute, of resources and of memberships."""
        found: list[Fact] = []
        for thing in self._things:
            schema = self._policy.kinds[thing.kind].schema
            for attribute in schema.attributes.values():
                found += [Attribute(thing.uid, attribute.name, value) for value in attribute.values]
            for attribute in schema.membership.values():
                found += [Attribute(thing.uid, attribute.name, v, m) for v in attribute.values for m in MEMBERS]
        return found

    def edges(self, accepts_edge: Callable[[str], bool]) -> list[Fact]:
        """Every edge that is wanted. None closes a circle: where one could, it points at what was there before.

        What an edge keeps in one parent stays there.
        """
        return [
            Edge(edge, thing.uid, end.uid)
            for thing in self._things
            for edge in filter(accepts_edge, self._policy.kinds[thing.kind].schema.edges)
            for end in self._things
            if end.kind in self._policy.kinds[thing.kind].steps[edge].kinds
            and (
                edge not in self._policy.kinds[end.kind].schema.edges or self._places[end.uid] < self._places[thing.uid]
            )
            and self._is_kept_together(thing, edge, end)
        ]

    def _is_kept_together(self, thing: CaseResource, edge: str, end: CaseResource) -> bool:
        parents = [dict(each.edges).get(self._parent_edge(each)) for each in (thing, end)]
        if self._policy.edge(thing.kind, edge).beside:
            return parents[0] == parents[1]
        return edge != self._parent_edge(thing) or thing.kind not in self._staying or parents[0] == end.uid

    def _parent_edge(self, thing: CaseResource) -> str:
        parent = self._policy.kinds[thing.kind].parent
        return parent.edge if parent else ""


def some(options: Sequence[T], most: int) -> st.SearchStrategy[list[T]]:
    """Some of these, each once."""
    return st.lists(st.sampled_from(options), max_size=most, unique=True) if options else st.just([])


@st.composite
def things(draw: st.DrawFn, policy: Policy, models: Sequence[str], most: int) -> tuple[CaseResource, ...]:
    """Some resources of every kind of these models, each in one that is there already."""
    found: list[CaseResource] = [CaseResource(TENANT, ACME)]
    for kind in in_order(policy, models):
        parent = policy.kinds[kind].parent
        is_root = parent is None or TENANT in parent.kinds
        for number in range(1, draw(st.integers(1 if is_root else 0, most)) + 1):
            uid = f"{policy.kinds[kind].schema.name}_{number}"
            above = [thing.uid for thing in found if parent and thing.kind in parent.kinds]
            if parent is None:
                found.append(CaseResource(kind, uid))
            elif above:
                found.append(CaseResource(kind, uid, ((parent.edge, draw(st.sampled_from(above))),)))
    return (*PEOPLE, *found[1:])


def in_order(policy: Policy, models: Sequence[str]) -> list[str]:
    """The kinds of these models, what lies in another after that."""
    left = [kind for kind in policy.kinds.values() if kind.schema.model in models]
    done = [TENANT]
    while left:
        ready = [kind for kind in left if kind.parent is None or set(kind.parent.kinds) & set(done)]
        done += [kind.id for kind in ready]
        left = [kind for kind in left if kind not in ready]
    return done[1:]


@st.composite
def cases(draw: st.DrawFn, policy: Policy, models: Sequence[str], model: str = "", most: int = 2) -> Case:
    """Resources of these models with random facts, some of which are taken away again."""
    there = draw(things(policy, models, most))
    possible = PossibleFacts(policy, there)
    roots = {TENANT, *(f"{name}.{policy.models[name].root}" for name in models)}
    facts = [
        *draw(some(possible.edges(MEMBER_OF.__eq__), 5)),
        *draw(some(possible.grants(roots.__contains__), 8)),
        *draw(some(possible.grants(lambda kind: kind not in roots), 12)),
        *draw(some(possible.edges(lambda edge: edge not in {MEMBER_OF, "tenant"}), 12)),
        *draw(some(possible.attributes(), 8)),
    ]
    taken = draw(some([fact for fact in facts if not possible.is_permanent(fact)], 3))
    return Case(there, (*map(Add, facts), *map(Remove, taken)), model)


@st.composite
def shipped_cases(draw: st.DrawFn, most: int = 2) -> Case:
    """Random facts for one of the models that come with Lakehold."""
    name = draw(st.sampled_from([name for name in shipped_policy().models if name != "tenant"]))
    return draw(cases(shipped_policy(), [name], most=most))


__all__ = [
    "ACME",
    "ALL",
    "GROUPS",
    "MEMBERS",
    "MEMBER_OF",
    "Case",
    "CaseResource",
    "PossibleFacts",
    "cases",
    "random_policy",
    "shipped_cases",
    "some",
]  # fmt: skip
