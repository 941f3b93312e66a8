"""Whatever Rita writes, she is told nothing of what she may not read, nor of the machine."""

from __future__ import annotations

import pytest

from tests.lake.attacks.queries import HostileQuery, fill_placeholders, find_leaks, hostile_queries, run_query
from tests.lake.shop import ADA, Shop

ALL = list(hostile_queries())
# Each asked of a table that is hidden and of one that is not there.
ALIKE = (
    "SELECT * FROM secret.{}",
    "SELECT id FROM lake.shop.secret.{}",
    "SELECT nothing FROM secret.{}",
    "SELECT * FROM secret.{}.files",
    "SELECT * FROM secret.{} VERSION AS OF 1",
    "SELECT * FROM secret.{} TIMESTAMP AS OF '2026-01-01'",
    "SELECT * FROM secret.{}.branch_main",
    "SELECT * FROM raw.customers JOIN secret.{} USING (id)",
    "SELECT (SELECT max(id) FROM secret.{})",
    "SELECT * FROM secret.{} WITH (a = 1)",
    "SELECT secret.{}.id FROM raw.customers",
    "TABLE secret.{}",
)


def test_there_are_enough_of_them() -> None:
    assert len({each.text for each in ALL}) == len(ALL) > 160
    assert {each.expected for each in ALL} == {"refused", "failed", "harmless"}


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
def test_nothing_hidden_is_told(shop: Shop, each: HostileQuery) -> None:
    text = fill_placeholders(shop, each.text)
    became, answer = run_query(shop, text)
    assert find_leaks(shop, text, answer) == []
    assert became == each.expected, answer


def test_what_must_not_be_told_would_be_noticed(shop: Shop) -> None:
    rows = str(shop.ask(ADA, "SELECT * FROM secret.hidden"))
    assert find_leaks(shop, "", rows)
    assert find_leaks(shop, "", str(shop.platform.settings.data / "warehouse"))


@pytest.mark.parametrize("text", ALIKE)
def test_what_is_hidden_and_what_is_not_there_are_told_alike(shop: Shop, text: str) -> None:
    hidden, missing = (run_query(shop, text.format(name)) for name in ("hidden", "absent"))
    assert (hidden[0], hidden[1].replace("hidden", "absent")) == missing


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 3_000 + "1" + ")" * 3_000,
        "SELECT (SELECT " * 300 + "1" + ")" * 300,
        "SELECT " + " + ".join(["1"] * 20_000),
        "SELECT " + "CASE WHEN 1 = 1 THEN " * 500 + "1" + " END" * 500,
        "SELECT 1 OVER w " + "FROM (SELECT sum(1) OVER w " * 40 + ") WINDOW w AS (ORDER BY 1)" * 40,
        "SELECT '" + "x" * 900_000,
    ],
    ids=["brackets", "subqueries", "sums", "cases", "windows", "an open text"],
)
def test_a_monster_is_answered_in_plain_words(shop: Shop, text: str) -> None:
    became, answer = run_query(shop, text)
    assert became in {"refused", "failed", "harmless"}
    assert find_leaks(shop, text, answer) == []
    assert len(answer) < 1_000
