"""Formats names, values and rows for SQL, JSON, CSV and Arrow without losing a digit."""

import base64
import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def quote_identifier(name: str) -> str:
    """Quote a name for SQL."""
    return "`" + name.replace("`", "``") + "`"


def quote_literal(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# With one of these a cell is a formula to some spreadsheet; the wide ones are typed in East Asia.
FORMULA_SIGNS = "=+-@\t\r\n＝＋－＠"


def escape_formula(text: str) -> str:
    """Put a ' before a text that a spreadsheet would run as a formula."""
    return f"'{text}" if text.startswith(tuple(FORMULA_SIGNS)) else text


def escape_formulas(texts: pa.RecordBatch) -> pa.RecordBatch:
    """Return columns of texts in which none is one that a spreadsheet would run as a formula."""
    columns = []
    for column in texts.columns:
        is_formula = pc.match_substring_regex(column, f"^[{re.escape(FORMULA_SIGNS)}]")
        columns.append(pc.if_else(is_formula, pc.binary_join_element_wise("'", column, ""), column))
    return pa.record_batch(columns, schema=texts.schema)


def to_json_value(value: object) -> object:
    """Return a value as JSON can hold it. Numbers that JSON would round become text, and so do times."""
    match value:
        case None | bool() | str() | int():
            return value
        case float():
            # JSON knows neither infinity nor what is not a number.
            return value if value - value == 0 else str(value)
        case Decimal():
            return format(value, "f")
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytes():
            return base64.b64encode(value).decode()
        case dict():
            return {str(name): to_json_value(part) for name, part in value.items()}
        case Sequence():
            return [to_json_value(part) for part in value]
        case _:
            return str(value)


def describe_fields(schema: pa.Schema) -> list[dict[str, str]]:
    """Return the names and types of a schema's fields."""
    return [{"name": field.name, "type": str(field.type)} for field in schema]


def rows_as_lists(batches: Iterable[pa.RecordBatch]) -> Iterator[list[object]]:
    """Yield each row as a list; two fields may have the same name."""
    for batch in batches:
        columns = [column.to_pylist() for column in batch.columns]
        for row in zip(*columns, strict=True):
            yield [to_json_value(value) for value in row]


def as_csv(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """Yield the rows as CSV with a header line. Nested values are JSON, null is an empty cell, and no text is one that
    a spreadsheet would run as a formula.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(escape_formula, schema.names))
    # Numbers that JSON cannot hold are texts by now; they may have a sign.
    numbers = [pa.types.is_decimal(field.type) or pa.types.is_floating(field.type) for field in schema]
    for batch in batches:
        for row in rows_as_lists([batch]):
            cells = zip(map(_csv_cell, row), numbers, strict=True)
            writer.writerow([escape_formula(c) if isinstance(c, str) and not number else c for c, number in cells])
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
    yield text.getvalue().encode()


def as_arrow(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """Yield the rows as an Arrow IPC stream."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            yield sink.getvalue()
            sink.seek(0)
            sink.truncate()
    yield sink.getvalue()


def _csv_cell(value: object) -> Any:  # noqa: ANN401 - whatever csv can write
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list() | dict():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return value
