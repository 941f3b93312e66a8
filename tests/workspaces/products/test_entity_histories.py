"""Entities over many runs with random changes: ids, successors, and that touched records alone give the same."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakehold.workspaces.products.entities.constraints import CuratorConstraints
from lakehold.workspaces.products.entities.successors import find_successors, retired_entities
from lakehold.workspaces.products.executors import affected_records as affected
from lakehold.workspaces.products.executors.clusters import ConstraintTables, cluster_records
from lakehold.workspaces.products.executors.entity_changes import diff_versions
from lakehold.workspaces.products.executors.entity_ids import assign_ids, retired_ids
from tests.workspaces.products.entity_tables import CHANGES, MEMBERS, PAIRS, by, table
from tests.workspaces.products.random_histories import State, first_state, next_state

pytestmark = pytest.mark.slow

THRESHOLD, MAX_RECORDS = 0.9, 4
WORLDS, RUNS = 120, 3
Change = tuple[str, str, Sequence[str], Sequence[str]]


def run_full(spark: SparkSession, state: State, previous: DataFrame, retired: DataFrame, run: str) -> DataFrame:
    records = table(spark, ("record",), [(record,) for record in sorted(state.records)])
    return run_on((records, table(spark, PAIRS, state.pair_rows())), state, previous, retired, run)


def run_on(
    rows: tuple[DataFrame, DataFrame], state: State, previous: DataFrame, retired: DataFrame, run: str
) -> DataFrame:
    held = ConstraintTables.create(rows[0], state.constraints.resolve())
    clusters = cluster_records(*rows, held, threshold=THRESHOLD, max_records=MAX_RECORDS).localCheckpoint()
    members = assign_ids(clusters, held.groups, previous, retired, run=run)
    place, entities = by(clusters, "record", "cluster"), by(members, "record", "entity")
    both = {(place[record], entities[record]) for record in place}
    assert len(both) == len(set(place.values())) == len(set(entities.values()))
    return members


def run_incremental(spark: SparkSession, state: State, previous: DataFrame, retired: DataFrame, run: str) -> DataFrame:
    records = table(spark, ("record",), [(record,) for record in sorted(state.records)])
    pairs = table(spark, PAIRS, state.pair_rows())
    touched = table(spark, ("record",), [(record,) for record in sorted(state.touched)])
    resolved = state.constraints.resolve()
    some = affected.find_affected(touched, pairs, resolved, previous, threshold=THRESHOLD).localCheckpoint()
    assert some.count() < len(state.records)
    own = affected.restrict_records(previous, some)
    rows = affected.restrict_records(records, some), affected.restrict_pairs(pairs, some)
    members = run_on(rows, state, own, retired, run)
    return affected.replace_members(previous, some, members)


def rows_of(rows: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in rows.toArrow().to_pylist())


def test_ids_over_random_histories(spark: SparkSession) -> None:
    chance = random.Random(18)  # noqa: S311 - examples, not secrets
    state = first_state(chance, WORLDS)
    members, history = table(spark, MEMBERS), list[Change]()
    for number in range(RUNS):
        run = f"run{number}"
        retired = retired_ids(table(spark, ("entity", "change", "successors"), [(e, c, s) for e, c, _, s in history]))
        found = run_full(spark, state, members, retired, run).localCheckpoint()
        if number == 0:
            assert rows_of(run_full(spark, state, members, retired, run)) == rows_of(found)
        else:
            assert rows_of(run_incremental(spark, state, members, retired, run)) == rows_of(found)
        before, after = by(members, "record", "entity"), by(found, "record", "entity")
        gone = retired_entities((entity, change, successors) for entity, change, _, successors in history)
        _check_ids(state, before, after, set(gone))
        changes = diff_versions(_version(members), _version(found), ()).toArrow().to_pylist()
        fresh: list[Change] = [tuple(row[name] for name in CHANGES) for row in changes]
        _check_changes(before, after, fresh)
        history += fresh
        _check_successors(history, after)
        members, state = found, next_state(chance, replace(state, entities=dict(after)), number + 1)


def _version(members: DataFrame) -> tuple[DataFrame, DataFrame]:
    return members, members.select("entity").distinct()


def _check_ids(state: State, before: Mapping[str, str], after: Mapping[str, str], gone: Collection[str]) -> None:
    """Check that an entity lives on if, and only if, it has the largest overlap; and that no id comes back."""
    assert set(after) == state.records
    assert not set(after.values()) & set(gone)
    held = state.constraints.resolve()
    overlaps = Counter((before[record], entity) for record, entity in after.items() if record in before)
    by_entity: dict[str, dict[str, int]] = defaultdict(dict)
    for (old, new), count in overlaps.items():
        by_entity[old][new] = count
    for record, group in held.groups.items():
        entity = held.entities.get(group)
        if record in after and entity and entity not in gone:
            assert after[record] == entity
    verified = {after[record] for record, group in held.groups.items() if record in after and group in held.entities}
    for old, places in by_entity.items():
        lives = old in set(after.values())
        if old in held.entities.values() or verified & set(places):
            continue
        best = max(places.values())
        if lives:
            assert places.get(old) == best
            # A verified entity has its own cluster, wherever its records are.
            free = [each for other, each in by_entity.items() if other not in held.entities.values()]
            rivals = [each[old] for each in free if old in each and _is_largest(each, old)]
            assert best >= max(rivals, default=0)
        else:
            taken_by = [place for place, count in places.items() if count == best]
            assert any(overlaps[place, place] >= best for place in taken_by)


def _is_largest(counts: Mapping[str, int], entity: str) -> bool:
    return all(counts[entity] > count for other, count in counts.items() if other != entity)


def _check_changes(before: Mapping[str, str], after: Mapping[str, str], changes: Sequence[Change]) -> None:
    """Check that just the entities whose records are others are named, with all that have their records."""
    old, new = _records_by_entity(before), _records_by_entity(after)
    named = {entity: (change, set(successors)) for entity, change, _, successors in changes}
    assert len(named) == len(changes)
    assert set(named) == {entity for entity in old.keys() | new.keys() if old.get(entity) != new.get(entity)}
    for entity, (change, successors) in named.items():
        places = {after[record] for record in old.get(entity, ()) if record in after}
        if entity not in old:
            assert (change, successors) == ("new", set())
        elif entity not in new:
            assert (change, successors) == (("gone", "merged")[len(places)] if len(places) < 2 else "split", places)
        else:
            is_split = any(place not in old for place in places)
            assert (change, successors) == (("split", places) if is_split else ("changed", set()))


def _check_successors(history: Sequence[Change], after: Mapping[str, str]) -> None:
    retired = retired_entities((entity, change, successors) for entity, change, _, successors in history)
    alive = set(after.values())
    known = {entity for entity, *_ in history}
    for entity in known:
        found = find_successors(entity, lambda ids: {each: retired[each] for each in ids if each in retired})
        assert (found is None) == (entity in alive)
        assert alive.issuperset(found or ())


def _records_by_entity(members: Mapping[str, str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for record, entity in members.items():
        found[entity].add(record)
    return found


def test_the_first_run_has_no_members_before(spark: SparkSession) -> None:
    none = table(spark, MEMBERS)
    state = State(frozenset("ab"), {("a", "b"): (1.0, None)}, CuratorConstraints())
    entities = set(by(run_full(spark, state, none, none.select("entity"), "r"), "record", "entity").values())
    assert len(entities) == 1
    assert len(entities.pop()) == 21
