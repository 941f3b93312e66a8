"""The profile of a source: one pass over its rows says what its columns are."""

from __future__ import annotations

import json
from datetime import date, timedelta

import pytest
from pyspark.sql import SparkSession

from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.executors.profile import profile_rows
from lakehold.workspaces.products.profiles import ColumnProfile, SourceProfile

ROWS = 1000
SCHEMA = (
    "id int, email string, tel string, born date, geboren string, ort string, plz int, umsatz double, aktiv boolean, "
    "leer string, notiz string, tags array<string>"
)


@pytest.fixture(scope="module")
def profile(spark: SparkSession) -> SourceProfile:
    start = date(1950, 1, 1)
    towns = ("Köln", "Bonn", "Aachen")
    rows = [
        (
            n,
            f"a{n % 900}@example.com" if n % 10 else None,
            f"0221 / {100000 + n}",
            start + timedelta(days=n),
            f"{n % 28 + 1}.{n % 12 + 1}.1980" if n % 20 else "unbekannt",
            towns[0] if n % 2 else towns[n % 3],
            50667 + n % 7,
            float(n),
            n % 2 == 0,
            " " if n % 2 else None,
            f"Notiz {n} über " + "x" * n,
            ["a"],
        )
        for n in range(ROWS)
    ]
    return profile_rows(spark.createDataFrame(rows, SCHEMA))


def column(profile: SourceProfile, name: str) -> ColumnProfile:
    found = profile.column(name)
    assert found is not None
    return found


def test_types_of_columns_are_inferred(profile: SourceProfile) -> None:
    assert {each.name: each.attribute_type for each in profile.columns} == {
        "id": AttributeType.IDENTIFIER,
        "email": AttributeType.EMAIL,
        "tel": AttributeType.PHONE,
        "born": AttributeType.DATE,
        "geboren": AttributeType.DATE,
        "ort": AttributeType.CITY,
        "plz": AttributeType.POSTCODE,
        "umsatz": AttributeType.NUMBER,
        "aktiv": AttributeType.CATEGORY,
        "leer": None,
        "notiz": AttributeType.TEXT,
    }


def test_rows_nulls_and_blanks_are_counted(profile: SourceProfile) -> None:
    assert profile.rows == ROWS
    assert (column(profile, "email").nulls, column(profile, "email").blanks) == (100, 0)
    empty = column(profile, "leer")
    assert (empty.nulls, empty.blanks, empty.filled, empty.distinct, empty.uniqueness) == (500, 500, 0, 0, 0)
    assert column(profile, "email").filled == 900


def test_keys_are_exact(profile: SourceProfile) -> None:
    assert {each.name for each in profile.columns if each.is_unique} == {"id", "tel", "born", "umsatz", "notiz"}
    assert column(profile, "id").distinct == ROWS
    assert column(profile, "ort").is_unique is False


def test_values_are_distributed(profile: SourceProfile) -> None:
    town = column(profile, "ort").values
    assert town is not None
    assert (town.frequent[0].value, town.frequent[0].rows) == ("Köln", 667)
    assert {each.value for each in town.frequent} == {"Köln", "Bonn", "Aachen"}
    revenue = column(profile, "umsatz").values
    assert revenue is not None
    assert (revenue.least, revenue.greatest) == ("0", "999")
    assert sum(each.rows for each in revenue.histogram) == ROWS
    born = column(profile, "born").values
    assert born is not None
    assert born.least == "1950-01-01"
    assert born.histogram[0].middle.startswith("195")


def test_patterns_have_letters_and_digits_collapsed(profile: SourceProfile) -> None:
    assert [(each.value, each.rows) for each in column(profile, "tel").patterns] == [("9 / 9", ROWS)]
    assert column(profile, "email").patterns[0].value == "A9@A.A"
    assert column(profile, "ort").patterns[0].value == "A"


def test_long_values_are_cut(profile: SourceProfile) -> None:
    notes = column(profile, "notiz")
    assert notes.mean_length > 500
    assert notes.values is not None
    assert max(map(len, notes.values.examples)) <= 100


def test_values_can_be_left_out(profile: SourceProfile) -> None:
    hidden = json.dumps(profile.without_values().to_json())
    assert "Köln" not in hidden
    assert "example.com" not in hidden
    assert "9 / 9" in hidden


def test_a_profile_is_stored_as_json(profile: SourceProfile) -> None:
    for each in (profile, profile.without_values()):
        assert SourceProfile.from_json(json.loads(json.dumps(each.to_json()))) == each


def test_a_source_without_rows_has_a_profile(spark: SparkSession) -> None:
    found = profile_rows(spark.createDataFrame([], SCHEMA))
    assert found.rows == 0
    assert (column(found, "email").filled, column(found, "email").uniqueness) == (0, 0)
    assert not column(found, "id").may_be_key
    assert profile_rows(spark.createDataFrame([], "tags array<int>")) == SourceProfile()


def test_hostile_texts_and_names_have_a_profile(spark: SparkSession) -> None:
    texts = ["\x00", "\u202e\u0301", "a" * 1_000_000, "'; drop table x", "山田", "-" * 5000, "1" * 5000, None]
    rows = spark.createDataFrame([(each,) for each in texts], "`a`` b.c'` string")
    (found,) = profile_rows(rows).columns
    assert (found.name, found.nulls) == ("a` b.c'", 1)


def test_a_wide_source_has_a_profile(spark: SparkSession) -> None:
    rows = spark.range(50).selectExpr(*(f"cast(id as string) as c{n}" for n in range(150)))
    assert len(profile_rows(rows).columns) == 150
