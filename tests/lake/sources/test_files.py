"""Rows from files: what is good arrives, what is bad is kept aside with its reason."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter
from pyspark.sql import SparkSession

from lakehold.connectors.error_translation import translate_source_errors
from lakehold.connectors.files.format_detection import detect_format
from lakehold.connectors.files.source import FileSource
from lakehold.connectors.sources.field_types import StreamField
from lakehold.connectors.sources.source import IncomingRows, ReadSpan
from lakehold.kit.errors import InvalidInputError
from lakehold.lake.errors import DataError
from tests.lake.sources.files import bad_rows, sorted_rows, write_file


def read(spark: SparkSession, *files: str, **formats: object) -> IncomingRows:
    source = FileSource(files, together="files")
    shape = replace(source.stream_format("files"), **formats)  # type: ignore[arg-type]
    return FileSource(files, together="files", formats={"files": shape}).read(spark, "files")


def test_bad_lines_are_kept_with_their_reasons(spark: SparkSession, tmp_path: Path) -> None:
    good = "".join(f"{number},2024-01-02,1.5,a {number}\n" for number in range(50))
    text = (
        "id,day,price,note\n" + good + "x,2024-01-02,1.5,type\n"
        "51,2024-13-02,1.5,month\n"
        "52,2024-01-02,1.5\n"
        '53,2024-01-02,1.5,a,"b"\n'
        '54,2024-01-02,1.5,"open\n'
        '55,2024-01-02,1.5,"a ""quote"", and more"\n'
        '56,2024-01-02,,5" pipe\n'
        "\n"
        "id,day,price,note\n"
        "57,2024-01-02,1.5," + "x" * 10_000_001 + "\n"
        "58,2024-01-02,1.5" + "," * 200_000 + "\n"
    )
    data = text.encode() + b"59,2024-01-02,1.5,caf\xe9\n"
    fields = (
        StreamField("id", "bigint"),
        StreamField("day", "date"),
        StreamField("price", "double"),
        StreamField("note"),
    )
    found = read(spark, write_file(tmp_path, "a+b [1]%.csv", data), fields=fields, encoding="utf-8", multiline=False)
    rows = sorted_rows(found.rows)
    assert len(rows) == 52
    assert (55, date(2024, 1, 2), 1.5, 'a "quote", and more') in rows
    assert (56, date(2024, 1, 2), None, '5" pipe') in rows
    bad = bad_rows(found.bad)
    assert {(reason, raw[:20]) for reason, raw, _ in bad} == {
        ("id is 'x', which is no bigint.", "x,2024-01-02,1.5,typ"),
        ("day is '2024-13-02', which is no date.", "51,2024-13-02,1.5,mo"),
        ("It has 3 values for 4 fields.", "52,2024-01-02,1.5"),
        ("It has 5 values for 4 fields.", "53,2024-01-02,1.5,a,"),
        ("It has a quote that is not closed.", '54,2024-01-02,1.5,"o'),
        ("It is 10,000,019 bytes long; at most 10,000,000 are read.", "57,2024-01-02,1.5,xx"),
        ("It has 200,003 values for 4 fields.", "58,2024-01-02,1.5,,,"),
        ("It has bytes that are not valid in this encoding.", "59,2024-01-02,1.5,ca"),
    }
    assert {place for _, _, place in bad} == {"a+b [1]%.csv"}
    assert max(len(raw) for _, raw, _ in bad) == 10_001
    assert found.total is not None
    assert found.total() == len(rows) + len(bad)


def test_files_with_other_headers_come_together_by_name(spark: SparkSession, tmp_path: Path) -> None:
    files = [
        write_file(tmp_path, "a.csv", "id,town\n1,Bern\n"),
        write_file(tmp_path, "b.csv.gz", "town,id,extra\nBasel,2,x\n"),
        write_file(tmp_path, "c.csv", ""),
        write_file(tmp_path, "d.csv", "id,town\n"),
    ]
    found = read(spark, *files)
    assert found.rows.columns == ["id", "town", "extra"]
    assert sorted_rows(found.rows) == [(1, "Bern", None), (2, "Basel", "x")]
    assert bad_rows(found.bad) == []


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_encodings_and_headless_files(spark: SparkSession, tmp_path: Path, encoding: str) -> None:
    found = read(spark, write_file(tmp_path, "a.csv", '1;Zürich\r\n2;"x;y"\r\n3;Genève\r\n', encoding))
    assert sorted_rows(found.rows) == [(1, "Zürich"), (2, "x;y"), (3, "Genève")]
    assert bad_rows(found.bad) == []


def test_values_over_several_lines(spark: SparkSession, tmp_path: Path) -> None:
    fine = write_file(tmp_path, "fine.csv", 'id,note\r\n1,"two\r\nlines"\r\nx,bad\r\n2,"a ""b"""\r\n3\r\n')
    found = read(spark, fine, fields=(StreamField("id", "bigint"), StreamField("note")))
    assert sorted_rows(found.rows) == [(1, "two\nlines"), (2, 'a "b"')]
    assert [(reason, raw.strip()) for reason, raw, _ in bad_rows(found.bad)] == [
        ("It has 1 value for 2 fields.", "3"),
        ("id is 'x', which is no bigint.", "x,bad"),
    ]
    torn = write_file(tmp_path, "torn.csv", 'id,note\n1,"two\nlines"\n2,"open\n3,swallowed\n')
    found = read(spark, torn, multiline=True)
    assert sorted_rows(found.rows) == []
    assert {reason for reason, _, _ in bad_rows(found.bad)} == {
        "It has a value over several lines, and the quotes do not match up."
    }
    assert "swallowed" in bad_rows(found.bad)[1][1]


