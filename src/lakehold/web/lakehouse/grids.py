"""Rows as a grid: what each cell says, which columns are numbers, and what SQL calls their types."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
from pyarrow import types

from lakehold.lake import row_formats

_LONGEST = 400
_ICEBERG = {"long": "bigint", "list": "array", "timestamptz": "timestamp", "timestamp": "timestamp_ntz"}
_SIMPLE = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "float",
    "double": "double",
    "bool": "boolean",
    "string": "string",
    "large_string": "string",
    "binary": "binary",
    "large_binary": "binary",
    "date32[day]": "date",
    "null": "void",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a grid."""

    name: str
    type: str
    is_number: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell says; nothing at all is not the same as an empty text."""

    text: str
    is_null: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """Columns, and some rows of them."""

    columns: list[Column]
    rows: list[list[Cell]]


def grid(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Grid:
    """The rows as they are shown."""
    columns = [Column(field.name, type_name(field.type), _is_number(field.type)) for field in schema]
    shown = [
        [cell(value) for value in row]
        for batch in batches
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    ]
    return Grid(columns, shown)


def cell(value: object) -> Cell:
    """One value. A long one is cut: whoever needs all of it downloads it."""
    match value:
        case None:
            return Cell("", is_null=True)
        case bool():
            return Cell("true" if value else "false")
        case datetime():
            return Cell(value.isoformat(" "))
    told = row_formats.to_json_value(value)
    text = json.dumps(told, ensure_ascii=False) if isinstance(told, list | dict) else str(told)
    return Cell(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


def type_name(kind: pa.DataType) -> str:
    """What SQL calls a type."""
    if types.is_decimal(kind):
        return f"decimal({kind.precision}, {kind.scale})"
    if types.is_timestamp(kind):
        return "timestamp" if kind.tz else "timestamp_ntz"
    if types.is_list(kind) or types.is_large_list(kind):
        return f"array<{type_name(kind.value_type)}>"
    if types.is_map(kind):
        return f"map<{type_name(kind.key_type)}, {type_name(kind.item_type)}>"
    if types.is_struct(kind):
        return f"struct<{', '.join(f'{field.name}: {type_name(field.type)}' for field in kind)}>"
    return _SIMPLE.get(str(kind), str(kind))


def field_type(told: str) -> str:
    """What SQL calls a type that Iceberg has told of: `bigint` of `long`. Names in a struct stay as they are."""
    return re.sub(r"\b[a-z]+\b(?!\s*:)", lambda word: _ICEBERG.get(word[0], word[0]), told)


def _is_number(kind: pa.DataType) -> bool:
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))
