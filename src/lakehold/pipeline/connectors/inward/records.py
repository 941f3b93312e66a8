"""Rows from records of JSON, one text each, wherever they come from.

What is nested stays JSON text: a field that appears, goes or changes deep inside an object then changes no table, and
SQL can still look into it. Fields that nobody expected are read too, as text; whether the table takes them is for its
writer to say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import DataType, StringType, StructField, StructType

from lakehold.pipeline import rows
from lakehold.pipeline.connectors.inward import kinds, reasons
from lakehold.pipeline.connectors.inward.connector import Field, Incoming, Value
from lakehold.pipeline.connectors.inward.lines import MALFORMED, OPTIONS, readable, told_apart, what_was_parsed
from lakehold.pipeline.connectors.inward.names import distinct
from lakehold.pipeline.errors import DataError

MOST_FIELDS = 2_000
_RECORD = "r"


def fields_of(records: Iterable[Mapping[str, Any]]) -> tuple[Field, ...]:
    """The fields of some records, in the order in which they appear."""
    values: dict[str, list[Any]] = {}
    for record in records:
        for name, value in record.items():
            values.setdefault(name, []).append(value)
    return tuple(Field(name, kinds.of_values(found)) for name, found in values.items())


def kept(texts: DataFrame) -> DataFrame:
    """The texts, kept on disk once they are read, for a source that should be asked once."""
    return texts.persist(StorageLevel.DISK_ONLY)


def incoming(texts: DataFrame, fields: tuple[Field, ...]) -> Incoming:
    """The rows of texts with the columns `raw` and `place`. The texts are looked through for other fields first."""
    every = _with_others(texts, fields)
    names, notes = distinct(field.name for field in every)
    schema = StructType(
        [
            StructField(_RECORD, StructType([StructField(each.name, DataType.fromDDL(each.type)) for each in every])),
            StructField(MALFORMED, StringType()),
        ]
    )
    # Inside an object of ours a parser notices what stands behind the record; by itself it would pass over it.
    text = f.when(readable(f.col("raw")), f.concat(f.lit(f'{{"{_RECORD}":'), f.col("raw"), f.lit("}")))
    parsed = f.from_json(text, schema, OPTIONS)
    was = what_was_parsed()
    bad = was.getField(MALFORMED).isNotNull() | was.getField(_RECORD).isNull()

    def good(found: Column) -> list[Column]:
        record = found.getField(_RECORD)
        return [record.getField(each.name).alias(name) for each, name in zip(every, names, strict=True)]

    rows, others = told_apart(texts, parsed, bad, good, reasons.Json(every))
    return Incoming(rows, others, notes=notes)


def _with_others(texts: DataFrame, fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """The fields, and those that some record has beside them."""
    text = f.when(readable(f.col("raw")), f.col("raw"))
    names = texts.select(f.explode(f.json_object_keys(text)).alias("name")).distinct()
    found = {row[0] for row in names.limit(MOST_FIELDS + 1).collect()}
    if len(found) > MOST_FIELDS:
        raise DataError(
            f"The records have more than {MOST_FIELDS:,} different fields.",
            "Names that are data belong into a list, or one level deeper.",
        )
    others = sorted(found - {field.name for field in fields})
    every = (*fields, *(Field(name) for name in others))
    if not every:
        raise DataError(
            "There is no record with a field in it.", "Check where the records are, and that there are any."
        )
    twins: dict[str, str] = {}
    for field in every:
        other = twins.setdefault(field.name.lower(), field.name)
        if other != field.name:
            raise DataError(f"Two fields are called {other!r} and {field.name!r}.", "SQL cannot tell them apart.")
    return every


def shown(value: object) -> Value:
    """A value as a sample shows it: what has parts as JSON, and everything else as it is."""
    told = rows.plain(value)
    if told is None or isinstance(told, str | int | float | bool):
        return told
    return json.dumps(told, ensure_ascii=False)
