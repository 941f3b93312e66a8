"""Components that are cut at their weakest links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehold.workspaces.products.entities.splits import RowKind, split_component

Row = tuple[RowKind, str, str, float | None]
Clusters = dict[str, str]


def link(one: str, other: str, weight: float | None) -> Row:
    return RowKind.LINK, one, other, weight


def split(rows: Iterable[Row], max_records: int) -> tuple[Clusters, dict[str, str | None]]:
    found = list(rows)
    table = pa.table(
        {
            "kind": pa.array([row[0].value for row in found], pa.int32()),
            "one": pa.array([row[1] for row in found], pa.string()),
            "other": pa.array([row[2] for row in found], pa.string()),
            "weight": pa.array([row[3] for row in found], pa.float64()),
        }
    )
    parts = split_component(table, max_records).to_pydict()
    return (
        dict(zip(parts["record"], parts["cluster"], strict=True)),
        dict(zip(parts["record"], parts["flag"], strict=True)),
    )


def test_the_weakest_link_is_cut() -> None:
    rows = [link("a", "b", 9), link("b", "c", 4), link("c", "d", 8)]
    clusters, flags = split(rows, 2)
    assert clusters == {"a": "a", "b": "a", "c": "c", "d": "c"}
    assert set(flags.values()) == {"split"}


def test_the_threshold_rises_until_parts_fit() -> None:
    # c is linked more weakly than what is cut, so it is cut as well although there is room for it.
    clusters, _ = split([link("a1", "a2", 9), link("b1", "b2", 9), link("a2", "b1", 8), link("a1", "c", 7)], 3)
    assert clusters == {"a1": "a1", "a2": "a1", "b1": "b1", "b2": "b1", "c": "c"}


def test_a_record_whose_links_do_not_count_is_alone() -> None:
    rows = [link("a", "b", 9), *((RowKind.RECORD, each, each, None) for each in "abc")]
    clusters, flags = split(rows, 2)
    assert clusters == {"a": "a", "b": "a", "c": "c"}
    assert set(flags.values()) == {"split"}


def test_what_fits_is_left_alone() -> None:
    clusters, flags = split([link("a", "b", 1), link("b", "c", 1)], 3)
    assert (set(clusters.values()), set(flags.values())) == ({"a"}, {None})


def test_a_clique_of_equal_links_fills_parts_in_the_order_of_records() -> None:
    names = [f"{n:04}" for n in range(2_000)]
    rows = [link(one, other, 5) for n, other in enumerate(names) for one in names[:n]]
    clusters, _ = split(rows, 200)
    assert Counter(clusters.values()) == {f"{n:04}": 200 for n in range(0, 2_000, 200)}


def test_a_chain_of_ten_thousand_is_cut_into_parts_that_fit() -> None:
    names = [f"{n:05}" for n in range(10_000)]
    rows = [link(one, other, 5 + n % 7) for n, (one, other) in enumerate(pairwise(names))]
    clusters, flags = split(rows, 200)
    assert max(Counter(clusters.values()).values()) <= 200
    assert set(flags.values()) == {"split"}


def test_equal_records_are_one_however_many_they_are() -> None:
    rows = [link("0", f"{n}", None) for n in range(1, 1_000)]
    clusters, flags = split([*rows, link("0", "weak", 3)], 200)
    assert Counter(clusters.values()) == {"0": 1_000, "weak": 1}
    assert (flags["0"], flags["weak"]) == ("large", "split")


def test_records_that_differ_are_parted_at_the_weakest_link_between_them() -> None:
    rows = [link("a", "b", 9), link("b", "c", 4), link("c", "d", 8)]
    apart = [(RowKind.GROUP, each, each, None) for each in "ad"] + [(RowKind.APART, "a", "d", None)]
    clusters, flags = split([*rows, *apart], 200)
    assert clusters == {"a": "a", "b": "a", "c": "c", "d": "c"}
    assert set(flags.values()) == {None}


def test_equal_records_can_be_different_nevertheless() -> None:
    rows = [link("a", "b", None), link("a", "c", None), *((RowKind.GROUP, each, each, None) for each in "ac")]
    clusters, _ = split([*rows, (RowKind.APART, "a", "c", None)], 200)
    assert clusters == {"a": "a", "b": "a", "c": "c"}


def test_matching_puts_no_two_of_a_thousand_verified_groups_together() -> None:
    groups = [(RowKind.GROUP, f"{g:04}{n}", f"{g:04}0", None) for g in range(1_000) for n in range(3)]
    verified = [(RowKind.VERIFIED, f"{g:04}0", f"{g:04}0", None) for g in range(1_000)]
    links = [link(f"{g:04}1", f"{g + 1:04}2", 30) for g in range(999)]
    clusters, _ = split([*links, *groups, *verified], 200)
    assert Counter(clusters.values()) == {f"{g:04}0": 3 for g in range(1_000)}


def test_groups_of_curators_are_not_divided_for_their_number() -> None:
    groups = [(RowKind.GROUP, f"{n:03}", "000", None) for n in range(300)]
    clusters, flags = split([*groups, link("299", "x", 20)], 200)
    assert Counter(clusters.values()) == {"000": 300, "x": 1}
    assert flags["000"] == "large"


@st.composite
def components(draw: st.DrawFn) -> list[Row]:
    names = [f"r{n}" for n in range(draw(st.integers(2, 12)))]
    pairs = st.tuples(st.sampled_from(names), st.sampled_from(names), st.sampled_from([1.0, 2.0, 3.0, None]))
    rows = [link(*pair) for pair in draw(st.lists(pairs, min_size=1, max_size=30)) if pair[0] != pair[1]]
    groups = {name: f"g{draw(st.integers(0, 4))}" for name in draw(st.sets(st.sampled_from(names)))}
    rows += [(RowKind.GROUP, name, group, None) for name, group in groups.items()]
    present = sorted(set(groups.values()))
    rows += [(RowKind.VERIFIED, group, group, None) for group in present if draw(st.booleans())]
    apart = [(one, other) for n, other in enumerate(present) for one in present[:n] if draw(st.booleans())]
    return rows + [(RowKind.APART, one, other, None) for one, other in apart]


@pytest.mark.parametrize("max_records", [2, 4, 50])
@given(rows=components())
def test_parts_fit_and_break_no_constraint(max_records: int, rows: list[Row]) -> None:
    clusters, flags = split(rows, max_records)
    groups = {row[1]: row[2] for row in rows if row[0] is RowKind.GROUP}
    place: dict[str, str] = {}
    for record, group in groups.items():
        assert place.setdefault(group, clusters[record]) == clusters[record]
    assert all(place[row[1]] != place[row[2]] for row in rows if row[0] is RowKind.APART)
    verified = [place[row[1]] for row in rows if row[0] is RowKind.VERIFIED]
    assert len(set(verified)) == len(verified)
    sizes = Counter(clusters.values())
    assert all((sizes[clusters[record]] > max_records) == (flag == "large") for record, flag in flags.items())
    assert all(min(record for record in clusters if clusters[record] == name) == name for name in sizes)
    assert split(reversed(rows), max_records) == (clusters, flags)
