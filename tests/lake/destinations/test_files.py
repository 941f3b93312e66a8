"""Files into a folder: whole or not there, once for each mark, and with nothing lost on the way."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from python_calamine import CalamineWorkbook

from lakehold.connectors.destinations.file_formats import (
    CsvFormat,
    ExcelFormat,
    JsonLinesFormat,
    ParquetFormat,
)
from lakehold.connectors.files.destination import FileDestination, deliver_files
from lakehold.kit.errors import ConflictError, InvalidInputError, UnavailableError
from lakehold.lake.errors import DataError, QueryError

EVERYTHING = """
    SELECT 1 AS id, 'Zoë; "the" one\nand, only' AS name, 12.50BD AS price, timestamp'2026-03-29 01:30:00.123456' AS at,
      date'2026-03-29' AS day, true AS yes, named_struct('a', 1, 'b', CAST(NULL AS int)) AS nested, X'00ff' AS raw,
      double('NaN') AS odd, interval 1 day AS span, time'10:00:00' AS o_clock, NULL AS nothing, '' AS empty
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    # As names of folders may be.
    made = tmp_path / "out 100%"
    made.mkdir()
    return made


def seen(folder: Path) -> list[str]:
    """What somebody who lists the folder sees."""
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def rough(folder: Path) -> list[str]:
    """What is left of the making."""
    return sorted(path.name for path in (folder / ".lakehold").iterdir() if path.suffix != ".json")


def numbers(spark: SparkSession, count: int) -> DataFrame:
    return spark.range(count).repartition(3).sortWithinPartitions("id")


def test_csv_is_one_file_with_everything_in_it_and_is_made_once(spark: SparkSession, folder: Path) -> None:
    how = FileDestination(str(folder), "orders", CsvFormat(delimiter=";"))
    done = deliver_files(spark.sql(EVERYTHING), how, "run 1")
    file = folder / "orders.csv"
    assert (done.rows, done.size, done.places) == (1, file.stat().st_size, (str(file),))
    assert (done.sure, done.again) == (True, False)
    with file.open(encoding="utf-8", newline="") as opened:
        names, row = csv.reader(opened, delimiter=";")
    assert dict(zip(names, row, strict=True)) == {
        "id": "1",
        "name": 'Zoë; "the" one\nand, only',
        "price": "12.50",
        "at": "2026-03-29T01:30:00.123456Z",
        "day": "2026-03-29",
        "yes": "true",
        "nested": '{"a":1,"b":null}',
        "raw": "AP8=",
        "odd": "NaN",
        "span": "INTERVAL '1' DAY",
        "o_clock": "10:00:00",
        "nothing": "",
        "empty": "",
    }
    # A reader can tell null from an empty text.
    assert file.read_text(encoding="utf-8").endswith(';;""\n')
    assert (seen(folder), rough(folder)) == (["orders.csv"], [])
    # Run again, it changes nothing, whatever the rows are now; another one takes its place.
    file.write_text("as it was", encoding="utf-8")
    assert deliver_files(numbers(spark, 9), how, "run 1") == replace(done, again=True)
    assert file.read_text(encoding="utf-8") == "as it was"
    assert deliver_files(spark.range(2).limit(0), replace(how, format=CsvFormat()), "run 2").rows == 0
    assert file.read_text(encoding="utf-8") == "id\n"
    assert deliver_files(spark.range(1), how, "run 1").again


def test_spreadsheets_run_nothing(spark: SparkSession, folder: Path) -> None:
    texts = ["=1+1", "+49", "-5", "@x", "\tx", "\rx", "\nx", "＝1", " =1", "a=1", "", None]
    rows = spark.createDataFrame([(text, -5) for text in texts], "`=name` string, n int")
    deliver_files(rows, FileDestination(str(folder), "safe"), "m")
    with (folder / "safe.csv").open(encoding="utf-8", newline="") as opened:
        names, *safe = csv.reader(opened)
    assert names == ["'=name", "n"]
    assert [cell for cell, _ in safe] == [
        *("'=1+1", "'+49", "'-5", "'@x", "'\tx", "'\rx", "'\nx", "'＝1"),
        *(" =1", "a=1", "", ""),
    ]
    assert {number for _, number in safe} == {"-5"}


def test_no_row_of_one_field_is_lost(spark: SparkSession, folder: Path) -> None:
    rows = spark.sql("SELECT * FROM VALUES (1), (NULL), (3) AS t(n)").coalesce(1)
    assert deliver_files(rows, FileDestination(str(folder), "n", CsvFormat(header=False)), "m").rows == 3
    assert (folder / "n.csv").read_text(encoding="utf-8") == '1\n""\n3\n'


