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

from lakehold.kit.errors import ConflictError, InvalidInputError, UnavailableError
from lakehold.kit.settings import Settings
from lakehold.lake.filter_expressions import build_expression
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.lake.previews import FilterOperator, PreviewFilter, PreviewOptions, TablePreview, read_preview
from lakehold.lake.spark.table_writer import TableWriteOptions, WriteMode, write_rows
from lakehold.lake.spark.tables import Tables


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[IcebergCatalog]:
    """In a file: which metadata is valid is asked of the lake, in whatever database it is kept."""
    found = IcebergCatalog(Settings(data=tmp_path))
    yield found
    found.close()


def ids(found: TablePreview) -> list[int]:
    return sorted(found.rows.column("id").to_pylist())


def parquet_files(tmp_path: Path, place: TableIdentifier) -> set[Path]:
    return set((tmp_path / "warehouse" / place.namespace / place.table / "data").rglob("*.parquet"))


WITHOUT_SPARK = """
import sys
from pathlib import Path
from lakehold.kit.settings import Settings
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.lake.previews import read_preview
assert "pyiceberg" not in sys.modules
lake = IcebergCatalog(Settings(data=Path(sys.argv[1])))
print(len(read_preview(lake, TableIdentifier(1, int(sys.argv[2]))).rows))
assert not [name for name in sys.modules if name.startswith(("pyspark", "py4j", "lakehold.lake.spark"))]
"""


def test_the_first_rows_are_shown_without_spark_and_without_the_other_files(
    spark: SparkSession, tables: Tables, lake: IcebergCatalog, place: TableIdentifier, tmp_path: Path
) -> None:
    with pytest.raises(ConflictError, match="no data yet"):
        read_preview(lake, place)
    rows = spark.range(0, 300, 1, 3).selectExpr("id", "id * 2 AS twice", "concat('n', id) AS name")
    first = write_rows(tables, place, rows.limit(0), TableWriteOptions(WriteMode.APPEND, "w0"))
    assert (len(read_preview(lake, place).rows), read_preview(lake, place).more) == (0, False)
    write_rows(tables, place, rows, TableWriteOptions(WriteMode.APPEND, "w1"))
    whole = read_preview(lake, place, PreviewOptions(rows=1_000))
    assert (ids(whole), whole.more) == (list(range(300)), False)
    some = read_preview(lake, place, PreviewOptions(rows=7, fields=["NAME", "id", "name"]))
    assert (some.rows.column_names, len(some.rows), some.more) == (["name", "id"], 7, True)
    assert all(row["name"] == f"n{row['id']}" for row in some.rows.to_pylist())
    assert read_preview(lake, place, PreviewOptions(rows=300)).more is False
    assert first.total == 0

    opened = ids(some)[0] // 100
    for file in parquet_files(tmp_path, place):
        if not file.name.startswith(f"0000{opened}"):
            file.unlink()
    assert len(read_preview(lake, place, PreviewOptions(rows=7)).rows) == 7
    with pytest.raises(UnavailableError, match="Files of the table are missing"):
        read_preview(lake, place, PreviewOptions(rows=250))

    write_rows(tables, place, spark.sql("SELECT 999L AS id"), TableWriteOptions(WriteMode.OVERWRITE, "w2"))
    assert read_preview(lake, place).rows.to_pylist() == [{"id": 999, "twice": None, "name": None}]
    completed = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", WITHOUT_SPARK, str(tmp_path), str(place.number)], check=True, capture_output=True
    )
    assert completed.stdout.strip() == b"1"


