"""What a file is, from its beginning; without Spark."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from lakehold.connectors.files.format_detection import detect_format
from lakehold.connectors.files.settings import FileFormat, FileKind
from lakehold.connectors.files.source import FileSource
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.settings_schema import SettingsSchema
from lakehold.lake.errors import DataError
from tests.lake.sources.files import write_file

FORMAT = SettingsSchema[FileFormat]("format", FileFormat)


def types(shape: FileFormat) -> dict[str, str]:
    return {field.name: field.type for field in shape.fields}


def test_types_are_guessed_with_care(tmp_path: Path) -> None:
    text = (
        "id,zip,price,big,at,zoned,day,yes,word,empty\n"
        "1,01234,1.50,12345678901234567890,2024-01-02 03:04:05,2024-01-02T03:04:05Z,2024-01-02,true,x,\n"
        "-2,99999,2,1,2024-01-02T03:04,2024-01-02T03:04:05+02:00,2024-02-29,FALSE,1,\n"
    )
    assert types(detect_format(write_file(tmp_path, "a.csv", text))) == {
        "id": "bigint",
        "zip": "string",
        "price": "double",
        "big": "string",
        "at": "timestamp_ntz",
        "zoned": "timestamp",
        "day": "date",
        "yes": "boolean",
        "word": "string",
        "empty": "string",
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a,b\n1,2\n", (",", '"', True, False)),
        ("a;b\n1,5;2,5\n", (";", '"', True, False)),
        ("a\tb\n1,5\tx\n", ("\t", '"', True, False)),
        ("a|b\n1|2\n", ("|", '"', True, False)),
        ("1,2\n3,4\n", (",", '"', False, False)),
        ("a,b\n'x,y',1\n'z',2\n", (",", "'", True, False)),
        ('a,b\n1,"x\ny"\n', (",", '"', True, True)),
        ("alone\nx\ny\n", (",", '"', True, False)),
    ],
)
def test_signs_are_found(tmp_path: Path, text: str, found: tuple[str, str, bool, bool]) -> None:
    shape = detect_format(write_file(tmp_path, "a.csv", text))
    assert (shape.delimiter, shape.quote, shape.header, shape.multiline) == found


def test_a_backslash_may_stand_before_a_quote(tmp_path: Path) -> None:
    assert detect_format(write_file(tmp_path, "a.csv", 'a,b\n"x\\"y",1\n')).escape == "\\"


@pytest.mark.parametrize(
    ("encoding", "found", "is_certain"),
    [
        ("utf-8", "utf-8", False),
        ("utf-8-sig", "utf-8", False),
        ("utf-16", "utf-16", False),
        ("utf-16-le", "utf-16le", False),
        ("cp1252", "windows-1252", True),
    ],
)
def test_encodings_are_found(tmp_path: Path, encoding: str, found: str, is_certain: bool) -> None:
    shape = detect_format(write_file(tmp_path, "a.csv", "name,town\nAnn,Zürich\n", encoding))
    assert (shape.encoding, list(types(shape)), bool(shape.notes)) == (found, ["name", "town"], is_certain)


def test_a_sign_that_is_cut_at_the_end_of_the_beginning_is_no_wrong_encoding(tmp_path: Path) -> None:
    text = "n,m\n" + "1,é\n" * 300_000
    assert detect_format(write_file(tmp_path, "b.csv", text)).encoding == "utf-8"


def test_names_are_made_distinct_and_that_is_told(tmp_path: Path) -> None:
    shape = detect_format(write_file(tmp_path, "a.csv", "id,,ID,name,\nx,y,z,u,v\n"))
    assert list(types(shape)) == ["id", "column_2", "ID_2", "name", "column_5"]
    assert shape.notes[1] == "Field 3 is called 'ID' like another one; it is read as 'ID_2'."


def test_what_was_guessed_can_be_kept_and_changed(tmp_path: Path) -> None:
    shape = detect_format(write_file(tmp_path, "a.csv.gz", "id,price\n1,2.5\n"))
    settings = json.loads(json.dumps(asdict(shape)))
    assert FORMAT.parse(settings).validated() == shape
    settings["fields"][1]["type"] = "DECIMAL(10, 2)"
    assert FORMAT.parse(settings).validated().field_type("PRICE") == "decimal(10,2)"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"kind": "pdf"}, "cannot be 'pdf'"),
        ({"delimiter": "||"}, "delimiter must be one character"),
        ({"delimiter": '"'}, "must differ"),
        ({"encoding": "klingon"}, "'klingon' cannot be read"),
        ({"fields": [{"name": "a", "type": "int; drop"}]}, "no type 'int; drop'"),
        ({"colour": "red"}, "no setting 'colour'"),
    ],
)
def test_a_format_that_cannot_be_is_refused(changed: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        FORMAT.parse({"kind": "separated", **changed}).validated()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "", "a.csv is empty"),
        ("a.csv", "\n \n", "a.csv is empty"),
        ("a.json", "no json", "not JSON: it begins with 'n'"),
        ("a.json", "[{", "not valid JSON from record 1"),
        ("a.bin", bytes(range(256)) * 9, "is not a text file"),
        ("a.parquet", b"PAR1 and then nothing", "damaged"),
        ("a.xlsx", b"PK\x03\x04 and then nothing", "is not a workbook"),
        ("a.csv", "x" * 3_000_000, "longer than a million"),
        ("a.jsonl", '{"a": 1}'.encode("utf-16"), "not in utf-8"),
    ],
)
def test_what_is_no_table_is_told_by_name(tmp_path: Path, name: str, content: str | bytes, said: str) -> None:
    with pytest.raises(DataError, match=said):
        detect_format(write_file(tmp_path, name, content))


def test_a_name_must_say_whether_a_file_is_packed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(Path(write_file(tmp_path, "b.csv.gz", "a\n1\n")).read_bytes())
    (tmp_path / "c.csv.gz").write_bytes(b"a\n1\n")
    (tmp_path / "d.csv.gz").write_bytes(Path(write_file(tmp_path, "b.csv.gz", "a\n1\n" * 9_999)).read_bytes()[:50])
    for name, said in (("a.csv", "does not end in .gz"), ("c.csv.gz", "not compressed"), ("d.csv.gz", "damaged")):
        with pytest.raises(DataError, match=said):
            detect_format(str(tmp_path / name))


def test_kinds_are_told_apart_by_what_is_in_them(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": pa.array([1]), "t": pa.array(["x"])}), tmp_path / "table")
    assert types(detect_format(str(tmp_path / "table"))) == {"n": "bigint", "t": "string"}
    array = detect_format(write_file(tmp_path, "array", '[{"n": 1, "deep": {"x": 1}}, {"n": 1.5, "yes": true}]'))
    assert (array.kind, types(array)) == (FileKind.JSON, {"n": "double", "deep": "string", "yes": "boolean"})
    assert detect_format(write_file(tmp_path, "one", '{\n "n": 1\n}')).kind is FileKind.JSON
    assert detect_format(write_file(tmp_path, "lines", '{"n": 1}\n{"n": 2}\n')).kind is FileKind.LINES


def test_a_sample_shows_rows_and_streams_are_files_and_sheets(tmp_path: Path) -> None:
    book = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(book) as workbook:
        for name in ("one", "two"):
            sheet = workbook.add_worksheet(name)
            for row, cells in enumerate((["id", "name"], [1, f"{name} a"], [2, "b"])):
                sheet.write_row(row, 0, cells)
    source = FileSource((write_file(tmp_path, "a.csv", "id,name\n1,\n2,b\n"), str(book)))
    assert [stream.name for stream in source.streams()] == ["a.csv", "book.xlsx/one", "book.xlsx/two"]
    source.check()
    assert source.sample("a.csv", 1).rows == (("1", None),)
    assert source.sample("book.xlsx/two", 9).rows == ((1, "two a"), (2, "b"))
    with pytest.raises(NotFoundError, match=r"no 'b\.csv' there"):
        source.sample("b.csv", 1)
    with pytest.raises(NotFoundError, match=r"no file gone\.csv"):
        FileSource((str(tmp_path / "gone.csv"),)).check()


@pytest.mark.parametrize(
    ("name", "content", "shape", "fields"),
    [
        ("a.csv", "id;n\n1;2\n", FileFormat(FileKind.SEPARATED, delimiter=","), {"id;n": "string"}),
        ("a.csv", "id;n\n1;2\n", FileFormat(FileKind.SEPARATED, delimiter=";"), {"id": "bigint", "n": "bigint"}),
        (
            "a.csv",
            "id;n\n1;2\n",
            FileFormat(FileKind.SEPARATED, delimiter=";", header=False),
            {"column_1": "string", "column_2": "string"},
        ),
        ("a.txt", '{"id": 1}\n', FileFormat(FileKind.LINES), {"id": "bigint"}),
    ],
)
def test_with_other_signs_a_sample_finds_the_fields_anew(
    tmp_path: Path, name: str, content: str, shape: FileFormat, fields: dict[str, str]
) -> None:
    source = FileSource((write_file(tmp_path, name, content.encode()),), formats={name: shape})
    found = source.sample(name, 5)
    assert {field.name: field.type for field in found.fields} == fields
    assert len(found.rows[0]) == len(fields)
    # What is read is what was set: fields that nobody chose stay text.
    assert source.stream_format(name).fields == ()
