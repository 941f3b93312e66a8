"""Previews: what Spark wrote is shown without it, from few files, and nothing that was deleted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    ListType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
)
from pyspark.sql import SparkSession

from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError, UnavailableError
from lakehold.kit.settings import Settings
from lakehold.pipeline.filters import expression
from lakehold.pipeline.lake import Lake, Place
from lakehold.pipeline.previews import Filter, Operator, Preview, Wanted, preview
from lakehold.pipeline.spark.tables import Tables
from lakehold.pipeline.spark.writing import Mode, Write, write


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    """In a file: which metadata is valid is asked of the lake, in whatever database it is kept."""
    found = Lake(Settings(data=tmp_path))
    yield found
    found.close()


def ids(found: Preview) -> list[int]:
    return sorted(found.rows.column("id").to_pylist())


def parquet_files(tmp_path: Path, place: Place) -> set[Path]:
    return set((tmp_path / "warehouse" / place.namespace / place.table / "data").rglob("*.parquet"))


WITHOUT_SPARK = """
import sys
from pathlib import Path
from lakehold.kit.settings import Settings
from lakehold.pipeline.lake import Lake, Place
from lakehold.pipeline.previews import preview
assert "pyiceberg" not in sys.modules
print(len(preview(Lake(Settings(data=Path(sys.argv[1]))), Place(1, int(sys.argv[2]))).rows))
assert not [name for name in sys.modules if name.startswith(("pyspark", "py4j", "lakehold.pipeline.spark"))]
"""


def test_the_first_rows_are_shown_without_spark_and_without_the_other_files(
    spark: SparkSession, tables: Tables, lake: Lake, place: Place, tmp_path: Path
) -> None:
    with pytest.raises(ConflictError, match="no data yet"):
        preview(lake, place)
    rows = spark.range(0, 300, 1, 3).selectExpr("id", "id * 2 AS twice", "concat('n', id) AS name")
    first = write(tables, place, rows.limit(0), Write(Mode.APPEND, "w0"))
    assert (len(preview(lake, place).rows), preview(lake, place).more) == (0, False)
    write(tables, place, rows, Write(Mode.APPEND, "w1"))
    made = tables.now(place).current
    assert made is not None
    write(tables, place, spark.sql("SELECT 999L AS id"), Write(Mode.OVERWRITE, "w2"))
    then = preview(lake, place, Wanted(rows=1_000, snapshot=made.id))
    assert (ids(then), then.more) == (list(range(300)), False)
    some = preview(lake, place, Wanted(rows=7, snapshot=made.id, fields=["NAME", "id", "name"]))
    assert (some.rows.column_names, len(some.rows), some.more) == (["name", "id"], 7, True)
    assert all(row["name"] == f"n{row['id']}" for row in some.rows.to_pylist())
    assert preview(lake, place).rows.to_pylist() == [{"id": 999, "twice": None, "name": None}]
    assert preview(lake, place, Wanted(rows=300, snapshot=made.id)).more is False
    assert first.total == 0

    told = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", WITHOUT_SPARK, str(tmp_path), str(place.number)], check=True, capture_output=True
    )
    assert told.stdout.strip() == b"1"

    opened = ids(some)[0] // 100
    for file in parquet_files(tmp_path, place):
        if not file.name.startswith(f"0000{opened}"):
            file.unlink()
    assert len(preview(lake, place, Wanted(rows=7, snapshot=made.id)).rows) == 7
    with pytest.raises(UnavailableError, match="Files of the table are missing"):
        preview(lake, place, Wanted(rows=250, snapshot=made.id))
    with pytest.raises(NotFoundError, match="no snapshot 7"):
        preview(lake, place, Wanted(snapshot=7))


def test_deleted_rows_do_not_show(spark: SparkSession, tables: Tables, lake: Lake, place: Place) -> None:
    rows = spark.range(0, 6_000, 1, 3).selectExpr("id", "id AS n", "id % 2 AS part")
    write(tables, place, rows, Write(Mode.APPEND, "w1", partitioned_by=["part"]))
    session = tables.session
    session.sql(f"DELETE FROM {place.sql} WHERE id % 7 = 0 AND id < 3000")
    session.sql(f"DELETE FROM {place.sql} WHERE id BETWEEN 2000 AND 3999 AND id <> 2500")
    write(tables, place, spark.sql("SELECT 5L AS id, -5L AS n, 1L AS part"), Write(Mode.MERGE, "w2", keys=["id"]))
    write(tables, place, spark.sql("SELECT 7L AS id, 7L AS n, 1L AS part"), Write(Mode.APPEND, "w3"))
    current = tables.now(place).current
    assert current is not None
    assert current.count("total-position-deletes") > 1_000
    expected = sorted(tuple(row) for row in tables.read(place).collect())
    found = preview(lake, place, Wanted(rows=10_000))
    assert sorted((row["id"], row["n"], row["part"]) for row in found.rows.to_pylist()) == expected
    some = preview(lake, place, Wanted(rows=100, where=Filter("id", Operator.AT_LEAST, 1_990)))
    assert set(ids(some)) <= {row[0] for row in expected if row[0] >= 1_990}
    assert len(some.rows) == 100
    one = preview(lake, place, Wanted(where=Filter("part", Operator.IS, 1), rows=10_000))
    assert ids(one) == sorted(row[0] for row in expected if row[2] == 1)
    assert ids(preview(lake, place, Wanted(where=Filter("id", Operator.IS, 2_001)))) == []


def test_fields_are_shown_as_the_table_has_them_now(
    spark: SparkSession, tables: Tables, lake: Lake, place: Place
) -> None:
    nested = ["struct(id AS a, array(id, NULL) AS l) AS s", "map('k', struct(id)) AS m", "array(struct(id)) AS l"]
    old = spark.range(2).selectExpr("id", *nested, "CAST(id AS int) AS n", "'x' AS `old ü.name`", "1 AS gone")
    write(tables, place, old, Write(Mode.APPEND, "w1"))
    before = tables.now(place).current
    assert before is not None
    for change in (
        "RENAME COLUMN `old ü.name` TO `new name`",
        "DROP COLUMN gone",
        "ADD COLUMN gone string",
        "ADD COLUMN s.b int",
        "ALTER COLUMN n TYPE bigint",
    ):
        tables.session.sql(f"ALTER TABLE {place.sql} {change}")
    new = spark.sql("SELECT 5L AS id, 5000000000L AS n, 'g' AS gone, 'y' AS `new name`")
    write(tables, place, new, Write(Mode.APPEND, "w2"))
    expected = {row.id: row.asDict(recursive=True) for row in tables.read(place).collect()}
    found = {
        row["id"]: {**row, "m": None if row["m"] is None else dict(row["m"])}
        for row in preview(lake, place).rows.to_pylist()
    }
    assert found == expected
    assert preview(lake, place, Wanted(fields=["gone"])).rows.column("gone").to_pylist().count("g") == 1
    then = preview(lake, place, Wanted(snapshot=before.id))
    assert "old ü.name" in then.rows.column_names
    assert ids(preview(lake, place, Wanted(where=Filter("new name", Operator.IS, "x")))) == [0, 1]


def test_rows_are_found_by_what_is_in_them(spark: SparkSession, tables: Tables, lake: Lake, place: Place) -> None:
    fields = [
        "id",
        "CASE WHEN id % 4 = 0 THEN NULL ELSE concat('name ', id) END AS name",
        "id % 2 = 0 AS even",
        "CAST(id / 4 AS decimal(9, 2)) AS price",
        "id / 4D AS ratio",
        "date_add(DATE '2024-01-01', CAST(id AS int)) AS day",
        "timestamp_seconds(1704067200 + id) AS at",
        "CAST(timestamp_seconds(1704067200 + id) AS timestamp_ntz) AS wall",
        "array(id) AS many",
    ]
    write(tables, place, spark.range(0, 20, 1, 4).selectExpr(*fields), Write(Mode.APPEND, "w1"))
    table = {
        Filter("ID", Operator.IS, "3"): [3],
        Filter("id", Operator.IS_NOT, 3): [each for each in range(20) if each != 3],
        Filter("id", Operator.LESS, 2): [0, 1],
        Filter("id", Operator.AT_MOST, 2): [0, 1, 2],
        Filter("id", Operator.MORE, 18): [19],
        Filter("id", Operator.AT_LEAST, 18): [18, 19],
        Filter("name", Operator.STARTS, "name 1"): [1, 10, 11, 13, 14, 15, 17, 18, 19],
        Filter("name", Operator.IS_NOT, "name 1"): [each for each in range(20) if each % 4 and each != 1],
        Filter("name", Operator.EMPTY): [0, 4, 8, 12, 16],
        Filter("name", Operator.FILLED): [each for each in range(20) if each % 4],
        Filter("even", Operator.IS, "False"): list(range(1, 20, 2)),
        Filter("even", Operator.IS, True): list(range(0, 20, 2)),
        Filter("price", Operator.IS, "1.5"): [6],
        Filter("price", Operator.LESS, Decimal("0.50")): [0, 1],
        Filter("ratio", Operator.MORE, 4.5): [19],
        Filter("day", Operator.IS, date(2024, 1, 3)): [2],
        Filter("at", Operator.LESS, "2024-01-01 01:00:02+01:00"): [0, 1],
        Filter("at", Operator.AT_MOST, datetime(2024, 1, 1, 0, 0, 1, tzinfo=UTC)): [0, 1],
        Filter("wall", Operator.LESS, "2024-01-01T00:00:02"): [0, 1],
        Filter("many", Operator.EMPTY): [],
    }
    found = {where: ids(preview(lake, place, Wanted(where=where, fields=["id"]))) for where in table}
    assert found == table


def test_a_preview_is_bounded(spark: SparkSession, tables: Tables, lake: Lake, place: Place) -> None:
    rows = spark.range(0, 4_000, 1, 2).selectExpr("id", "repeat('x', CAST(id % 2000 AS int)) AS text")
    write(tables, place, rows, Write(Mode.APPEND, "w1"))
    small = preview(lake, place, Wanted(rows=2_000, size=20_000))
    assert (0 < len(small.rows) < 300, small.rows.nbytes <= 20_000, small.more) == (True, True, True)
    none = preview(lake, place, Wanted(size=0))
    assert (len(none.rows), none.more) == (0, True)
    rare = Wanted(where=Filter("text", Operator.IS, "xw"), looked_at=1_000)
    assert (len(preview(lake, place, rare).rows), preview(lake, place, rare).more) == (0, True)
    with pytest.raises(InvalidInputError, match="at most 100,000 rows"):
        preview(lake, place, Wanted(rows=100_001))
    with pytest.raises(InvalidInputError, match="at least one field"):
        preview(lake, place, Wanted(fields=[]))
    with pytest.raises(InvalidInputError, match="no field 'nr'"):
        preview(lake, place, Wanted(fields=["nr"]))


_TYPES = {
    "n": IntegerType(),
    "text": StringType(),
    "price": DecimalType(9, 2),
    "ratio": DoubleType(),
    "even": BooleanType(),
    "day": DateType(),
    "at": TimestamptzType(),
    "wall": TimestampType(),
    "many": ListType(100, StringType()),
}
SCHEMA = Schema(*(NestedField(index, name, kind) for index, (name, kind) in enumerate(_TYPES.items(), 1)))


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (Filter("nr", Operator.IS, 1), "no field 'nr'"),
        (Filter("n", Operator.IS, "ann"), "'ann' is no value of n, which is int"),
        (Filter("n", Operator.IS, "1.5"), "'1.5' is no value of n"),
        (Filter("n", Operator.IS, 2**31), "is no value of n"),
        (Filter("n", Operator.IS), "compared with nothing"),
        (Filter("n", Operator.STARTS, "1"), "n is no text"),
        (Filter("n", Operator.EMPTY, 1), "takes no value"),
        (Filter("price", Operator.IS, "1.005"), "is no value of price, which is decimal"),
        (Filter("price", Operator.IS, "much"), "is no value of price"),
        (Filter("price", Operator.IS, "inf"), "is no value of price"),
        (Filter("ratio", Operator.IS, "nan"), "is no value of ratio"),
        (Filter("even", Operator.IS, "yes"), "is no value of even"),
        (Filter("even", Operator.MORE, "true"), "neither is more"),
        (Filter("day", Operator.IS, "2024-02-30"), "is no value of day"),
        (Filter("at", Operator.IS, "noon"), "is no value of at"),
        (Filter("wall", Operator.IS, "x" * 99), "'x{50}' is no value of wall"),
        (Filter("many", Operator.IS, "a"), "no value to compare with"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(where: Filter, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        expression(where, SCHEMA)
