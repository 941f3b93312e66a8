"""Values of entities by the rules of attributes, beside a plain computation of the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehold.workspaces.products.entities.golden_values import FLAG, EntityRecords, choose_values
from lakehold.workspaces.products.settings import ConsolidationRule

SOURCES = ["crm", "shop"]
NAMES = ("entity", "record", "source", "recency", FLAG, "name", "city")
Row = tuple[str | None, ...]


def choose(
    rows: Sequence[Row], rule: ConsolidationRule, expected: dict[str, str] | None = None
) -> dict[str, dict[str, Any]]:
    names = (*NAMES, *(expected or {}).values())
    table = pa.table({name: pa.array([row[n] for row in rows], pa.string()) for n, name in enumerate(names)})
    rules = dict.fromkeys(("name", "city"), rule)
    found = choose_values(EntityRecords(table, SOURCES, list(rules)), rules, expected or {}).to_pylist()
    return {row["entity"]: row | {"origins": dict(row["origins"])} for row in found}


ROWS: list[Row] = [
    ("e1", "r1", "shop", "2026-01-03", None, "Ann", "Ulm"),
    ("e1", "r2", "crm", "2026-01-02", None, "Anna", None),
    ("e1", "r3", "shop", None, None, "Anna", "Ulm an der Donau"),
    ("e2", "r4", "crm", None, "split", None, None),
]


@pytest.mark.parametrize(
    ("rule", "name", "city"),
    [
        (ConsolidationRule.MOST_FREQUENT, ("Anna", "r2"), ("Ulm", "r1")),
        (ConsolidationRule.MOST_RECENT, ("Ann", "r1"), ("Ulm", "r1")),
        (ConsolidationRule.SOURCE_ORDER, ("Anna", "r2"), ("Ulm", "r1")),
        (ConsolidationRule.LONGEST, ("Anna", "r2"), ("Ulm an der Donau", "r3")),
        (ConsolidationRule.MOST_COMPLETE, ("Ann", "r1"), ("Ulm", "r1")),
    ],
)
def test_each_rule(rule: ConsolidationRule, name: tuple[str, str], city: tuple[str, str]) -> None:
    found = choose(ROWS, rule)
    assert (found["e1"]["name"], found["e1"]["origins"]["name"]) == name
    assert (found["e1"]["city"], found["e1"]["origins"]["city"]) == city
    assert (found["e1"]["records"], found["e1"]["flags"]) == (3, [])


def test_an_entity_without_values_has_none() -> None:
    assert choose(ROWS, ConsolidationRule.LONGEST)["e2"] == {
        **dict.fromkeys(("name", "city")),
        "entity": "e2",
        "records": 1,
        "flags": ["split"],
        "origins": {},
    }


def test_a_computed_value_is_from_the_record_that_has_it() -> None:
    rows = [(*row, "Anna", "3") for row in ROWS[:3]] + [(*ROWS[3], None, "0")]
    found = choose(rows, ConsolidationRule.SQL, {"name": "name__sql", "city": "city__sql"})
    assert (found["e1"]["name"], found["e1"]["origins"]) == ("Anna", {"name": "r2", "city": "sql"})
    assert (found["e1"]["city"], found["e2"]["city"], found["e2"]["origins"]) == ("3", "0", {"city": "sql"})


def plain(rows: Sequence[Row], rule: ConsolidationRule, column: int) -> tuple[str | None, str | None]:
    """Return the value and its record, by sorting."""
    known = [row for row in rows if row[column] is not None]
    counts = Counter(row[column] for row in known)

    def key(row: Row) -> tuple[Any, ...]:
        source = SOURCES.index(str(row[2])) if row[2] in SOURCES else len(SOURCES)
        recency = [-ord(letter) for letter in row[3]] if row[3] else [0]
        first = {
            ConsolidationRule.MOST_FREQUENT: -counts[row[column]],
            ConsolidationRule.SOURCE_ORDER: source,
            ConsolidationRule.LONGEST: -len(str(row[column])),
            ConsolidationRule.MOST_COMPLETE: row[5:].count(None),
        }
        return first.get(rule, 0), recency, source, row[1]

    best = min(known, key=key, default=None)
    return (best[column], best[1]) if best else (None, None)


VALUES = st.sampled_from([None, "a", "b", "ab", "ä", "日本語", "🙂", "a" * 40])


@st.composite
def entities(draw: st.DrawFn) -> list[Row]:
    rows: list[Row] = []
    for entity in range(draw(st.integers(1, 5))):
        for _ in range(draw(st.integers(1, 6))):
            source, recency = (
                draw(st.sampled_from(["crm", "shop", "other"])),
                draw(st.sampled_from([None, "1", "2", "3"])),
            )
            rows.append((f"e{entity}", f"r{len(rows):02}", source, recency, None, draw(VALUES), draw(VALUES)))
    return rows


@pytest.mark.parametrize("rule", [each for each in ConsolidationRule if each is not ConsolidationRule.SQL])
@given(rows=entities(), by=st.randoms())
def test_it_is_what_sorting_gives(rule: ConsolidationRule, rows: list[Row], by: Any) -> None:  # noqa: ANN401
    mixed = list(rows)
    by.shuffle(mixed)
    found = choose(sorted(mixed, key=lambda row: str(row[0])), rule)
    for entity, row in found.items():
        own = [each for each in rows if each[0] == entity]
        for column, name in ((5, "name"), (6, "city")):
            assert (row[name], row["origins"].get(name)) == plain(own, rule, column)
