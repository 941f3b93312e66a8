"""Constraints of a run, from the acts in force: linked and parted pairs, verified groups, overrides.

Acts are read in the order of their numbers; undone ones count for nothing. `acts` has what each kind links and parts.

- **Pairs.** Of several acts that speak of one pair, the last one counts. A pair has that act's number as its `order`.
  Links reach further than pairs (a to b, b to c), so that links and parted pairs of different acts can contradict each
  other: then the run lets the greater `order` win. Pairs of records that are gone remain, for what they connect.
- **Verified groups.** `verify` puts its records into the group of the entity, and takes them out of any other one.
  `unverify`, `split` and `new_entity` take the records out that they name first, `move` the record that it moves.
  `merge` unites the groups of its entities under the first one; `same` unites the groups of its two records under the
  one that was verified first. `different` takes both records out of a group that has both. So no pair in a group is
  parted by a later act; one that an earlier act has parted is linked again, as far as the group goes.
- **Overrides.** The last value of each attribute of an entity counts, until it is cleared.
- **Retired entities.** Groups and overrides follow a retired entity to the first of its successors: after a merge to
  the entity that went on, with the later of two overrides. An entity that is gone without a successor keeps its
  overrides, should it come back.

A merge that no run has applied yet has retired nothing. So a run follows once more, with the successors that it has
just found: `current_overrides(acts, successors)`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from lakehold.workspaces.products.curation.acts import ActKind, CurationAct, RecordPair, pair_statements

Successors = Mapping[str, Sequence[str]]
"""By retired entity: the entities that have its records, first the one that its overrides follow it to."""
NO_SUCCESSORS: Successors = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PairConstraint:
    """Two records that belong together, or apart."""

    record_a: str
    record_b: str
    order: int


@dataclass(frozen=True, slots=True)
class VerifiedRecords:
    """Records that stay together, and the entity that they keep."""

    entity: str
    records: tuple[str, ...]
    order: int
    """The number of the last act that has put records into the group."""


@dataclass(frozen=True, slots=True)
class AttributeOverride:
    """A value that an attribute of an entity has, whatever its records say; None for no value."""

    entity: str
    attribute: str
    value: str | None
    order: int


@dataclass(frozen=True, slots=True)
class CurationConstraints:
    """The constraints of a run."""

    linked: tuple[PairConstraint, ...] = ()
    """Must-links, in the order of their records."""
    parted: tuple[PairConstraint, ...] = ()
    """Cannot-links, in the order of their records."""
    verified: tuple[VerifiedRecords, ...] = ()
    overrides: tuple[AttributeOverride, ...] = ()


def build_constraints(acts: Iterable[CurationAct], successors: Successors = NO_SUCCESSORS) -> CurationConstraints:
    """Return the constraints that these acts make, of whatever order."""
    in_force = _in_force(acts)
    groups = _VerifiedGroups(successors)
    decided: dict[RecordPair, tuple[bool, int]] = {}
    for act in in_force:
        groups.apply(act)
        statements = pair_statements(act.content)
        decided.update(dict.fromkeys(statements.linked, (True, act.number)))
        decided.update(dict.fromkeys(statements.parted, (False, act.number)))
    linked, parted = (
        tuple(PairConstraint(*pair, order) for pair, (links, order) in sorted(decided.items()) if links is which)
        for which in (True, False)
    )
    apart = tuple(each for each in parted if not groups.has_both(each.record_a, each.record_b))
    return CurationConstraints(linked, apart, tuple(groups.list()), tuple(_overrides(in_force, successors)))


def current_overrides(acts: Iterable[CurationAct], successors: Successors) -> Mapping[str, Mapping[str, str | None]]:
    """Return the overrides in force by entity and attribute, at the entities that are there now."""
    found: dict[str, dict[str, str | None]] = {}
    for each in _overrides(_in_force(acts), successors):
        found.setdefault(each.entity, {})[each.attribute] = each.value
    return found


def decided_pairs(acts: Iterable[CurationAct]) -> dict[RecordPair, tuple[ActKind, int]]:
    """Return the pairs that need no answer any more: same, different or skip, and the act that decided it."""
    found: dict[RecordPair, tuple[ActKind, int]] = {}
    for act in _in_force(acts):
        said = pair_statements(act.content)
        for kind, pairs in (
            (ActKind.SAME, said.linked),
            (ActKind.DIFFERENT, said.parted),
            (ActKind.SKIP, said.skipped),
        ):
            found.update(dict.fromkeys(pairs, (kind, act.number)))
    return found


def current_entity(entity: str, successors: Successors) -> str:
    """Return the entity that a retired one has become, or the entity itself."""
    seen = {entity}
    while following := successors.get(entity):
        if following[0] in seen:
            return entity
        entity = following[0]
        seen.add(entity)
    return entity


def _in_force(acts: Iterable[CurationAct]) -> list[CurationAct]:
    return sorted((act for act in acts if act.in_force), key=lambda act: act.number)


def _overrides(acts: Iterable[CurationAct], successors: Successors) -> Iterator[AttributeOverride]:
    found: dict[tuple[str, str], AttributeOverride] = {}
    for act in acts:
        said = act.content
        if act.kind is ActKind.OVERRIDE:
            entity = current_entity(said.entities[0], successors)
            found[entity, said.attribute] = AttributeOverride(entity, said.attribute, said.value, act.number)
        elif act.kind is ActKind.CLEAR_OVERRIDE:
            found.pop((current_entity(said.entities[0], successors), said.attribute), None)
    yield from (found[key] for key in sorted(found))


@dataclass(slots=True)
class _VerifiedGroup:
    entity: str
    records: set[str]
    since: int
    """The act that has begun it."""
    order: int


@dataclass(slots=True)
class _VerifiedGroups:
    """The verified groups as acts change them. A record is in one at most."""

    successors: Successors
    by_entity: dict[str, _VerifiedGroup] = field(default_factory=dict)
    by_record: dict[str, _VerifiedGroup] = field(default_factory=dict)

    def list(self) -> Iterator[VerifiedRecords]:
        """Yield the groups in the order of their entities."""
        for entity, group in sorted(self.by_entity.items()):
            yield VerifiedRecords(entity, tuple(sorted(group.records)), group.order)

    def has_both(self, one: str, other: str) -> bool:
        """Whether one group has both records."""
        return self.by_record.get(one) is not None and self.by_record.get(one) is self.by_record.get(other)

    def apply(self, act: CurationAct) -> None:
        """Change the groups as an act says."""
        groups = act.content.groups
        match act.kind:
            case ActKind.VERIFY:
                self._remove(groups[0])
                self._add(self._current(act.content.entities[0]), groups[0], act.number)
            case ActKind.UNVERIFY | ActKind.SPLIT | ActKind.MOVE | ActKind.NEW_ENTITY:
                self._remove(groups[0])
            case ActKind.DIFFERENT if self.has_both(groups[0][0], groups[1][0]):
                self._remove((*groups[0], *groups[1]))
            case ActKind.MERGE:
                entities = dict.fromkeys(self._current(each) for each in act.content.entities)
                self._unite([*entities], act.number)
            case ActKind.SAME:
                found = {id(group): group for each in groups if (group := self.by_record.get(each[0]))}
                first_verified = sorted(found.values(), key=lambda group: group.since)
                if len(first_verified) > 1:
                    self._unite([group.entity for group in first_verified], act.number)

    def _current(self, entity: str) -> str:
        return current_entity(entity, self.successors)

    def _add(self, entity: str, records: Iterable[str], order: int) -> None:
        group = self.by_entity.setdefault(entity, _VerifiedGroup(entity, set(), order, order))
        group.records.update(records)
        group.order = order
        self.by_record.update(dict.fromkeys(group.records, group))

    def _remove(self, records: Iterable[str]) -> None:
        for record in records:
            group = self.by_record.pop(record, None)
            if group is not None:
                group.records.remove(record)
                if not group.records:
                    del self.by_entity[group.entity]

    def _unite(self, entities: Sequence[str], order: int) -> None:
        found = [group for each in entities if (group := self.by_entity.pop(each, None))]
        if found:
            since = min(group.since for group in found)
            self._add(entities[0], (each for group in found for each in group.records), order)
            self.by_entity[entities[0]].since = since
