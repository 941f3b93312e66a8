"""Effects of changes that are not made: the access that members would gain and lose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_
from typing import NamedTuple

from lakehold.access.decisions.dependents import DependencyGraph
from lakehold.access.decisions.member_sets import Members, bit_positions, compiled_member_sets
from lakehold.access.facts.changes import resolve_change, with_models
from lakehold.access.facts.records import Adopt, Change, require_collection
from lakehold.access.facts.view import FactRow, FactView
from lakehold.access.model.policy import Policy

dependency_graph = lru_cache(maxsize=32)(DependencyGraph)


class AccessEffect(NamedTuple):
    """One member gains or loses one action on one resource."""

    member: str
    action: str
    resource: str
    gained: bool


@dataclass(frozen=True, slots=True)
class AccessEffectGroup:
    """All gains, or losses, of one action on one kind, counted."""

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
class AccessEffects:
    """The effects of changes on who may do what."""

    groups: tuple[AccessEffectGroup, ...]
    _differences: Sequence[_Difference]
    _members: Sequence[str]

    def restrict(self, is_visible: Callable[[str], bool]) -> AccessEffects:
        """Return the effects on the resources that pass the test, for a viewer who may see no others."""
        visible = [difference for difference in self._differences if is_visible(difference.resource)]
        counted = {(group.kind, group.action, group.gained): group for group in _groups(visible)}
        keys = ((group.kind, group.action, group.gained) for group in self.groups)
        return AccessEffects(tuple(counted[key] for key in keys if key in counted), visible, self._members)

    def lost_by(self, member: str) -> list[AccessEffect]:
        """Return what one member loses."""
        bit = 1 << self._members.index(member) if member in self._members else 0
        return [
            AccessEffect(member, each.action, each.resource, False) for each in self._differences if each.lost & bit
        ]

    def rows(self) -> Iterator[AccessEffect]:
        """Yield each member, action and resource lazily."""
        for difference in self._differences:
            for members, gained in ((difference.gained, True), (difference.lost, False)):
                for number in bit_positions(members):
                    yield AccessEffect(self._members[number], difference.action, difference.resource, gained)


def what_if(before: FactView, changes: Sequence[Change]) -> AccessEffects:
    """Return the effects of the changes on the resources named and on all that take rights from them."""
    return diff_views(before, *_apply_changes(before, changes))


def diff_views(before: FactView, after: FactView, changed: Sequence[FactRow]) -> AccessEffects:
    """Return who gains and who loses what between two views of the same resources, given the rows that differ."""
    differences = list(_differences(before, after, changed))
    in_models = _all_actions(before.policy, after.policy)
    order = {key: n for n, key in enumerate((kind, action) for kind in in_models for action in in_models[kind])}
    groups = sorted(_groups(differences), key=lambda group: (not group.gained, order[group.kind, group.action]))
    # By name already: the rows may be read when the view has moved on.
    return AccessEffects(tuple(groups), differences, [before.uid(member) for member in before.members])


def _apply_changes(before: FactView, changes: Sequence[Change]) -> tuple[FactView, list[FactRow]]:
    after = FactView(before.policy, before)
    changed: list[FactRow] = []
    require_collection(changes, "change")
    for change in changes:
        if isinstance(change, Adopt):
            after = with_models(after, [change.source])
            continue
        for opens, row in resolve_change(after, change):
            (after.open if opens else after.close)(row)
            changed.append(row)
        after.touch()
    return after, changed


def _differences(before: FactView, after: FactView, changed: Sequence[FactRow]) -> Iterator[_Difference]:
    olds, news = compiled_member_sets(before.policy), compiled_member_sets(after.policy)
    for kind, action, resources in _candidates(before, after, changed):
        old = olds.relation_set(kind, action) if _has_action(before.policy, kind, action) else None
        new = news.relation_set(kind, action) if _has_action(after.policy, kind, action) else None
        for resource in resources:
            was = old(before, resource) if old else 0
            will = new(after, resource) if new else 0
            if was != will:
                yield _Difference(kind, action, before.uid(resource), will & ~was, was & ~will)


def _has_action(policy: Policy, kind: str, action: str) -> bool:
    return kind in policy.kinds and action in policy.kinds[kind].schema.actions


def _candidates(
    before: FactView, after: FactView, changed: Sequence[FactRow]
) -> Iterator[tuple[str, str, Sequence[int]]]:
    """Yield the actions and resources that may differ."""
    if before.policy is not after.policy:
        for kind, actions in _all_actions(before.policy, after.policy).items():
            resources = tuple(before.by_kind.get(kind) or ())
            yield from ((kind, action, resources) for action in actions)
        return
    for (kind, name), found in dependency_graph(before.policy).affected((before, after), changed).items():
        if _has_action(before.policy, kind, name):
            yield kind, name, sorted(found)


def _all_actions(*policies: Policy) -> Mapping[str, Sequence[str]]:
    """Return the actions of each kind, in the order of the models."""
    found: dict[str, dict[str, None]] = {}
    for policy in policies:
        for kind in policy.kinds.values():
            found.setdefault(kind.id, {}).update(dict.fromkeys(kind.schema.actions))
    return {kind: tuple(actions) for kind, actions in found.items()}


def _groups(differences: Sequence[_Difference]) -> Iterator[AccessEffectGroup]:
    by_group: dict[tuple[str, str, bool], list[Members]] = {}
    for difference in differences:
        for gained, members in ((True, difference.gained), (False, difference.lost)):
            if members:
                by_group.setdefault((difference.kind, difference.action, gained), []).append(members)
    for (kind, action, gained), found in by_group.items():
        anyone = reduce(or_, found)
        pairs = sum(members.bit_count() for members in found)
        yield AccessEffectGroup(kind, action, gained, anyone.bit_count(), len(found), pairs)