def test_deleted_rows_do_not_show(
    spark: SparkSession, tables: Tables, lake: IcebergCatalog, place: TableIdentifier
) -> None:
    rows = spark.range(0, 6_000, 1, 3).selectExpr("id", "id AS n", "id % 2 AS part")
    write_rows(tables, place, rows, TableWriteOptions(WriteMode.APPEND, "w1", partitioned_by=["part"]))
    session = tables.session
    session.sql(f"DELETE FROM {place.sql} WHERE id % 7 = 0 AND id < 3000")
    session.sql(f"DELETE FROM {place.sql} WHERE id BETWEEN 2000 AND 3999 AND id <> 2500")
    write_rows(
        tables,
        place,
        spark.sql("SELECT 5L AS id, -5L AS n, 1L AS part"),
        TableWriteOptions(WriteMode.MERGE, "w2", keys=["id"]),
    )
    write_rows(
        tables, place, spark.sql("SELECT 7L AS id, 7L AS n, 1L AS part"), TableWriteOptions(WriteMode.APPEND, "w3")
    )
    current = tables.current_metadata(place).current
    assert current is not None
    assert current.count("total-position-deletes") > 1_000
    expected = sorted(tuple(row) for row in tables.read(place).collect())
    found = read_preview(lake, place, PreviewOptions(rows=10_000))
    assert sorted((row["id"], row["n"], row["part"]) for row in found.rows.to_pylist()) == expected
    some = read_preview(
        lake, place, PreviewOptions(rows=100, where=[PreviewFilter("id", FilterOperator.AT_LEAST, 1_990)])
    )
    assert set(ids(some)) <= {row[0] for row in expected if row[0] >= 1_990}
    assert len(some.rows) == 100
    one = read_preview(lake, place, PreviewOptions(where=[PreviewFilter("part", FilterOperator.IS, 1)], rows=10_000))
    assert ids(one) == sorted(row[0] for row in expected if row[2] == 1)
    assert ids(read_preview(lake, place, PreviewOptions(where=[PreviewFilter("id", FilterOperator.IS, 2_001)]))) == []


def test_fields_are_shown_as_the_table_has_them_now(
    spark: SparkSession, tables: Tables, lake: IcebergCatalog, place: TableIdentifier
) -> None:
    nested = ["struct(id AS a, array(id, NULL) AS l) AS s", "map('k', struct(id)) AS m", "array(struct(id)) AS l"]
    old = spark.range(2).selectExpr("id", *nested, "CAST(id AS int) AS n", "'x' AS `old ü.name`", "1 AS gone")
    write_rows(tables, place, old, TableWriteOptions(WriteMode.APPEND, "w1"))
    for change in (
        "RENAME COLUMN `old ü.name` TO `new name`",
        "DROP COLUMN gone",
        "ADD COLUMN gone string",
        "ADD COLUMN s.b int",
        "ALTER COLUMN n TYPE bigint",
    ):
        tables.session.sql(f"ALTER TABLE {place.sql} {change}")
    new = spark.sql("SELECT 5L AS id, 5000000000L AS n, 'g' AS gone, 'y' AS `new name`")
    write_rows(tables, place, new, TableWriteOptions(WriteMode.APPEND, "w2"))
    expected = {row.id: row.asDict(recursive=True) for row in tables.read(place).collect()}
    found = {
        row["id"]: {**row, "m": None if row["m"] is None else dict(row["m"])}
        for row in read_preview(lake, place).rows.to_pylist()
    }
    assert found == expected
    assert read_preview(lake, place, PreviewOptions(fields=["gone"])).rows.column("gone").to_pylist().count("g") == 1
    assert ids(
        read_preview(lake, place, PreviewOptions(where=[PreviewFilter("new name", FilterOperator.IS, "x")]))
    ) == [
        0,
        1,
    ]


def test_rows_are_found_by_what_is_in_them(
    spark: SparkSession, tables: Tables, lake: IcebergCatalog, place: TableIdentifier
) -> None:
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
    write_rows(tables, place, spark.range(0, 20, 1, 4).selectExpr(*fields), TableWriteOptions(WriteMode.APPEND, "w1"))
    table = {
        PreviewFilter("ID", FilterOperator.IS, "3"): [3],
        PreviewFilter("id", FilterOperator.IS_NOT, 3): [each for each in range(20) if each != 3],
        PreviewFilter("id", FilterOperator.LESS, 2): [0, 1],
        PreviewFilter("id", FilterOperator.AT_MOST, 2): [0, 1, 2],
        PreviewFilter("id", FilterOperator.MORE, 18): [19],
        PreviewFilter("id", FilterOperator.AT_LEAST, 18): [18, 19],
        PreviewFilter("name", FilterOperator.STARTS, "name 1"): [1, 10, 11, 13, 14, 15, 17, 18, 19],
        PreviewFilter("name", FilterOperator.IS_NOT, "name 1"): [each for each in range(20) if each % 4 and each != 1],
        PreviewFilter("name", FilterOperator.EMPTY): [0, 4, 8, 12, 16],
        PreviewFilter("name", FilterOperator.FILLED): [each for each in range(20) if each % 4],
        PreviewFilter("even", FilterOperator.IS, "False"): list(range(1, 20, 2)),
        PreviewFilter("even", FilterOperator.IS, True): list(range(0, 20, 2)),
        PreviewFilter("price", FilterOperator.IS, "1.5"): [6],
        PreviewFilter("price", FilterOperator.LESS, Decimal("0.50")): [0, 1],
        PreviewFilter("ratio", FilterOperator.MORE, 4.5): [19],
        PreviewFilter("day", FilterOperator.IS, date(2024, 1, 3)): [2],
        PreviewFilter("at", FilterOperator.LESS, "2024-01-01 01:00:02+01:00"): [0, 1],
        PreviewFilter("at", FilterOperator.AT_MOST, datetime(2024, 1, 1, 0, 0, 1, tzinfo=UTC)): [0, 1],
        PreviewFilter("wall", FilterOperator.LESS, "2024-01-01T00:00:02"): [0, 1],
        PreviewFilter("many", FilterOperator.EMPTY): [],
    }
    found = {where: ids(read_preview(lake, place, PreviewOptions(where=[where], fields=["id"]))) for where in table}
    assert found == table


