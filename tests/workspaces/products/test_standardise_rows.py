"""Rows of a source become records: keys, ids, fingerprints, and values of all types."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from lakehold.lake.errors import DataError
from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.executors.standardise import record_columns, standardise_rows
from lakehold.workspaces.products.settings import DataProductSettings, ProductAttribute, SourceMapping

CUSTOMERS = DataProductSettings(
    attributes=(
        ProductAttribute(name="name", type=AttributeType.FULL_NAME),
        ProductAttribute(name="phone", type=AttributeType.PHONE),
        ProductAttribute(name="born", type=AttributeType.DATE),
        ProductAttribute(name="city", type=AttributeType.CITY),
    ),
)
MAPPING = SourceMapping(
    source="src1", columns={"name": "Customer", "phone": "tel", "born": "born"}, recency="changed", country="DE"
)
SCHEMA = "id string, Customer string, tel string, born string, changed timestamp"
ROWS = [
    ("1", "Müller, Hans", "0221 / 123456", "12.3.1980", datetime(2026, 1, 2, tzinfo=UTC)),
    ("2", "", "  ", "unknown", None),
    ("3", None, None, None, None),
]


def standardised(rows: DataFrame, mapping: SourceMapping = MAPPING, *keys: str) -> list[Row]:
    return standardise_rows(rows, CUSTOMERS, mapping, "src1", keys or ("id",)).orderBy("source_key").collect()


def test_rows_become_records(spark: SparkSession) -> None:
    first, second, third = standardised(spark.createDataFrame(ROWS, SCHEMA))
    assert tuple(first.asDict()) == record_columns(CUSTOMERS)
    assert first["record"] == hashlib.sha256(b"src1\x1f1").hexdigest()[:32]
    assert (first["source"], first["source_key"]) == ("src1", "1")
    assert first["recency"] == "2026-01-02T00:00:00.000000"
    assert (first["name"], first["name__raw"]) == ("Hans Müller", "Müller, Hans")
    assert (first["name__given"], first["name__family"]) == ("hans", "muller")
    assert (first["phone"], first["phone__tail"]) == ("+49221123456", "1123456")
    assert (first["born"], first["born__year"]) == ("1980-03-12", "1980")
    assert second["name__raw"] is second["phone__raw"] is second["born"] is None
    assert second["born__raw"] == "unknown"
    nothing = {name for name, value in third.asDict().items() if value is None}
    assert nothing == set(record_columns(CUSTOMERS)) - {"record", "source", "source_key", "fingerprint"}


def test_a_fingerprint_changes_with_values_recency_and_how_they_are_read(spark: SparkSession) -> None:
    def prints(rows: Sequence[tuple[object, ...]], mapping: SourceMapping = MAPPING) -> list[str]:
        return [each["fingerprint"] for each in standardised(spark.createDataFrame(rows, SCHEMA), mapping)]

    before = prints(ROWS)
    assert before == prints(list(reversed(ROWS)))
    assert len(set(before)) == 3
    moved = [(*ROWS[0][:1], "Hans Mueller", *ROWS[0][2:]), (*ROWS[1][:4], datetime(2026, 1, 3, tzinfo=UTC)), ROWS[2]]
    after = prints(moved)
    assert [new != old for new, old in zip(after, before, strict=True)] == [True, True, False]
    elsewhere = SourceMapping(source="src1", columns=MAPPING.columns, recency="changed", country="AT")
    assert not set(before) & set(prints(ROWS, elsewhere))


def test_values_of_any_plain_type_are_written_as_people_do(spark: SparkSession) -> None:
    values = {
        "int": (50667, "int", "50667"),
        "whole double": (50667.0, "double", "50667"),
        "double": (1.5, "double", "1.5"),
        "great double": (2.0e9, "double", "2000000000"),
        "not a number": (float("nan"), "double", "NaN"),
        "decimal": (Decimal("12.50"), "decimal(10,2)", "12.50"),
        "boolean": (True, "boolean", "true"),
        "date": (date(1980, 3, 12), "date", "1980-03-12"),
        "time": (datetime(1980, 3, 12, 4, 5, 6, tzinfo=UTC), "timestamp", "1980-03-12T04:05:06.000000"),
        "blanks": ("\u2003\t", "string", None),
    }
    for name, (value, kind, text) in values.items():
        (row,) = standardised(
            spark.createDataFrame([("1", value)], f"id string, v {kind}"),
            SourceMapping(source="s", columns={"city": "V"}),
        )
        assert row["city__raw"] == text, name


def test_text_that_is_no_utf_8_is_read(spark: SparkSession) -> None:
    rows = spark.sql("select '1' as id, cast(x'4bf66c6e' as string) as v")
    (row,) = standardised(rows, SourceMapping(source="s", columns={"city": "v"}))
    assert row["city__raw"] == "K\ufffdln"


@pytest.mark.parametrize(
    ("kind", "ordered", "missing"),
    [
        ("string", ["2026-01-09T10:00:00Z", "2026-01-10", "v1"], [None, " "]),
        ("int", [0, 9, 100], [None, -1]),
        ("double", [9.0, 100.0, 2e9], [None, float("inf"), float("nan")]),
        ("date", [date(2026, 1, 9), date(2026, 1, 10)], [None]),
        ("timestamp", [datetime(2026, 1, 9, 5, tzinfo=UTC), datetime(2026, 1, 9, 6, tzinfo=UTC)], [None]),
    ],
)
def test_recencies_are_ordered_as_their_values(
    spark: SparkSession, kind: str, ordered: list[object], missing: list[object]
) -> None:
    rows = [(f"{n:02}", each) for n, each in enumerate([*ordered, *missing])]
    found = standardised(spark.createDataFrame(rows, f"id string, t {kind}"), SourceMapping(source="s", recency="t"))
    recencies = [each["recency"] for each in found]
    assert recencies[len(ordered) :] == [None] * len(missing)
    known = recencies[: len(ordered)]
    assert known == sorted(known)
    assert len(set(known)) == len(known)


def test_a_key_of_two_columns(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("1", 17), ("11", 7)], "id string, shop int")
    found = standardised(rows, SourceMapping(source="s"), "id", "shop")
    assert {each["source_key"] for each in found} == {"1\x1f17", "11\x1f7"}
    assert {each["record"] for each in found} == {
        hashlib.sha256(text).hexdigest()[:32] for text in (b"src1\x1f1\x1f17", b"src1\x1f11\x1f7")
    }


def test_rows_without_a_key_are_refused(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("1", "Ada"), (None, "Bob"), (" ", "Cy")], "id string, name string")
    with pytest.raises(DataError, match=r"2 rows of the source have no value in the key column 'id'") as caught:
        standardised(rows, SourceMapping(source="s"))
    assert caught.value.field == "keys"
    assert "Bob" in caught.value.message
    assert "Bob" not in caught.value.without_foreign()


def test_rows_with_one_key_are_refused(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("a",), ("a",), ("a",), ("b",), ("b",), ("c",)], "id string")
    with pytest.raises(
        DataError, match=r"2 keys are not unique in the source, in 5 rows: 'a' \(3 times\), 'b'"
    ) as caught:
        standardised(rows, SourceMapping(source="s"))
    assert caught.value.field == "keys"
    assert "'a'" not in caught.value.without_foreign()


@pytest.mark.parametrize(
    ("mapping", "field"),
    [
        (SourceMapping(source="s", columns={"city": "town"}), "columns"),
        (SourceMapping(source="s", recency="town"), "recency"),
    ],
)
def test_a_column_that_is_gone_is_named(spark: SparkSession, mapping: SourceMapping, field: str) -> None:
    rows = spark.createDataFrame([("1", "x")], "id string, city string")
    with pytest.raises(DataError, match=r"no column 'town'.*There are: id, city\.") as caught:
        standardised(rows, mapping)
    assert caught.value.field == field
    with pytest.raises(DataError, match="no column 'key'"):
        standardised(rows, SourceMapping(source="s"), "key")


@pytest.mark.parametrize("kind", ["array<string>", "map<string,int>", "struct<a:int>", "binary"])
def test_nested_values_are_refused(spark: SparkSession, kind: str) -> None:
    rows = spark.createDataFrame([("1", None)], f"id string, v {kind}")
    with pytest.raises(DataError, match="cannot be texts") as caught:
        standardised(rows, SourceMapping(source="s", columns={"city": "v"}))
    assert caught.value.field == "columns"


def test_no_rows_make_no_records(spark: SparkSession) -> None:
    assert standardised(spark.createDataFrame([], SCHEMA)) == []


def test_a_thousand_equal_rows_and_hostile_ones(spark: SparkSession) -> None:
    texts = ["Hans", "\u202e\u0301", "a" * 1_000_000, "山田 太郎", "\x00", "'; drop table x"]
    rows = spark.createDataFrame(
        [(str(n), texts[n % len(texts)] if n < 60 else "Hans Müller") for n in range(1060)], "id string, name string"
    )
    found = standardised(rows, SourceMapping(source="s", columns={"name": "name"}))
    assert len(found) == 1060
    assert sum(each["name"] == "Hans Müller" for each in found) == 1000
