"""The engine copes with whatever records there are, and compares no more pairs than it may."""

from __future__ import annotations

import pyarrow as pa
import pytest

from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces.products.matching.blocking import TooManyPairsError
from lakehold.workspaces.products.matching.options import MatchOptions
from tests.workspaces.products.matching.records import CUSTOMER, customers, made_up, match

ANNA = ("anna muster", "anna.muster@example.org", "bern")


@pytest.mark.parametrize("rows", [[], [ANNA], [(None, None, None)] * 3], ids=["no records", "one", "nothing known"])
def test_nothing_to_compare_gives_no_pairs(rows: list[tuple[str | None, str | None, str | None]]) -> None:
    found = match(customers(rows), CUSTOMER)
    assert not found.pairs
    assert found.engine.report.records == len(rows)


def test_empty_strings_are_missing_values() -> None:
    rows = [("", "", ""), ("", "", ""), *[(f"p{n} q{n}", "", "") for n in range(50)]]
    assert not match(customers(rows), CUSTOMER).pairs


def test_an_attribute_without_values_says_nothing() -> None:
    rows = [(f"given{n} family{n}", None, f"city{n % 40}") for n in range(300)] * 2
    found = match(customers([(name, None, f"{city}") for name, _, city in rows]), CUSTOMER)
    assert any(note.startswith("email: too few matching pairs") for note in found.model.notes)


def test_unicode_names_are_compared() -> None:
    rows = [(f"名前{n} 姓{n}", f"ユーザー{n}@例え.jp", "東京") for n in range(200)]
    rows += [("名前7 姓7", "ユーザー7@例え.jp", "大阪"), ("Zoë🎈 Ö'Brien", "zoë@x.example", "Łódź")]
    found = match(customers(rows), CUSTOMER)
    assert [pair for pair in found.sure() if "000000c8" in pair] == [("00000007", "000000c8")]


def test_a_million_equal_records_are_compared_once() -> None:
    others = customers([(f"given{n} family{n}", f"u{n}@example.org", f"city{n % 50}") for n in range(1_000)])
    many = pa.table(
        {
            name: pa.repeat(value[0], 1_000_000)
            for name, value in zip(others.column_names, customers([ANNA]).columns, strict=True)
        }
    )
    many = many.set_column(0, "record", pa.array([f"m{n:07}" for n in range(1_000_000)]))
    found = match(pa.concat_tables([others, many]), CUSTOMER)
    assert found.engine.report.distinct == 1_001
    assert found.engine.report.compared < 20_000
    assert found.pairs.keys() == {("m0000000", f"m{n:07}") for n in range(1, 1_000_000)}


def test_equal_records_that_say_too_little_are_not_linked() -> None:
    rows = [*[("anna", None, None)] * 5, *[(f"given{n % 20} family{n}", None, f"city{n % 7}") for n in range(500)]]
    found = match(customers(rows), CUSTOMER)
    assert not [pair for pair in found.pairs if pair[0] < "00000005"]


def test_a_rule_of_people_that_gives_too_many_pairs_is_refused_with_the_figure() -> None:
    table = customers([(f"given{n} family{n}", None, "bern") for n in range(150_000)])
    options = MatchOptions(blocking=(("city",),))
    with pytest.raises(TooManyPairsError, match=r"11,249,925,000 pairs") as error:
        match(table, CUSTOMER, options)
    assert "200,000,000" in error.value.hint


def test_a_rule_of_people_is_used_as_it_is() -> None:
    table, attributes = made_up("people", records=300)
    found = match(table, attributes, MatchOptions(blocking=(("family", "city"), ("email__domain",))))
    assert [rule["keys"] for rule in found.engine.report.rules] == [["family__key", "city__key"], ["email__domain"]]
    assert all(rule["custom"] for rule in found.engine.report.rules)


@pytest.mark.parametrize("key", ["none", "family__key; drop table records", "(select 1)"])
def test_a_rule_that_names_no_matched_attribute_is_refused(key: str) -> None:
    table, attributes = made_up("people", records=100)
    with pytest.raises(InvalidInputError, match="no matched attribute"):
        match(table, attributes, MatchOptions(blocking=((key,),)))


def test_values_that_are_too_frequent_are_narrowed_or_left_out_and_named() -> None:
    rows = [(f"given{n % 4} family{n % 9}", f"u{n}@example.org", "bern") for n in range(8_000)]
    found = match(customers(rows), CUSTOMER)
    assert found.engine.report.compared <= found.plan.pairs < 1_000_000
    assert "names in any order: 8,000 records have values that are too frequent." in found.engine.report.notes
    mixed = [(name, email, f"city{n % 31}") for n, (name, email, _) in enumerate(rows)]
    narrowed = {rule["name"]: rule["narrowed"] for rule in match(customers(mixed), CUSTOMER).engine.report.rules}
    assert narrowed["names in any order"] == 8_000


def test_the_pairs_that_are_compared_are_bounded() -> None:
    table, attributes = made_up("people", records=3_000)
    found = match(table, attributes, MatchOptions(max_pairs=2_000))
    assert found.engine.report.compared <= 2_000
    assert any("pairs in all" in note for note in found.engine.report.notes)
