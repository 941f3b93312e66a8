"""Rows from lines of separated values. A line is a row, so a file is read by all cores at once.

Empty values are null, empty lines are none, and a line that repeats the header is a header. Files with different
headers come together by the names in them. A line is bad if it has more or fewer values than there are fields, a value
that is not of its field's type, a quote that is not closed, or bytes that are no text.
"""

from __future__ import annotations

import re

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from lakehold.pipeline.connectors.inward import reasons
from lakehold.pipeline.connectors.inward.connector import Field, Incoming
from lakehold.pipeline.connectors.inward.files import encodings
from lakehold.pipeline.connectors.inward.files.headers import Header, united
from lakehold.pipeline.connectors.inward.files.paths import addresses, name
from lakehold.pipeline.connectors.inward.files.shape import FileFormat
from lakehold.pipeline.connectors.inward.lines import MALFORMED, OPTIONS, readable, told_apart, what_was_parsed

MOST_VALUES = 100_000


def incoming(spark: SparkSession, headers: list[Header], shape: FileFormat) -> Incoming:
    """The rows of files that are read line by line."""
    return united([_part(spark, each, shape) for each in headers])


def options(shape: FileFormat) -> dict[str, str]:
    """How Spark's parser of separated values is set up."""
    return {
        **OPTIONS,
        "sep": shape.delimiter,
        "quote": shape.quote,
        "escape": shape.escape or "\0",
        "maxColumns": str(MOST_VALUES + 1),
    }


def schema(fields: tuple[Field, ...]) -> str:
    """The fields by number, as their names may be anything, and a place for what cannot be read."""
    return ", ".join([*(f"c{place} {field.type}" for place, field in enumerate(fields)), f"{MALFORMED} string"])


def _part(spark: SparkSession, header: Header, shape: FileFormat) -> Incoming:
    texts = _texts(spark, header, shape)
    raw = f.col("raw")
    parsed = f.from_csv(f.when(readable(raw) & ~_too_many(raw, shape), raw), schema(header.fields), options(shape))
    was = what_was_parsed()
    bad = was.isNull() | was.getField(MALFORMED).isNotNull() | _unclosed(raw, shape)
    if shape.encoding != "utf-8":
        bad |= encodings.unreadable(raw)

    def good(found: Column) -> list[Column]:
        return [found.getField(f"c{place}").alias(field.name) for place, field in enumerate(header.fields)]

    reason = reasons.Separated(header.fields, shape.delimiter, shape.quote, shape.escape)
    rows, others = told_apart(texts, parsed, bad, good, reason)
    return Incoming(rows, others, total=texts.count, notes=header.notes)


def _texts(spark: SparkSession, header: Header, shape: FileFormat) -> DataFrame:
    value = encodings.line(f.col("value"), shape.encoding)
    found = spark.read.text(addresses(list(header.files))).select(value.alias("raw"), name().alias("place"))
    found = found.filter(f.trim("raw") != "")
    return found.filter(f.col("raw") != header.line) if shape.header else found


def _too_many(raw: Column, shape: FileFormat) -> Column:
    """Whether there are more values than the parser takes; a short line cannot have as many."""
    return (f.octet_length(raw) > MOST_VALUES) & (_count(raw, shape.delimiter) >= MOST_VALUES)


def _unclosed(raw: Column, shape: FileFormat) -> Column:
    """Whether a value begins with a quote and does not end with one: Spark would read it as if it did."""
    if not shape.quote:
        return f.lit(False)
    quote, sign = re.escape(shape.quote), re.escape(shape.delimiter)
    inner = f"[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*+"
    if shape.escape != shape.quote:
        escape = re.escape(shape.escape)
        inner = f"(?:[^{quote}{escape}]|{escape}.)*+"
    left = f.regexp_replace(raw, f"(?<=^|{sign}){quote}{inner}{quote}(?=$|{sign})", "")
    return raw.contains(shape.quote) & left.rlike(f"(^|{sign}){quote}")


def _count(raw: Column, sign: str) -> Column:
    return f.length(raw) - f.length(f.replace(raw, f.lit(sign), f.lit("")))
