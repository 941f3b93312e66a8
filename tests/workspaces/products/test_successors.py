"""The living entities that a retired id stands for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from lakehold.workspaces.products.entities.successors import find_successors, retired_entities

CHANGES = [
    ("e1", "merged", ["e2"]),
    ("e2", "split", ["e3", "e4"]),
    ("e3", "split", ["e3", "e5"]),
    ("e4", "gone", []),
    ("e5", "merged", ["e6"]),
    ("e6", "changed", []),
    ("e7", "new", []),
]


def load(entities: Collection[str]) -> Mapping[str, Sequence[str]]:
    return {entity: found for entity, found in retired_entities(CHANGES).items() if entity in entities}


def test_chains_lead_to_what_lives() -> None:
    assert find_successors("e1", load) == ["e3"]
    assert find_successors("e5", load) == ["e6"]
    assert find_successors("e4", load) == []


def test_what_lives_has_no_successors() -> None:
    assert find_successors("e3", load) is None
    assert find_successors("e7", load) is None


def test_ids_that_lead_to_each_other_end() -> None:
    circle = {"a": ["b"], "b": ["a", "c"]}
    found = find_successors("a", lambda ids: {each: circle[each] for each in ids if each in circle})
    assert found == ["c"]
