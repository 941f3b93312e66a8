"""Rows as a grid for a page: the text of each cell, numeric columns, and SQL names of types."""

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
class GridColumn:
    """A column of a grid."""

    name: str
    type: str
    is_number: bool


@dataclass(frozen=True, slots=True)
class GridCell:
    """The text of a cell. Null differs from an empty text."""

    text: str
    is_null: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """Columns and rows of a grid."""

    columns: list[GridColumn]
    rows: list[list[GridCell]]


def build_grid(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Grid:
    """Build a grid of Arrow batches."""
    columns = [GridColumn(field.name, sql_type_name(field.type), _is_number(field.type)) for field in schema]
    rows_as_cells = [
        [format_cell(value) for value in row]
        for batch in batches
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    ]
    return Grid(columns, rows_as_cells)


def format_cell(value: object) -> GridCell:
    """Format a value. A long one is cut; the download has it whole."""
    match value:
        case None:
            return GridCell("", is_null=True)
        case bool():
            return GridCell("true" if value else "false")
        case datetime():
            return GridCell(value.isoformat(" "))
    plain = row_formats.to_json_value(value)
    text = json.dumps(plain, ensure_ascii=False) if isinstance(plain, list | dict) else str(plain)
    return GridCell(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


def sql_type_name(kind: pa.DataType) -> str:
    """Return the SQL name of an Arrow type."""
    if types.is_decimal(kind):
        return f"decimal({kind.precision}, {kind.scale})"
    if types.is_timestamp(kind):
        return "timestamp" if kind.tz else "timestamp_ntz"
    if types.is_list(kind) or types.is_large_list(kind):
        return f"array<{sql_type_name(kind.value_type)}>"
    if types.is_map(kind):
        return f"map<{sql_type_name(kind.key_type)}, {sql_type_name(kind.item_type)}>"
    if types.is_struct(kind):
        return f"struct<{', '.join(f'{field.name}: {sql_type_name(field.type)}' for field in kind)}>"
    return _SIMPLE.get(str(kind), str(kind))


def sql_field_type(iceberg_type: str) -> str:
    """Return the SQL name of an Iceberg type: `bigint` for `long`. Names of struct fields stay unchanged."""
    return re.sub(r"\b[a-z]+\b(?!\s*:)", lambda word: _ICEBERG.get(word[0], word[0]), iceberg_type)


def _is_number(kind: pa.DataType) -> bool:
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))