def test_types_and_cursors_can_be_chosen(spark: SparkSession, tmp_path: Path) -> None:
    file = write_file(
        tmp_path, "a.csv", "id,price,at\n1,1.10,2024-01-01 00:00:00\n2,2.20,2024-01-02 00:00:00\n3,99999,\n"
    )
    shape = detect_format(file)
    assert shape.fields == (
        StreamField("id", "bigint"),
        StreamField("price", "double"),
        StreamField("at", "timestamp_ntz"),
    )
    shape = replace(
        shape,
        fields=(StreamField("id", "string"), StreamField("price", "decimal(5,2)"), StreamField("at", "timestamp")),
    )
    source = FileSource((file,), formats={"a.csv": shape})
    found = source.read(spark, "a.csv", ReadSpan("AT", "2024-01-01T00:00:00.000000Z"))
    assert [tuple(map(str, row)) for row in sorted_rows(found.rows)] == [("2", "2.20", "2024-01-02 00:00:00")]
    assert bad_rows(found.bad) == [("price is '99999', which is no decimal(5,2).", "3,99999,", "a.csv")]
    with pytest.raises(InvalidInputError, match="'soon' is not a valid value of at"):
        source.read(spark, "a.csv", ReadSpan("at", "soon"))


def test_json_lines_keep_what_is_nested_and_what_is_new(spark: SparkSession, tmp_path: Path) -> None:
    text = (
        '\ufeff{"id": 1, "who": {"name": "Ann", "tags": [1, 2]}}\n'
        "\n"
        '{"id": 2, "who": null, "new": [1]}\n'
        '{"id": "three"}\n{"id": 4} {"id": 5}\n[1]\nnull\n{"id": 6\n'
    )
    found = read(spark, write_file(tmp_path, "a.jsonl", text), fields=(StreamField("id", "bigint"), StreamField("who")))
    assert sorted_rows(found.rows) == [(1, '{"name":"Ann","tags":[1,2]}', None), (2, None, "[1]")]
    assert found.rows.columns == ["id", "who", "new"]
    assert [reason for reason, _, _ in bad_rows(found.bad)] == [
        "It is a list, not an object.",
        "It is not JSON: expecting ',' delimiter, at character 9.",
        "It is not JSON: extra data, at character 11.",
        "It is null, not an object.",
        "id is 'three', which is no bigint.",
    ]
    assert found.total is not None
    assert found.total() == 7


def test_a_json_array_is_read_record_by_record(spark: SparkSession, tmp_path: Path) -> None:
    many = ", ".join(f'{{"id": {number}, "text": "{"ä" * 300}"}}' for number in range(3_000))
    files = [
        write_file(tmp_path, "a.json", f"\ufeff[{many}]"),
        write_file(tmp_path, "b.json.gz", '[{"id": 1.5}, 7]'),
        write_file(tmp_path, "c.json", "[ ]"),
        write_file(tmp_path, "d.json", '{\n"id": -1}'),
    ]
    found = read(spark, *files)
    assert found.rows.count() == 3_001
    assert bad_rows(found.bad) == [
        ("It is a number, not an object.", "7", "b.json.gz, record 2"),
        ("id is 1.5, which is no bigint.", '{"id": 1.5}', "b.json.gz, record 1"),
    ]
    found.close()
    broken = write_file(tmp_path, "e.json", f'[{many}, {{"id": 1] ')
    with pytest.raises(DataError, match=r"e\.json is not valid JSON from record 3,001 on"):
        read(spark, broken)