def test_an_encoding_is_kept_and_what_it_cannot_say_is_refused(spark: SparkSession, folder: Path) -> None:
    old = FileDestination(str(folder), "old", CsvFormat(encoding="cp1252"))
    deliver_files(spark.sql("SELECT 'Zoë' AS `näme`"), old, "m1")
    assert (folder / "old.csv").read_bytes() == "näme\nZoë\n".encode("cp1252")
    deliver_files(
        spark.sql("SELECT 'Zoë' AS n"), FileDestination(str(folder), "excel", CsvFormat(encoding="utf-8-sig")), "m1"
    )
    assert (folder / "excel.csv").read_bytes() == "\ufeffn\nZoë\n".encode()
    with pytest.raises(DataError, match=r"cp1252 has no 'Ж' \(U\+0416\)"):
        deliver_files(spark.sql("SELECT 'Жёлтый' AS n"), old, "m2")
    assert (folder / "old.csv").read_bytes() == "näme\nZoë\n".encode("cp1252")
    assert (seen(folder), rough(folder)) == (["excel.csv", "old.csv"], [])


def test_json_lines_and_parquet_keep_types_and_order(spark: SparkSession, folder: Path) -> None:
    deliver_files(spark.sql(EVERYTHING), FileDestination(str(folder), "one", JsonLinesFormat()), "m")
    (row,) = [json.loads(line) for line in (folder / "one.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (row["id"], row["price"], row["nested"]) == (1, 12.5, {"a": 1, "b": None})
    assert (row["at"], row["raw"], row["odd"]) == ("2026-03-29T01:30:00.123456Z", "AP8=", "NaN")
    assert (row["o_clock"], row["nothing"], row["empty"]) == ("10:00:00", None, "")
    deliver_files(spark.sql(EVERYTHING), FileDestination(str(folder), "one", ParquetFormat()), "m")
    (row,) = pq.read_table(folder / "one.parquet").to_pylist()
    assert (row["price"], row["raw"], row["nested"]) == (Decimal("12.50"), b"\x00\xff", {"a": 1, "b": None})
    assert row["at"] == datetime(2026, 3, 29, 1, 30, 0, 123456, UTC)
    assert seen(folder) == ["one.jsonl", "one.parquet"]
    done = deliver_files(
        numbers(spark, 1000).orderBy("id"), FileDestination(str(folder), "many", JsonLinesFormat()), "m"
    )
    lines = (folder / "many.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == list(range(1000))
    assert done.rows == 1000


def test_a_workbook_has_cells_of_their_kind_and_more_sheets_if_one_is_full(spark: SparkSession, folder: Path) -> None:
    texts = "'=1+1' AS formula, 12345678901234567890BD AS long, date'1850-01-01' AS ancient"
    rows = spark.sql(f"SELECT *, {texts} FROM ({EVERYTHING})")
    assert deliver_files(rows, FileDestination(str(folder), "book", ExcelFormat()), "m").words == ""
    book = CalamineWorkbook.from_path(str(folder / "book.xlsx"))
    names, cells = book.get_sheet_by_name("Rows").to_python()
    row = dict(zip(map(str, names), cells, strict=True))
    assert (row["id"], row["price"], row["day"], row["yes"]) == (1, 12.5, date(2026, 3, 29), True)
    assert row["at"] == datetime(2026, 3, 29, 1, 30, 0, 123000)  # noqa: DTZ001 - Excel knows no zones
    assert (row["formula"], row["long"], row["ancient"]) == ("=1+1", "12345678901234567890", "1850-01-01")
    assert (row["odd"], row["nothing"], row["nested"]) == ("NaN", "", '{"a":1,"b":null}')
    many = deliver_files(
        numbers(spark, 10).orderBy("id"), FileDestination(str(folder), "many", ExcelFormat(lines=4)), "m"
    )
    assert (many.rows, many.words) == (10, "4 sheets: one holds 4 lines.")
    book = CalamineWorkbook.from_path(str(folder / "many.xlsx"))
    assert book.sheet_names == ["Rows", "Rows 2", "Rows 3", "Rows 4"]
    sheets = [book.get_sheet_by_name(name).to_python() for name in book.sheet_names]
    assert [sheet[0] for sheet in sheets] == [["id"]] * 4
    assert [row[0] for sheet in sheets for row in sheet[1:]] == list(range(10))
    assert deliver_files(spark.range(0), FileDestination(str(folder), "none", ExcelFormat()), "m").rows == 0
    assert CalamineWorkbook.from_path(str(folder / "none.xlsx")).get_sheet_by_name("Rows").to_python() == [["id"]]
    with pytest.raises(DataError, match="'long' has 40,000 letters"):
        deliver_files(
            spark.sql("SELECT repeat('x', 40000) AS long"), FileDestination(str(folder), "book", ExcelFormat()), "m2"
        )
    assert rough(folder) == []


def test_rows_that_cannot_be_made_leave_the_file_as_it_was(spark: SparkSession, folder: Path) -> None:
    how = FileDestination(str(folder), "n")
    deliver_files(spark.range(1), how, "m1")
    with pytest.raises(QueryError, match=r"Division by zero") as caught:
        deliver_files(spark.sql("SELECT 1 / id AS x FROM range(3)"), how, "m2")
    assert "org.apache" not in str(caught.value)
    with pytest.raises(DataError, match="'id' and 'ID'"):
        deliver_files(spark.range(1).selectExpr("id", "id AS ID"), how, "m2")
    with pytest.raises(DataError, match="no fields"):
        deliver_files(spark.range(1).select(), how, "m2")
    assert (folder / "n.csv").read_text(encoding="utf-8") == "id\n0\n"
    assert rough(folder) == []
    # What was wrong was put right: the same delivery goes through.
    assert deliver_files(spark.range(2), how, "m2").rows == 2
    (folder / "file").write_text("", encoding="utf-8")
    with pytest.raises(UnavailableError, match=r"The file 'n.csv' could not be written"):
        deliver_files(spark.range(1), replace(how, folder=str(folder / "file")), "m")


def test_a_half_made_delivery_of_a_dead_process_is_made_anew(spark: SparkSession, folder: Path) -> None:
    how = FileDestination(str(folder), "rows", JsonLinesFormat())
    deliver_files(spark.range(3), how, "m1")
    receipt = next((folder / ".lakehold").glob("*.json"))
    # It died after the file was moved and before the receipt was written.
    receipt.rename(receipt.with_suffix(".json.rough"))
    left = folder / ".lakehold" / receipt.stem / "spread"
    left.mkdir(parents=True)
    (left / "part-00000.json").write_text("half", encoding="utf-8")
    done = deliver_files(spark.range(3).coalesce(1), how, "m1")
    assert not done.again
    assert (folder / "rows.jsonl").read_text(encoding="utf-8") == '{"id":0}\n{"id":1}\n{"id":2}\n'
    assert (seen(folder), rough(folder)) == (["rows.jsonl"], [])


@pytest.mark.parametrize(
    ("name", "shape", "said"),
    [
        ("../x", CsvFormat(), "cannot be called"),
        (".x", CsvFormat(), "cannot be called"),
        ("a\\b", CsvFormat(), "cannot be called"),
        ("", CsvFormat(), "must not be empty"),
        ("x", CsvFormat(delimiter=""), "cannot be a delimiter"),
        ("x", CsvFormat(delimiter="\n"), "cannot be a delimiter"),
        ("x", CsvFormat(encoding="klingon"), "not a text encoding"),
        ("x", CsvFormat(encoding="base64"), "not a text encoding"),
    ],
)
def test_settings_that_make_no_file_are_refused(name: str, shape: CsvFormat, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        FileDestination("/nowhere", name, shape).check()


@pytest.mark.parametrize("part", ["reports", "reports/2031", "reports/2031/.lakehold"])
def test_nothing_is_written_through_a_link(spark: SparkSession, tmp_path: Path, part: str) -> None:
    root, outside = tmp_path / "volumes", tmp_path / "outside"
    (root / part).parent.mkdir(parents=True)
    outside.mkdir()
    (root / part).symlink_to(outside)
    how = FileDestination(str(root / "reports/2031"), "rows", JsonLinesFormat(), root=root)
    with pytest.raises(UnavailableError):
        deliver_files(spark.range(1), how, "m1")
    assert list(outside.iterdir()) == []


def test_a_link_in_place_of_the_file_is_replaced_itself(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_bytes(b"own")
    (folder / "rows.jsonl").symlink_to(tmp_path / "own.jsonl")
    how = FileDestination(str(folder), "rows", JsonLinesFormat())
    with pytest.raises(ConflictError):
        deliver_files(spark.range(1), replace(how, only_own=True), "m1")
    deliver_files(spark.range(1), how, "m2")
    assert (tmp_path / "own.jsonl").read_bytes() == b"own"
    assert not (folder / "rows.jsonl").is_symlink()


def test_a_folder_that_is_swapped_while_rows_are_written_is_not_published_to(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, outside = tmp_path / "volumes", tmp_path / "outside"
    (root / "out").mkdir(parents=True)
    outside.mkdir()

    def write(*_: object) -> tuple[int, str]:
        (root / "out").rename(root / "was")
        (root / "out").symlink_to(outside)
        return 1, ""

    monkeypatch.setattr("lakehold.connectors.files.destination._write_partial", write)
    with pytest.raises(UnavailableError):
        deliver_files(spark.range(1), FileDestination(str(root / "out"), "rows", JsonLinesFormat(), root=root), "m1")
    assert list(outside.iterdir()) == []
