"""Rows as others want them: for JSON and for CSV, without losing a digit."""

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa


def plain(value: object) -> object:
    """A value as JSON can have it. Numbers that JSON would round are texts, and so are times."""
    match value:
        case None | bool() | str() | int():
            return value
        case float():
            # JSON knows neither infinity nor what is no number.
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
            return {str(name): plain(part) for name, part in value.items()}
        case Sequence():
            return [plain(part) for part in value]
        case _:
            return str(value)


def fields(schema: pa.Schema) -> list[dict[str, str]]:
    """The names and types."""
    return [{"name": field.name, "type": str(field.type)} for field in schema]


def lists(batches: Iterable[pa.RecordBatch]) -> Iterator[list[object]]:
    """Each row as a list, whatever its fields are called: two may have one name."""
    for batch in batches:
        columns = [column.to_pylist() for column in batch.columns]
        for row in zip(*columns, strict=True):
            yield [plain(value) for value in row]


def as_csv(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """With a line of names before them. What is made of parts is JSON; nothing at all is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(schema.names)
    for batch in batches:
        for row in lists([batch]):
            writer.writerow([_cell(value) for value in row])
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
    yield text.getvalue().encode()


def as_arrow(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """As a stream of Arrow's own."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            yield sink.getvalue()
            sink.seek(0)
            sink.truncate()
    yield sink.getvalue()


def _cell(value: object) -> Any:  # noqa: ANN401 - whatever csv can write
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list() | dict():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return value
