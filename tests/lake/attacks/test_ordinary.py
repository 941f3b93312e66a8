"""What analysts ask is let through, and answered."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lake.attacks.queries import ordinary_queries
from tests.lake.shop import RITA, Shop

ALL = ordinary_queries()


def plain(value: object) -> object:
    """A value as it can be written in a list."""
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            return round(value, 6)
        case list() | tuple():
            return [plain(each) for each in value]
        case dict():
            return {name: plain(each) for name, each in value.items()}
        case _:
            return str(value)


def test_there_are_enough_of_them() -> None:
    assert len({each["ask"] for each in ALL}) == len(ALL) > 70


@pytest.mark.parametrize("each", ALL, ids=lambda each: each["name"])
def test_an_ordinary_question_is_answered(shop: Shop, each: dict[str, Any]) -> None:
    assert plain(shop.ask(RITA, each["ask"])) == each["rows"]
