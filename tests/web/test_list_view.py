"""A list is what its address says."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from lakehold.web.list_view import ListFilter, ListState

STATE = ListFilter("state", "State", (("late", "Late"), ("fresh", "Fresh")))


def listing(query: str = "") -> ListState:
    scope = {
        "type": "http",
        "path": "/tables",
        "query_string": query.encode(),
        "headers": [],
        "server": ("localhost", 80),
    }
    return ListState.from_request(
        Request({**scope, "scheme": "http", "method": "GET"}), ("name", "-changed"), (STATE,), size=10
    )


def test_without_a_question_it_is_sorted_by_the_first_word() -> None:
    found = listing()
    assert (found.search, found.sort, found.descending, found.page) == ("", "name", False, 1)
    assert found.href() == "/tables"


def test_the_address_says_everything() -> None:
    found = listing("q=+big+orders+&sort=-changed&page=3&state=late")
    assert (found.search, found.sort, found.descending, found.page) == ("big orders", "changed", True, 3)
    assert found.chosen == {"state": "late"}
    assert found.href(page=4) == "/tables?q=big+orders&state=late&sort=-changed&page=4"


@pytest.mark.parametrize(
    "query", ["sort=secret", "page=0", "page=-1", "page=x", "page=²", "page=" + "9" * 5000, "state=none"]
)
def test_what_is_asked_wrongly_is_as_if_it_had_not_been_asked(query: str) -> None:
    found = listing(query)
    assert found.sort == "name"
    assert found.chosen == {"state": ""}
    assert 1 <= found.page <= 1_000_000


def test_a_new_question_begins_at_the_first_page() -> None:
    assert listing("page=3&q=a").sorted_by("changed") == "/tables?q=a&sort=changed"


def test_a_column_turns_round() -> None:
    assert listing().sorted_by("name") == "/tables?sort=-name"
    assert listing("sort=-name").sorted_by("name") == "/tables"


def test_one_part_after_the_other_is_the_whole() -> None:
    rows = list(range(25))
    parts = [listing(f"page={page}").slice_page(rows) for page in (1, 2, 3, 4)]
    assert [len(part) for part in parts] == [10, 10, 5, 0]
    assert [row for part in parts for row in part] == rows
    assert listing().pages(25) == 3
    assert listing().pages(0) == 1


def test_it_knows_whether_it_was_narrowed() -> None:
    assert not listing("sort=-changed").is_narrowed
    assert listing("q=a").is_narrowed
    assert listing("state=late").is_narrowed
