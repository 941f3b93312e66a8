"""Sets of members as rows of a matrix."""

from __future__ import annotations

import numpy as np
import pytest

from lakehold.access.review.member_bits import BitLayout, from_column, to_column, union_rows

BORDERS = [1, 63, 64, 65, 128, 129]


def sets_of(layout: BitLayout) -> list[int]:
    """Nobody, the first, the last, every third, everybody."""
    last = layout.members - 1
    return [0, 1, 1 << last, sum(1 << n for n in range(0, layout.members, 3)), (1 << layout.members) - 1]


@pytest.mark.parametrize("members", BORDERS)
def test_a_set_unfolds_into_its_members(members: int) -> None:
    layout = BitLayout(members)
    sets = sets_of(layout)
    unfolded = layout.unpack(layout.matrix(sets))
    assert unfolded.shape == (len(sets), members)
    assert [sum(1 << int(n) for n in np.flatnonzero(row)) for row in unfolded] == sets


@pytest.mark.parametrize("members", BORDERS)
def test_everybody_is_nobody_more(members: int) -> None:
    layout = BitLayout(members)
    assert int(np.bitwise_count(layout.everybody(2)).sum()) == 2 * members
    assert not layout.nobody(2).any()


@pytest.mark.parametrize("members", BORDERS)
def test_marked_members_are_there_and_no_others(members: int) -> None:
    layout = BitLayout(members)
    numbers = np.array([0, members - 1, members - 1])
    marked = layout.mark(3, np.array([0, 0, 2]), numbers)
    assert (marked == layout.matrix([1 | 1 << members - 1, 0, 1 << members - 1])).all()
    assert layout.has(marked, np.array([0, 1, 2]), numbers).tolist() == [True, False, True]


@pytest.mark.parametrize("members", BORDERS)
def test_a_column_and_a_part_of_it_give_the_same_sets(members: int) -> None:
    layout = BitLayout(members)
    sets = layout.matrix(sets_of(layout))
    assert (from_column(to_column(sets), layout.words) == sets).all()
    assert (from_column(to_column(sets)[2:4], layout.words) == sets[2:4]).all()
    assert from_column(to_column(sets)[5:], layout.words).shape == (0, layout.words)


def test_sets_at_one_place_become_one() -> None:
    layout = BitLayout(70)
    sets = layout.matrix([1, 1 << 69, 2, 4])
    assert (union_rows(4, np.array([0, 0, 2, 3]), sets) == layout.matrix([1 | 1 << 69, 0, 2, 4])).all()
    assert (union_rows(5, np.array([0, 1, 2, 4]), sets) == layout.matrix([1, 1 << 69, 2, 0, 4])).all()
    assert not union_rows(2, np.array([], np.int64), sets[:0]).any()


def test_the_more_members_the_fewer_rows_at_once() -> None:
    assert BitLayout(1_000).rows == 8_192
    assert BitLayout(100_000).rows == 83
    assert BitLayout(100_000_000).rows == 1
