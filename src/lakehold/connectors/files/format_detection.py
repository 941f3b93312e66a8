"""Detects the format of a file from its first bytes."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakehold.connectors.files import excel, file_head
from lakehold.connectors.files.file_head import FileHead, read_head
from lakehold.connectors.files.json_array import sample_array
from lakehold.connectors.files.settings import FileFormat, FileKind
from lakehold.connectors.sources import field_types, json_records
from lakehold.connectors.sources.field_types import StreamField, distinct_names
from lakehold.lake.errors import DataError

_KIND_BY_SUFFIX = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), FileKind.SEPARATED),
    **dict.fromkeys((".jsonl", ".ndjson"), FileKind.LINES),
}
_WORKBOOK_MAGIC = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_SAMPLE_RECORDS = 1_000


def detect_format(path: str) -> FileFormat:
    """Return the format of a file, as far as its first bytes tell."""
    start = read_head(path)
    if not start.data.strip():
        raise DataError(f"{start.name} is empty.", "Choose a file with at least the names of its fields.")
    if start.data.startswith(b"PAR1"):
        return FileFormat(
            FileKind.PARQUET, tuple(StreamField(each.name, spark_type(each.type)) for each in read_parquet_schema(path))
        )
    if start.data.startswith(_WORKBOOK_MAGIC):
        return excel.detect_sheet_format(path)
    encoding = start.encoding()
    text = start.text(encoding)
    kind = _detect_kind(start, text)
    if kind is FileKind.SEPARATED:
        return detect_csv_format(start, encoding, text)
    if encoding != "utf-8":
        raise DataError(f"{start.name} is JSON, but not in utf-8.", "Save it as utf-8.")
    return FileFormat(kind, json_records.infer_fields(sample_objects(start, text, kind)))


def detect_csv_format(start: FileHead, encoding: str, text: str) -> FileFormat:
    """Return the format of a CSV file."""
    quote = file_head.detect_quote(text)
    escape = file_head.detect_escape(text, quote)
    sign = file_head.detect_delimiter(text, quote, escape)
    rows = file_head.parse_rows(text, sign, quote, escape, whole=start.whole)
    if not rows:
        raise DataError(f"The first line of {start.name} is longer than a million characters.", "It is no table.")
    header = file_head.has_header(rows)
    fields, notes = _infer_columns(rows, header=header)
    if encoding == "windows-1252":
        notes = (*notes, "It is no utf-8; it is read as windows-1252.")
    return FileFormat(
        FileKind.SEPARATED,
        fields,
        encoding=encoding,
        delimiter=sign,
        quote=quote,
        escape=escape,
        header=header,
        # The bytes of a line's end are no line's end in other encodings.
        multiline=encoding.startswith("utf-16") or any("\n" in value for row in rows for value in row),
        notes=notes,
    )


def detect_fields(path: str, shape: FileFormat) -> tuple[StreamField, ...]:
    """Return the fields of a file whose delimiters have been chosen, but not its fields."""
    start = read_head(path)
    text = start.text(shape.encoding)
    if shape.kind in {FileKind.JSON, FileKind.LINES}:
        return json_records.infer_fields(sample_objects(start, text, shape.kind))
    if shape.kind is not FileKind.SEPARATED:
        return ()
    rows = file_head.parse_rows(text, shape.delimiter, shape.quote, shape.escape, whole=start.whole)
    return _infer_columns(rows, header=shape.header)[0] if rows else ()


def sample_objects(start: FileHead, text: str, kind: FileKind) -> list[dict[str, Any]]:
    """Return JSON objects from the head of a file, skipping lines that cannot be parsed."""
    if kind is FileKind.JSON:
        return sample_array(text, start.name, whole=start.whole)[:_SAMPLE_RECORDS]
    found: list[dict[str, Any]] = []
    for line in text.splitlines()[: _SAMPLE_RECORDS if start.whole else -1]:
        try:
            value = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def read_parquet_schema(path: str) -> pa.Schema:
    """Return the schema of a Parquet file."""
    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        name = PurePath(path).name
        raise DataError(f"{name} is damaged: it cannot be read as Parquet.", "Write it again.") from error


def spark_type(kind: pa.DataType) -> str:
    """Return the Spark name of an Arrow type."""
    plain = {
        "int8": "tinyint",
        "int16": "smallint",
        "int32": "int",
        "int64": field_types.BIGINT,
        "bool": field_types.BOOLEAN,
    }
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return field_types.TIMESTAMP if kind.tz else field_types.TIMESTAMP_NTZ
    if pa.types.is_date(kind):
        return field_types.DATE
    name = str(kind)
    return plain.get(
        name, name if name in field_types.TYPES else field_types.STRING if name == "large_string" else name
    )


def _infer_columns(rows: list[list[str]], *, header: bool) -> tuple[tuple[StreamField, ...], tuple[str, ...]]:
    """Return fields with the narrowest types that fit, and messages about their names."""
    body = rows[1:] if header else rows
    width = len(rows[0]) if header else file_head.common_width(rows)
    names, notes = distinct_names(rows[0] if header else [f"column_{number + 1}" for number in range(width)])
    columns = [[row[place] for row in body if len(row) == width] for place in range(width)]
    return tuple(
        StreamField(name, field_types.infer_from_texts(values)) for name, values in zip(names, columns, strict=True)
    ), notes


def _detect_kind(start: FileHead, text: str) -> FileKind:
    path = PurePath(start.name.lower().removesuffix(".gz"))
    if found := _KIND_BY_SUFFIX.get(path.suffix):
        return found
    first = text.lstrip()[:1]
    if first == "[":
        return FileKind.JSON
    if first != "{":
        if path.suffix == ".json":
            raise DataError(f"{start.name} is no JSON: it begins with {first!r}.", "Choose another file.")
        return FileKind.SEPARATED
    try:
        json.loads(text.lstrip().split("\n", 1)[0])
    except ValueError:
        return FileKind.JSON
    return FileKind.LINES