def test_a_sheet_is_read_with_its_types(spark: SparkSession, tmp_path: Path) -> None:
    book = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(book) as workbook:
        sheet = workbook.add_worksheet("Orders")
        day, moment = workbook.add_format({"num_format": "yyyy-mm-dd"}), workbook.add_format({"num_format": 22})
        sheet.write_row(1, 1, ["id", "day", "at", "price", "name", "paid"])
        for row, number in enumerate((1, 2, 4), start=2):
            sheet.write_row(row, 1, [number, None, None, 1.5, f"n {number}", True])
            sheet.write_datetime(row, 2, datetime(2024, 1, number), day)  # noqa: DTZ001 - sheets know no zones
            sheet.write_datetime(row, 3, datetime(2024, 1, number, 10, 30), moment)  # noqa: DTZ001 - as above
        sheet.write_row(6, 1, ["five", None, None, "dear", "n"])
    shape = detect_format(str(book))
    assert [field.type for field in shape.fields][1:] == [*("date", "timestamp_ntz", "string", "string", "boolean")]
    typed = {"id": "bigint", "price": "double"}
    shape = replace(
        shape, fields=tuple(StreamField(each.name, typed.get(each.name, each.type)) for each in shape.fields)
    )
    found = FileSource((str(book),), formats={"book.xlsx": shape}).read(spark, "book.xlsx")
    assert [field.dataType.simpleString() for field in found.rows.schema.fields] == [
        *("bigint", "date", "timestamp_ntz", "double", "string", "boolean")
    ]
    assert sorted_rows(found.rows)[0] == (
        *(1, date(2024, 1, 1), datetime(2024, 1, 1, 10, 30), 1.5, "n 1", True),  # noqa: DTZ001 - as above
    )
    assert [(reason, place) for reason, _, place in bad_rows(found.bad)] == [
        ("id is 'five', which is no bigint; price is 'dear', which is no double.", "book.xlsx, Orders, row 7")
    ]
    found.close()


def test_parquet_keeps_its_types(spark: SparkSession, tmp_path: Path) -> None:
    moment = datetime(2024, 1, 2, tzinfo=UTC)
    pq.write_table(pa.table({"id": [1], "at": [moment], "deep": [{"x": [1]}]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"id": [2], "more": ["x"]}), tmp_path / "b.parquet")
    source = FileSource(tuple(map(str, tmp_path.iterdir())), together="all")
    found = source.read(spark, "all")
    assert {row["id"]: row["more"] for row in found.rows.collect()} == {1: None, 2: "x"}
    assert found.bad is None
    assert source.sample("all", 5).rows == ((1, "2024-01-02T00:00:00+00:00", '{"x": [1]}'),)


def test_a_file_that_spark_would_pass_over_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"_a\.csv is a hidden file"):
        read(spark, write_file(tmp_path, "_a.csv", "a\nx\n"))
    gone = FileSource((write_file(tmp_path, "b.csv", "a\nx\n"),)).read(spark, "b.csv")
    (tmp_path / "b.csv").unlink()
    with pytest.raises(DataError, match="damaged or missing file"), translate_source_errors("b.csv"):
        gone.rows.collect()


def test_files_behind_links_are_not_read(spark: SparkSession, tmp_path: Path) -> None:
    root, outside = tmp_path / "volumes", tmp_path / "outside"
    outside.mkdir()
    root.mkdir()
    (root / "in").mkdir()
    file = write_file(root / "in", "a.csv", "id\n1\n")
    write_file(outside, "a.csv", "id\n99\n")
    source = FileSource((file,), together="files", root=root)
    assert source.sample("files", 9).rows == (("1",),)
    # Swapped between the listing of the files and their use.
    (root / "in").rename(root / "was")
    (root / "in").symlink_to(outside)
    for use in (source.streams, source.check, lambda: source.sample("files", 9), lambda: source.read(spark, "files")):
        with pytest.raises(DataError, match=r"a\.csv is not there"):
            use()