def test_a_preview_is_bounded(
    spark: SparkSession, tables: Tables, lake: IcebergCatalog, place: TableIdentifier
) -> None:
    rows = spark.range(0, 4_000, 1, 2).selectExpr("id", "repeat('x', CAST(id % 2000 AS int)) AS text")
    write_rows(tables, place, rows, TableWriteOptions(WriteMode.APPEND, "w1"))
    small = read_preview(lake, place, PreviewOptions(rows=2_000, size=20_000))
    assert (0 < len(small.rows) < 300, small.rows.nbytes <= 20_000, small.more) == (True, True, True)
    none = read_preview(lake, place, PreviewOptions(size=0))
    assert (len(none.rows), none.more) == (0, True)
    rare = PreviewOptions(where=[PreviewFilter("text", FilterOperator.IS, "xw")], scan_limit=1_000)
    assert (len(read_preview(lake, place, rare).rows), read_preview(lake, place, rare).more) == (0, True)
    with pytest.raises(InvalidInputError, match="at most 100,000 rows"):
        read_preview(lake, place, PreviewOptions(rows=100_001))
    with pytest.raises(InvalidInputError, match="at least one field"):
        read_preview(lake, place, PreviewOptions(fields=[]))
    with pytest.raises(InvalidInputError, match="no field 'nr'"):
        read_preview(lake, place, PreviewOptions(fields=["nr"]))


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
        (PreviewFilter("nr", FilterOperator.IS, 1), "no field 'nr'"),
        (PreviewFilter("n", FilterOperator.IS, "ann"), "'ann' is not a valid value of n, which is int"),
        (PreviewFilter("n", FilterOperator.IS, "1.5"), "'1.5' is not a valid value of n"),
        (PreviewFilter("n", FilterOperator.IS, 2**31), "is not a valid value of n"),
        (PreviewFilter("n", FilterOperator.IS), "has no value to compare with"),
        (PreviewFilter("n", FilterOperator.STARTS, "1"), "n is not a text"),
        (PreviewFilter("n", FilterOperator.EMPTY, 1), "takes no value"),
        (PreviewFilter("price", FilterOperator.IS, "1.005"), "is not a valid value of price, which is decimal"),
        (PreviewFilter("price", FilterOperator.IS, "much"), "is not a valid value of price"),
        (PreviewFilter("price", FilterOperator.IS, "inf"), "is not a valid value of price"),
        (PreviewFilter("ratio", FilterOperator.IS, "nan"), "is not a valid value of ratio"),
        (PreviewFilter("even", FilterOperator.IS, "yes"), "is not a valid value of even"),
        (PreviewFilter("even", FilterOperator.MORE, "true"), "have no order"),
        (PreviewFilter("day", FilterOperator.IS, "2024-02-30"), "is not a valid value of day"),
        (PreviewFilter("at", FilterOperator.IS, "noon"), "is not a valid value of at"),
        (PreviewFilter("wall", FilterOperator.IS, "x" * 99), "'x{50}' is not a valid value of wall"),
        (PreviewFilter("many", FilterOperator.IS, "a"), "cannot be compared"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(where: PreviewFilter, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        build_expression(where, SCHEMA)
