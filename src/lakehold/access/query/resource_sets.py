"""Sets of resources in memory: all resources for which an expression holds for one person.

A database returns some millions of numbers in a second, one row after the other; the index has them together already.
Resources that lie behind others are represented by those, without listing each of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, filterfalse
from typing import Protocol, cast

from lakehold.access.decisions.check import compiled_checks, is_in_everyone, role_mask, step_ends
from lakehold.access.facts.view import FactView, MemberSubject
from lakehold.access.model import expressions as expr

ARRAY_TYPE = "q"
"""How a number lies in an array."""


class ResourceSet(Protocol):
    """A set of resources."""

    max_size: int
    """There are no more than this."""

    def __contains__(self, here: int, /) -> bool:
        """Return whether the resource is in the set."""

    def __iter__(self) -> Iterator[int]:
        """Iterate over the resources, each once."""

    def numbers(self) -> array[int]:
        """Return all resources, each once, as one array: without overhead for each of 90,000."""


class ExplicitSet:
    """A set that lists its resources."""

    def __init__(self, resources: set[int] | Mapping[int, object]) -> None:
        self.max_size = len(resources)
        self._resources = resources

    def __contains__(self, here: int) -> bool:
        return here in self._resources

    def __iter__(self) -> Iterator[int]:
        return iter(self._resources)

    def numbers(self) -> array[int]:
        """Return all resources."""
        return array(ARRAY_TYPE, self._resources)


class EdgeSourceSet:
    """The resources of a kind with a single-valued edge to one of the ends. Other kinds may have such edges too."""

    def __init__(
        self,
        ends: ResourceSet,
        ahead: Callable[[int], Sequence[int] | None],
        behind: Callable[[int], array[int]],
        others: Sequence[Mapping[int, None]],
    ) -> None:
        self._ends = set(ends)
        self._ahead = ahead
        self._others = others
        self._sources = list(map(behind, self._ends))
        self.max_size = sum(map(len, self._sources))

    def __contains__(self, here: int) -> bool:
        ahead = self._ahead(here)
        if ahead is None or ahead[0] not in self._ends:
            return False
        return not self._others or not any(here in other for other in self._others)

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self._sources)

    def numbers(self) -> array[int]:
        """Return the sources of one end after those of another."""
        found = array(ARRAY_TYPE)
        for sources in self._sources:
            found += sources
        return found


class UnionSet:
    """The union of several sets."""

    def __init__(self, parts: Sequence[ResourceSet]) -> None:
        self.parts = parts
        self.max_size = sum(part.max_size for part in parts)

    def __contains__(self, here: int) -> bool:
        for part in self.parts:  # noqa: SIM110 - a generator here costs as much as the look-ups themselves
            if here in part:
                return True
        return False

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(map(self._new_in, range(len(self.parts))))

    def numbers(self) -> array[int]:
        """Return the largest part, and what is new in the others."""
        found = self.parts[0].numbers() if self.parts else array(ARRAY_TYPE)
        for n in range(1, len(self.parts)):
            found.extend(self._new_in(n))
        return found

    def _new_in(self, n: int) -> Iterable[int]:
        """Return those of the part that are in none before it."""
        found: Iterable[int] = self.parts[n]
        for before in self.parts[:n]:
            found = filterfalse(before.__contains__, found)
        return found


def union_of(parts: Iterable[ResourceSet]) -> ResourceSet:
    """Return the union of several sets, the largest part first."""
    flat = (inner for part in parts for inner in (part.parts if isinstance(part, UnionSet) else (part,)))
    ordered = sorted((part for part in flat if part.max_size), key=lambda part: -part.max_size)
    return ordered[0] if len(ordered) == 1 else UnionSet(ordered)


GrantsByKind = dict[str, list[tuple[int, int]]]
"""Resources and the roles on them, by the kind of resource."""


class AllowedResources:
    """The resources that one subject has access to, at one moment."""

    def __init__(self, view: FactView, subject: MemberSubject) -> None:
        self._view = view
        self._subject = subject
        self._known: dict[tuple[str, expr.Expression], ResourceSet] = {}

    def resources(self, expression: expr.Expression, kind: str) -> ResourceSet:
        """Return the resources of the kind for which the expression holds."""
        known = self._known.get((kind, expression))
        if known is None:
            known = self._known[kind, expression] = self._evaluate(expression, kind)
        return known

    def _evaluate(self, expression: expr.Expression, kind: str) -> ResourceSet:
        match expression:
            case expr.Relation(_, name):
                return self.resources(self._view.policy.relations[kind, name], kind)
            case expr.AnyOf(inner):
                return union_of(self.resources(part, kind) for part in inner)
            case expr.AllOf(inner):
                return self._in_all(inner, kind)
            case expr.HasRole():
                return ExplicitSet(set(self._granted(expression)))
            case expr.Some((expr.QuantifierItem(step, (), None),), then):
                return self._behind(step, self._ends(step, dict(then)), kind)
            case expr.Some() | expr.Every():
                return self._of_items(expression, kind)
            case expr.Not(part):
                others = self.resources(part, kind)
                return ExplicitSet({here for here in self._all_of_kind(kind) if here not in others})
            case expr.Everyone():
                return self._all_of_kind(kind)
            case _:
                return self._filter(expression, self._all_of_kind(kind))

    def _all_of_kind(self, kind: str) -> ExplicitSet:
        return ExplicitSet(self._view.by_kind.get(kind) or {})

    def _filter(self, expression: expr.Expression, resources: Iterable[int]) -> ResourceSet:
        holds = compiled_checks(self._view.policy).expression_test(expression)
        return ExplicitSet({here for here in resources if holds(self._view, self._subject, here)})

    def _in_all(self, parts: tuple[expr.Expression, ...], kind: str) -> ResourceSet:
        """Evaluate the parts that grants lead to first, and test the rest on their result alone."""
        led = [part for part in parts if isinstance(part, expr.HasRole | expr.Some | expr.Every | expr.Relation)]
        found = sorted((self.resources(part, kind) for part in led), key=lambda part: part.max_size) or [
            self._all_of_kind(kind)
        ]
        left: ResourceSet = ExplicitSet({here for here in found[0] if all(here in other for other in found[1:])})
        for part in parts:
            if part not in led:
                left = self._filter(part, left)
        return left

    def _granted(self, granted: expr.HasRole) -> Iterator[int]:
        view, subject, mask = self._view, self._subject, role_mask(granted.roles)
        own = (subject.id,) if granted.person_only else subject.ids
        for holder in own:
            yield from (here for here, roles in self._grants_of_holder(holder, granted.kind) if roles & mask)
        if granted.person_only:
            return
        everyone = view.policy.everyone_roles(granted.kind)
        edges = [step.edge for step in view.policy.kinds[granted.kind].everyone or ()]
        for here, roles in self._grants_of_holder(subject.everyone, granted.kind):
            if roles & mask and (
                everyone is None or is_in_everyone(view, subject, here, edges, role_mask(everyone.roles))
            ):
                yield here

    def _grants_of_holder(self, holder: int, kind: str) -> Sequence[tuple[int, int]]:
        """Return the holder's grants on resources of a kind, with the roles: sorted once, until something changes."""
        view, key = self._view, (AllowedResources, holder)
        by_kind = cast("GrantsByKind | None", view.cache.get(key))
        if by_kind is None:
            view.cache[key] = by_kind = GrantsByKind()
            for grant in (view.grants_by_subject.get(holder) or {}).items():
                by_kind.setdefault(view.kind(grant[0]), []).append(grant)
        return by_kind.get(kind) or ()

    def _ends(self, step: expr.EdgeStep, then: dict[str, expr.Expression]) -> ResourceSet:
        """Return the resources at the ends of a step for which the expression holds there."""
        return union_of(self.resources(then[kind], kind) for kind in step.kinds)

    def _behind(self, step: expr.EdgeStep, there: ResourceSet, kind: str) -> ResourceSet:
        """Return the resources of the kind from which the step leads to one of these."""
        view, everything = self._view, self._view.by_kind.get(kind) or {}
        if len(everything) < there.max_size:
            ahead = step_ends(step)
            return ExplicitSet({here for here in everything if any(end in there for end in ahead(view, here))})
        if not step.back and not view.policy.kinds[kind].schema.edges[step.edge].many:
            behind = partial(self._of_kind_behind, step.edge, kind)
            return EdgeSourceSet(there, view.edges_out[step.edge].get, behind, self._other_kinds(step, kind))
        near = (view.edges_out if step.back else view.edges_in)[step.edge].get
        return ExplicitSet({here for end in there for here in near(end) or () if here in everything})

    def _of_kind_behind(self, edge: str, kind: str, end: int) -> array[int]:
        """Return the resources of the kind whose edge leads to this one: packed once, until something changes."""
        view, key = self._view, (EdgeSourceSet, edge, kind, end)
        packed = cast("array[int] | None", view.cache.get(key))
        if packed is None:
            kinds, sources = view.kinds, view.edges_in[edge].get(end) or ()
            packed = view.cache[key] = array(ARRAY_TYPE, [source for source in sources if kinds.get(source) == kind])
        return packed

    def _other_kinds(self, step: expr.EdgeStep, kind: str) -> list[dict[int, None]]:
        """Return the resources of other kinds that have an edge of the same name."""
        kinds = self._view.policy.kinds.values()
        others = (other.id for other in kinds if step.edge in other.schema.edges and other.id != kind)
        return [found for other in others if (found := self._view.by_kind.get(other))]

    def _of_items(self, leaf: expr.Some | expr.Every, kind: str) -> ResourceSet:
        """Test each resource by itself, with the resources at its ends looked up."""
        view, every = self._view, isinstance(leaf, expr.Every)
        yes = union_of(self.resources(part, end) for end, part in leaf.then)
        items = [
            (
                step_ends(item.step),
                self._ends(item.step, dict(item.where)) if item.where else None,
                step_ends(item.otherwise) if item.otherwise else None,
            )
            for item in leaf.items
        ]

        def holds(here: int) -> bool:
            any_there = False
            for ahead, counted, otherwise in items:
                there = ahead(view, here)
                if counted is not None:
                    there = [end for end in there if end in counted]
                for end in there or (otherwise(view, here) if otherwise else ()):
                    any_there = True
                    if (end in yes) != every:
                        return not every
            return any_there and every

        return ExplicitSet({here for here in self._all_of_kind(kind) if holds(here)})
