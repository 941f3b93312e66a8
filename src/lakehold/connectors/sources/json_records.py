"""Rows from JSON records, one text each.

Nested values stay JSON text: a field that changes deep inside an object then changes no table, and SQL can still read
it. Fields that were not expected are read as text; the table's writer decides whether to take them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import DataType, StringType, StructField, StructType

from lakehold.connectors.sources import bad_rows, field_types
from lakehold.connectors.sources.bad_rows import MALFORMED, PARSER_OPTIONS, is_parsable, parsed_column, split_bad_rows
from lakehold.connectors.sources.field_types import StreamField, distinct_names
from lakehold.connectors.sources.source import IncomingRows, Value
from lakehold.lake import row_formats
from lakehold.lake.errors import DataError

MAX_FIELDS = 2_000
_RECORD = "r"


def infer_fields(records: Iterable[Mapping[str, Any]]) -> tuple[StreamField, ...]:
    """Return the fields of some records, in the order in which they appear."""
    values: dict[str, list[Any]] = {}
    for record in records:
        for name, value in record.items():
            values.setdefault(name, []).append(value)
    return tuple(StreamField(name, field_types.infer_from_json(found)) for name, found in values.items())


def cache_on_disk(texts: DataFrame) -> DataFrame:
    """Cache the texts on disk once they are read, for a source that should be read once."""
    return texts.persist(StorageLevel.DISK_ONLY)


def parse_records(texts: DataFrame, fields: tuple[StreamField, ...]) -> IncomingRows:
    """Return the rows of texts with the columns `raw` and `place`. The texts are searched for other fields first."""
    every = _with_unexpected_fields(texts, fields)
    names, notes = distinct_names(field.name for field in every)
    schema = StructType(
        [
            StructField(_RECORD, StructType([StructField(each.name, DataType.fromDDL(each.type)) for each in every])),
            StructField(MALFORMED, StringType()),
        ]
    )
    # Inside an object of ours a parser notices what stands behind the record; by itself it would pass over it.
    text = f.when(is_parsable(f.col("raw")), f.concat(f.lit(f'{{"{_RECORD}":'), f.col("raw"), f.lit("}")))
    parsed = f.from_json(text, schema, PARSER_OPTIONS)
    was = parsed_column()
    bad = was.getField(MALFORMED).isNotNull() | was.getField(_RECORD).isNull()

    def good(found: Column) -> list[Column]:
        record = found.getField(_RECORD)
        return [record.getField(each.name).alias(name) for each, name in zip(every, names, strict=True)]

    rows, others = split_bad_rows(texts, parsed, bad, good, bad_rows.JsonRowError(every))
    return IncomingRows(rows, others, notes=notes)


def _with_unexpected_fields(texts: DataFrame, fields: tuple[StreamField, ...]) -> tuple[StreamField, ...]:
    """Return the fields, and those that some records have besides them."""
    text = f.when(is_parsable(f.col("raw")), f.col("raw"))
    names = texts.select(f.explode(f.json_object_keys(text)).alias("name")).distinct()
    found = {row[0] for row in names.limit(MAX_FIELDS + 1).collect()}
    if len(found) > MAX_FIELDS:
        message = f"The records have more than {MAX_FIELDS:,} different fields."
        raise DataError(message, "Names that are data belong into a list, or one level deeper.")
    others = sorted(found - {field.name for field in fields})
    every = (*fields, *(StreamField(name) for name in others))
    if not every:
        message = "There is no record with a field in it."
        raise DataError(message, "Check where the records are, and that there are any.")
    twins: dict[str, str] = {}
    for field in every:
        other = twins.setdefault(field.name.lower(), field.name)
        if other != field.name:
            raise DataError(f"Two fields are called {other!r} and {field.name!r}.", "SQL cannot tell them apart.")
    return every


def sample_value(value: object) -> Value:
    """Return a value for a sample: nested values as JSON, all others as they are."""
    plain_value = row_formats.to_json_value(value)
    if plain_value is None or isinstance(plain_value, str | int | float | bool):
        return plain_value
    return json.dumps(plain_value, ensure_ascii=False)
