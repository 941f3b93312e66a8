"""Slow work has its places: so many for one person, so many in all, and who finds none is told at once."""

from __future__ import annotations

import pytest

from lakehold.kit.errors import LimitExceededError
from lakehold.kit.slots import Slots


def test_one_person_has_so_many_and_all_together_so_many() -> None:
    slots = Slots("queries", 3, 2)
    with slots.take("rita"), slots.take("rita"):
        with pytest.raises(LimitExceededError, match="You have 2 queries running"), slots.take("rita"):
            pass
        with slots.take("ed"), pytest.raises(LimitExceededError, match="Too many queries"), slots.take("ada"):
            pass
        with slots.take("ada"):
            pass


def test_a_place_is_free_again_after_an_error() -> None:
    slots = Slots("queries", 1, 1)
    with pytest.raises(ValueError, match="mine"), slots.take("rita"):
        raise ValueError("mine")
    with slots.take("ed"):
        pass
