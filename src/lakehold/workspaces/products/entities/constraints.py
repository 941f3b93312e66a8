"""Acts of curators about records: which are the same, which are not, and which groups are verified.

Acts can contradict each other, also by way of others: a is b, b is c, and a is not c. The newest act counts first, and
an older one only as far as it does not contradict those. So the outcome depends on the acts and their order alone.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lakehold.workspaces.products.entities.disjoint_sets import DisjointSets


@dataclass(frozen=True, slots=True)
class RecordLink:
    """An act about two records: that they are the same, or that they are not."""

    order: int
    """Its place among all acts: a newer one has a larger number."""
    record_a: str
    record_b: str


@dataclass(frozen=True, slots=True)
class VerifiedGroup:
    """Records that a curator has verified to be all of one entity, which keeps its id."""

    order: int
    entity: str
    records: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResolvedConstraints:
    """The constraints that hold. Each record that one is about has a group, even if it is alone in it."""

    groups: Mapping[str, str]
    """The group of a record, which is never divided."""
    apart: frozenset[tuple[str, str]]
    """Groups that are not together in one entity."""
    entities: Mapping[str, str]
    """The entity that a verified group is, by group."""
    verified: frozenset[str]
    """The groups that have verified records."""
    related: Mapping[str, str]
    """By record, the name of all acts that are related to it: what else a changed act can change."""


@dataclass(frozen=True, slots=True)
class CuratorConstraints:
    """The acts of curators about records of one data product."""

    must_links: Sequence[RecordLink] = ()
    cannot_links: Sequence[RecordLink] = ()
    verified: Sequence[VerifiedGroup] = ()

    def resolve(self) -> ResolvedConstraints:
        """Return what holds of them."""
        resolution = _Resolution()
        for act in sorted(self._acts(), key=lambda each: (-each.order, each.is_apart, each.records)):
            resolution.apply(act)
        groups = {record: resolution.groups.find(record) for record in resolution.groups}
        newest = sorted(self.verified, key=lambda each: (-each.order, each.entity))
        return ResolvedConstraints(
            groups,
            frozenset(resolution.apart_groups()),
            _entities_of(newest, groups),
            frozenset(_largest_part(each, groups) for each in newest if each.records),
            {record: resolution.related.find(record) for record in resolution.related},
        )

    def _acts(self) -> Iterator["_Act"]:
        for links, is_apart in ((self.must_links, False), (self.cannot_links, True)):
            yield from (_Act(each.order, is_apart, (each.record_a, each.record_b)) for each in links)
        yield from (_Act(each.order, False, tuple(sorted(each.records))) for each in self.verified)


@dataclass(frozen=True, slots=True)
class _Act:
    order: int
    is_apart: bool
    records: tuple[str, ...]


@dataclass(slots=True)
class _Resolution:
    """The acts that hold so far, from the newest on."""

    groups: DisjointSets = field(default_factory=DisjointSets)
    related: DisjointSets = field(default_factory=DisjointSets)
    _apart: dict[str, set[str]] = field(default_factory=dict)
    """By group, the groups that it must not be with."""

    def apply(self, act: _Act) -> None:
        """Take an act as far as it contradicts none before."""
        for record in act.records:
            self.related.join(act.records[0], record)
        if act.is_apart:
            self._keep_apart(*act.records)
        else:
            self._keep_together(act.records)

    def _keep_apart(self, one: str, other: str) -> None:
        first, second = self.groups.find(one), self.groups.find(other)
        if first != second:
            self._apart.setdefault(first, set()).add(second)
            self._apart.setdefault(second, set()).add(first)

    def _keep_together(self, records: Sequence[str]) -> None:
        """Join each record with the first of those before that it may be with."""
        firsts: list[str] = []
        for record in records:
            group = self.groups.find(record)
            names = (self.groups.find(first) for first in firsts)
            joined = next((name for name in names if group not in self._apart.get(name, ())), None)
            if joined is None:
                firsts.append(record)
            elif joined != group:
                self._join(joined, group)

    def apart_groups(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs of groups that are not together, each once."""
        return ((one, other) for one, others in self._apart.items() for other in others if one < other)

    def _join(self, one: str, other: str) -> None:
        name = self.groups.join(one, other)
        gone = other if name == one else one
        for group in self._apart.pop(gone, ()):
            self._apart[group].remove(gone)
            self._apart[group].add(name)
            self._apart.setdefault(name, set()).add(group)


def _entities_of(newest: Sequence[VerifiedGroup], groups: Mapping[str, str]) -> dict[str, str]:
    """Return the entity of each verified group: the newest act has the choice, and no entity is in two groups."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for each in newest:
        if each.records and each.entity not in taken and (group := _largest_part(each, groups)) not in found:
            found[group] = each.entity
            taken.add(each.entity)
    return found


def _largest_part(group: VerifiedGroup, groups: Mapping[str, str]) -> str:
    """Return the group that most of its records are in: newer acts may have divided it."""
    counts = Counter(groups[record] for record in group.records)
    return min(counts, key=lambda name: (-counts[name], name))
