"""What if: who wins and who loses what by changes that are not made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from lakehold.access.decide.dependents import Dependents
from lakehold.access.decide.members import Members, MemberSets, numbers
from lakehold.access.facts.changes import rows, with_model
from lakehold.access.facts.inputs import several
from lakehold.access.facts.records import Adopt, Change
from lakehold.access.facts.view import Row, View
from lakehold.access.model.policy import Policy

sets_of = lru_cache(maxsize=32)(MemberSets)
dependents_of = lru_cache(maxsize=32)(Dependents)


class Effect(NamedTuple):
    """One member wins or loses one action on one resource."""

    member: str
    action: str
    resource: str
    gained: bool


@dataclass(frozen=True, slots=True)
class Group:
    """All that is won, or lost, of one action on one kind."""

    kind: str
    action: str
    gained: bool
    members: int
    resources: int
    pairs: int


@dataclass(frozen=True, slots=True)
class _Difference:
    kind: str
    action: str
    resource: str
    gained: Members
    lost: Members


@dataclass(frozen=True, slots=True)
class Effects:
    """What changes would do."""

    groups: tuple[Group, ...]
    _differences: Sequence[_Difference]
    _members: Sequence[str]

    def only(self, told: Callable[[str], bool]) -> Effects:
        """What is left for somebody who may be told of these resources, and of no other."""
        kept = [difference for difference in self._differences if told(difference.resource)]
        counted = {(group.kind, group.action, group.gained): group for group in _groups(kept)}
        keys = ((group.kind, group.action, group.gained) for group in self.groups)
        return Effects(tuple(counted[key] for key in keys if key in counted), kept, self._members)

    def rows(self) -> Iterator[Effect]:
        """Each member, action and resource, made as they are asked for."""
        for difference in self._differences:
            for members, gained in ((difference.gained, True), (difference.lost, False)):
                for number in numbers(members):
                    yield Effect(self._members[number], difference.action, difference.resource, gained)


def what_if(before: View, changes: Sequence[Change]) -> Effects:
    """The difference that the changes would make, to the resources named and to all that take rights from them."""
    return difference(before, *_after(before, changes))


def difference(before: View, after: View, changed: Sequence[Row]) -> Effects:
    """Who wins and who loses what between two views of the same members and resources, given the rows that differ."""
    differences = list(_differences(before, after, changed))
    order = {key: n for n, key in enumerate(_in_order(before.policy, after.policy))}
    groups = sorted(_groups(differences), key=lambda group: (not group.gained, order[group.kind, group.action]))
    # By name already: the rows may be asked for when the view has moved on.
    return Effects(tuple(groups), differences, [before.uid(member) for member in before.members])


def _after(before: View, changes: Sequence[Change]) -> tuple[View, list[Row]]:
    after = View(before.policy, before)
    changed: list[Row] = []
    several(changes, "change")
    for change in changes:
        if isinstance(change, Adopt):
            after = with_model(after, change.source)
            continue
        for opens, row in rows(after, change):
            (after.open if opens else after.close)(row)
            changed.append(row)
        after.touch()
    return after, changed


def _differences(before: View, after: View, changed: Sequence[Row]) -> Iterator[_Difference]:
    olds, news = sets_of(before.policy), sets_of(after.policy)
    for kind, action, resources in _suspects(before, after, changed):
        old = olds.set_of(kind, action) if _has(before.policy, kind, action) else None
        new = news.set_of(kind, action) if _has(after.policy, kind, action) else None
        for resource in resources:
            was = old(before, resource) if old else 0
            will = new(after, resource) if new else 0
            if was != will:
                yield _Difference(kind, action, before.uid(resource), will & ~was, was & ~will)


def _has(policy: Policy, kind: str, action: str) -> bool:
    return kind in policy.kinds and action in policy.kinds[kind].schema.actions


def _suspects(before: View, after: View, changed: Sequence[Row]) -> Iterator[tuple[str, str, Sequence[int]]]:
    """The actions and resources that may differ."""
    if before.policy is not after.policy:
        for kind, actions in _all_actions(before.policy, after.policy).items():
            resources = tuple(before.of_kind.get(kind) or ())
            yield from ((kind, action, resources) for action in actions)
        return
    for (kind, name), found in dependents_of(before.policy).affected((before, after), changed).items():
        if _has(before.policy, kind, name):
            yield kind, name, sorted(found)


def _all_actions(*policies: Policy) -> Mapping[str, Sequence[str]]:
    found: dict[str, dict[str, None]] = {}
    for policy in policies:
        for kind in policy.kinds.values():
            found.setdefault(kind.id, {}).update(dict.fromkeys(kind.schema.actions))
    return {kind: tuple(actions) for kind, actions in found.items()}


def _in_order(*policies: Policy) -> Iterator[tuple[str, str]]:
    """Kinds and actions as the models name them."""
    return ((kind, action) for kind, actions in _all_actions(*policies).items() for action in actions)


def _groups(differences: Sequence[_Difference]) -> Iterator[Group]:
    by_group: dict[tuple[str, str, bool], list[Members]] = {}
    for difference in differences:
        for gained, members in ((True, difference.gained), (False, difference.lost)):
            if members:
                by_group.setdefault((difference.kind, difference.action, gained), []).append(members)
    for (kind, action, gained), found in by_group.items():
        anyone = 0
        for members in found:
            anyone |= members
        pairs = sum(members.bit_count() for members in found)
        yield Group(kind, action, gained, anyone.bit_count(), len(found), pairs)
