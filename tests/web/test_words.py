"""Numbers, moments and places as people read them."""

from __future__ import annotations

import pytest

from lakehold.kit.clock import DAY, FOREVER, SECOND
from lakehold.web import words
from lakehold.web.navigation import Around, Place, Section

NOW = 1_000 * DAY


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (0, "just now"),
        (40 * SECOND, "40 seconds ago"),
        (60 * SECOND, "1 minute ago"),
        (7_200 * SECOND, "2 hours ago"),
        (DAY, "1 day ago"),
        (45 * DAY, "1 month ago"),
        (800 * DAY, "2 years ago"),
        (-2 * DAY, "in 2 days"),
        (NOW - FOREVER, "no end"),
    ],
)
def test_how_long_ago(before: int, told: str) -> None:
    assert words.ago(NOW - before, NOW) == told


def test_how_many() -> None:
    assert words.counted(1, "table") == "1 table"
    assert words.counted(12_345, "table") == "12,345 tables"
    assert words.counted(2, "query", "queries") == "2 queries"


@pytest.mark.parametrize(
    ("name", "letters"), [("Erik, Engineer", "EE"), ("ana", "A"), ("  ", "?"), ("(x) Öl", "Ö"), ("", "?")]
)
def test_letters_of_a_name(name: str, letters: str) -> None:
    assert words.initials(name) == letters


def test_one_is_at_the_place_whose_address_leads_furthest() -> None:
    around = Around(
        places=(Place("Home", "/"), Place("People", "/people")),
        workspaces=(Section("Shop", "/w/shop", "store", places=(Place("Tables", "/w/shop/tables"),)),),
    )
    for path, place in {
        "/": "/",
        "/people/erik": "/people",
        "/peoples": "",
        "/w/shop": "/w/shop",
        "/w/shop/tables/orders": "/w/shop/tables",
    }.items():
        assert around.current(path) == place
