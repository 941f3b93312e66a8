"""What a file is and how it is to be read, from its beginning."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakehold.pipeline.connectors.inward import kinds, records
from lakehold.pipeline.connectors.inward.connector import Field
from lakehold.pipeline.connectors.inward.files import excel, table
from lakehold.pipeline.connectors.inward.files.arrays import objects
from lakehold.pipeline.connectors.inward.files.beginning import Beginning, beginning
from lakehold.pipeline.connectors.inward.files.shape import FileFormat, Kind
from lakehold.pipeline.connectors.inward.names import distinct
from lakehold.pipeline.errors import DataError

_ENDINGS = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), Kind.SEPARATED),
    **dict.fromkeys((".jsonl", ".ndjson"), Kind.LINES),
}
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_SOME = 1_000


def guess(path: str) -> FileFormat:
    """What the file is and how it is to be read, as far as its beginning tells."""
    start = beginning(path)
    if not start.data.strip():
        raise DataError(f"{start.name} is empty.", "Choose a file with at least the names of its fields.")
    if start.data.startswith(b"PAR1"):
        return FileFormat(Kind.PARQUET, tuple(Field(each.name, kind_of(each.type)) for each in parquet(path)))
    if start.data.startswith(_WORKBOOKS):
        return excel.guess(path)
    encoding = start.encoding()
    text = start.text(encoding)
    kind = _kind(start, text)
    if kind is Kind.SEPARATED:
        return separated(start, encoding, text)
    if encoding != "utf-8":
        raise DataError(f"{start.name} is JSON, but not in utf-8.", "Save it as utf-8.")
    return FileFormat(kind, records.fields_of(some_objects(start, text, kind)))


def separated(start: Beginning, encoding: str, text: str) -> FileFormat:
    """How separated values are to be read."""
    quote = table.quote_of(text)
    escape = table.escape_of(text, quote)
    sign = table.delimiter_of(text, quote, escape)
    rows = table.rows_of(text, sign, quote, escape, whole=start.whole)
    if not rows:
        raise DataError(f"The first line of {start.name} is longer than a million characters.", "It is no table.")
    header = table.has_header(rows)
    fields, notes = _columns(rows, header=header)
    if encoding == "windows-1252":
        notes = (*notes, "It is no utf-8; it is read as windows-1252.")
    return FileFormat(
        Kind.SEPARATED,
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


def typed(path: str, shape: FileFormat) -> tuple[Field, ...]:
    """The fields of a file whose signs somebody has chosen, and its fields not yet."""
    start = beginning(path)
    text = start.text(shape.encoding)
    if shape.kind in {Kind.JSON, Kind.LINES}:
        return records.fields_of(some_objects(start, text, shape.kind))
    if shape.kind is not Kind.SEPARATED:
        return ()
    rows = table.rows_of(text, shape.delimiter, shape.quote, shape.escape, whole=start.whole)
    return _columns(rows, header=shape.header)[0] if rows else ()


def some_objects(start: Beginning, text: str, kind: Kind) -> list[dict[str, Any]]:
    """Objects from the beginning; what cannot be read as one is left to the reading."""
    if kind is Kind.JSON:
        return objects(text, start.name, whole=start.whole)[:_SOME]
    found: list[dict[str, Any]] = []
    for line in text.splitlines()[: _SOME if start.whole else -1]:
        try:
            value = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def parquet(path: str) -> pa.Schema:
    """The fields of a Parquet file."""
    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        name = PurePath(path).name
        raise DataError(f"{name} is damaged: it cannot be read as Parquet.", "Write it again.") from error


def kind_of(kind: pa.DataType) -> str:
    """An Arrow type, as Spark calls it."""
    plain = {"int8": "tinyint", "int16": "smallint", "int32": "int", "int64": kinds.WHOLE, "bool": kinds.TRUTH}
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return kinds.MOMENT if kind.tz else kinds.LOCAL
    if pa.types.is_date(kind):
        return kinds.DAY
    name = str(kind)
    return plain.get(name, name if name in kinds.TYPES else kinds.TEXT if name == "large_string" else name)


def _columns(rows: list[list[str]], *, header: bool) -> tuple[tuple[Field, ...], tuple[str, ...]]:
    """Fields with the narrowest types that fit, and what a person should know of their names."""
    body = rows[1:] if header else rows
    width = len(rows[0]) if header else table.width_of(rows)
    names, notes = distinct(rows[0] if header else [f"column_{number + 1}" for number in range(width)])
    columns = [[row[place] for row in body if len(row) == width] for place in range(width)]
    return tuple(Field(name, kinds.of_texts(values)) for name, values in zip(names, columns, strict=True)), notes


def _kind(start: Beginning, text: str) -> Kind:
    path = PurePath(start.name.lower().removesuffix(".gz"))
    if found := _ENDINGS.get(path.suffix):
        return found
    first = text.lstrip()[:1]
    if first == "[":
        return Kind.JSON
    if first != "{":
        if path.suffix == ".json":
            raise DataError(f"{start.name} is no JSON: it begins with {first!r}.", "Choose another file.")
        return Kind.SEPARATED
    try:
        json.loads(text.lstrip().split("\n", 1)[0])
    except ValueError:
        return Kind.JSON
    return Kind.LINES
