"""Connected components of links."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehold.workspaces.products.entities.components import find_components
from lakehold.workspaces.products.entities.disjoint_sets import DisjointSets

NAMES = ["a", "b", "c", "ä", "Ω", "日本", "🙂", "a b", "z'", "0", "00"]


def components(links: Sequence[tuple[str, str]]) -> dict[str, str]:
    table = pa.table({n: pa.array([link[n == "b"] for link in links], pa.string()) for n in ("a", "b")})
    found = find_components(table)
    return dict(zip(found["record"].to_pylist(), found["component"].to_pylist(), strict=True))


def expected(links: Sequence[tuple[str, str]]) -> dict[str, str]:
    sets = DisjointSets()
    for one, other in links:
        sets.join(one, other)
    return {record: sets.find(record) for record in list(sets)}


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES))))
def test_each_record_has_the_smallest_one_that_links_lead_to(links: list[tuple[str, str]]) -> None:
    assert components(links) == expected(links)


@pytest.mark.parametrize("shape", ["ascending", "descending", "shuffled", "star"])
def test_a_chain_of_ten_thousand_is_one(shape: str) -> None:
    names = [f"{n:05}" for n in range(10_000)]
    links = [(names[-1], name) for name in names[:-1]] if shape == "star" else list(pairwise(names))
    if shape == "descending":
        links = [(other, one) for one, other in reversed(links)]
    if shape == "shuffled":
        names.sort(key=lambda name: name[::-1])
        links = list(pairwise(names))
    assert components(links) == dict.fromkeys(names, "00000")


def test_a_clique_is_one() -> None:
    names = [f"{n:03}" for n in range(300)]
    links = [(one, other) for n, one in enumerate(names) for other in names[:n]]
    assert components(links) == dict.fromkeys(names, "000")


def test_batches_with_dictionaries_of_their_own_are_one_table() -> None:
    links = pa.concat_tables(
        [pa.table({"a": ["x"], "b": ["y"]}), pa.table({"a": ["z"], "b": ["y"]}), pa.table({"a": ["q"], "b": ["p"]})]
    )
    found = find_components(links)
    assert found.to_pydict() == {"record": ["p", "q", "x", "y", "z"], "component": ["p", "p", "x", "x", "x"]}
