"""Numbers, moments and places as people read them."""

from __future__ import annotations

import pytest

from lakehold.kit.clock import DAY, FOREVER, SECOND
from lakehold.web import labels
from lakehold.web.navigation import Navigation, NavLink, NavSection

NOW = 1_000 * DAY


@pytest.mark.parametrize(
    ("before", "label"),
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
def test_how_long_ago(before: int, label: str) -> None:
    assert labels.format_relative_time(NOW - before, NOW) == label


def test_how_many() -> None:
    assert labels.format_count(1, "table") == "1 table"
    assert labels.format_count(12_345, "table") == "12,345 tables"
    assert labels.format_count(2, "query", "queries") == "2 queries"


@pytest.mark.parametrize(
    ("name", "letters"), [("Erik, Engineer", "EE"), ("ana", "A"), ("  ", "?"), ("(x) Öl", "Ö"), ("", "?")]
)
def test_letters_of_a_name(name: str, letters: str) -> None:
    assert labels.initials(name) == letters


def test_one_is_at_the_place_whose_address_leads_furthest() -> None:
    around = Navigation(
        places=(NavLink("Home", "/"), NavLink("People", "/people")),
        workspaces=(NavSection("Shop", "/w/shop", "store", places=(NavLink("Tables", "/w/shop/tables"),)),),
    )
    for path, place in {
        "/": "/",
        "/people/erik": "/people",
        "/peoples": "",
        "/w/shop": "/w/shop",
        "/w/shop/tables/orders": "/w/shop/tables",
    }.items():
        assert around.current(path) == place
