"""Random histories of many small data products, side by side in one table: each has a prefix of its own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations

from lakehold.workspaces.products.entities.constraints import CuratorConstraints, RecordLink, VerifiedGroup

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class State:
    """What there is before a run."""

    records: frozenset[str]
    pairs: dict[Pair, tuple[float, float | None]]
    constraints: CuratorConstraints
    touched: frozenset[str] = frozenset()
    entities: dict[str, str] = field(default_factory=dict)
    """The entity of each record after the last run, of which curators verify some."""

    def pair_rows(self) -> Iterator[tuple[str, str, float, float | None]]:
        return ((*pair, *score) for pair, score in self.pairs.items())


def first_state(by: random.Random, worlds: int) -> State:
    """Return the records of many worlds, with random pairs among those of each."""
    records = [f"w{world:03}r{n}" for world in range(worlds) for n in range(by.randint(1, 7))]
    empty = State(frozenset(), {}, CuratorConstraints())
    return _with_pairs(by, replace(empty, records=frozenset(records)), frozenset(records))


def next_state(by: random.Random, last: State, order: int) -> State:
    """Change some records, links and constraints; what has changed is touched."""
    worlds = sorted({record[:4] for record in last.records})
    gone = frozenset(record for record in last.records if by.random() < 0.05)
    new = frozenset(f"{world}n{order}{n}" for world in worlds for n in range(2) if by.random() < 0.15)
    changed = frozenset(record for record in last.records if by.random() < 0.08)
    records = (last.records - gone) | new
    constraints, acted = _next_constraints(by, last, order)
    touched = gone | new | changed | acted
    kept = {pair: score for pair, score in last.pairs.items() if not touched & set(pair)}
    return _with_pairs(by, State(records, kept, constraints, touched), touched & records)


def _with_pairs(by: random.Random, state: State, touched: frozenset[str]) -> State:
    pairs = dict(state.pairs)
    worlds: dict[str, list[str]] = {}
    for record in sorted(state.records):
        worlds.setdefault(record[:4], []).append(record)
    for records in worlds.values():
        for pair in combinations(records, 2):
            if touched & set(pair) and by.random() < 0.35:
                pairs[pair] = by.choice([(0.97, 5.0), (0.99, 7.0), (0.999, 9.0), (0.5, 0.0), (1.0, None)])
    return replace(state, pairs=pairs)


def _next_constraints(by: random.Random, last: State, order: int) -> tuple[CuratorConstraints, frozenset[str]]:
    """Make some acts, undo some, and return all of them and the records that these are about."""
    worlds: dict[str, list[str]] = {}
    for record in sorted(last.records):
        worlds.setdefault(record[:4], []).append(record)
    acted: set[str] = set()
    old = last.constraints
    links: tuple[list[RecordLink], list[RecordLink]] = ([], [])
    for kept, before in zip(links, (old.must_links, old.cannot_links), strict=True):
        for each in before:
            if by.random() < 0.2:
                acted |= {each.record_a, each.record_b}
            else:
                kept.append(each)
    verified = list(old.verified)
    number = order * 10_000
    for records in worlds.values():
        number += 1
        act = by.random()
        if act < 0.2 and len(records) > 1:
            one, other = by.sample(records, 2)
            by.choice(links).append(RecordLink(number, one, other))
            acted |= {one, other}
        elif act < 0.3 and last.entities:
            entity = last.entities[by.choice(records)]
            own = tuple(record for record in records if last.entities.get(record) == entity)
            verified.append(VerifiedGroup(number, entity, own))
            acted |= set(own)
    return CuratorConstraints(*links, verified), frozenset(acted)
