"""Rows from separated values of which some go over several lines. Each file is read by one core, from its beginning.

A quote that is not closed could swallow the rows behind it. So if the quotes of a file do not match up, every row of it
with a value over several lines is kept aside: where that value should have ended cannot be known.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from lakehold.pipeline.connectors.inward import kinds, reasons
from lakehold.pipeline.connectors.inward.connector import Incoming
from lakehold.pipeline.connectors.inward.files import encodings, separated
from lakehold.pipeline.connectors.inward.files.headers import Header, united
from lakehold.pipeline.connectors.inward.files.paths import addresses, name
from lakehold.pipeline.connectors.inward.files.shape import FileFormat
from lakehold.pipeline.connectors.inward.lines import MALFORMED, explained
from lakehold.pipeline.connectors.inward.reasons import KEPT

_SMALLEST = -(2**31)
_SWALLOWED = "It has a value over several lines, and the quotes do not match up."


def incoming(spark: SparkSession, headers: list[Header], shape: FileFormat) -> Incoming:
    """The rows of files that are read as a whole."""
    return united([_part(spark, each, shape) for each in headers])


def _part(spark: SparkSession, header: Header, shape: FileFormat) -> Incoming:
    reader = spark.read.schema(separated.schema(header.fields)).options(**separated.options(shape))
    found = (
        reader.options(multiLine=True, header=shape.header, encoding=encodings.spark_name(shape.encoding))
        .csv(addresses(list(header.files)))
        .select("*", name().alias("place"))
    )
    places = range(len(header.fields))
    texts = [f.col(f"c{place}") for place in places if header.fields[place].type == kinds.TEXT]
    swallowed = _swallowed(texts, _odd(spark, header, shape), shape)
    no_text = _any([encodings.unreadable(encodings.corrected(text, shape.encoding)) for text in texts])
    bad = f.coalesce(f.col(MALFORMED).isNotNull() | swallowed | no_text, f.lit(True))
    # Whoever asks for bad rows alone must let every value be read, or a wrong type would not be noticed.
    every = f.hash(*(f.col(f"c{place}") for place in places)) >= _SMALLEST
    rows = found.filter(~bad & every).select(
        *(
            encodings.corrected(f.col(f"c{place}"), shape.encoding if field.type == kinds.TEXT else "utf-8").alias(
                field.name
            )
            for place, field in enumerate(header.fields)
        )
    )
    return Incoming(rows, _with_reason(found.filter(bad & every), swallowed, header, shape), notes=header.notes)


def _with_reason(rows: DataFrame, swallowed: Column, header: Header, shape: FileFormat) -> DataFrame:
    values = f.to_csv(f.struct(*(f.col(f"c{place}") for place in range(len(header.fields)))))
    raw = encodings.corrected(f.coalesce(f.col(MALFORMED), values), shape.encoding)
    reason = reasons.Separated(header.fields, shape.delimiter, shape.quote, shape.escape)
    said = explained(reason)
    lines = rows.select(raw.alias("raw"), "place", (swallowed & f.col(MALFORMED).isNull()).alias("swallowed"))
    return lines.select("*", said("raw", f.octet_length("raw")).alias("said")).select(
        f.when(f.col("swallowed"), f.lit(_SWALLOWED)).otherwise(f.col("said")).alias("reason"),
        f.substring("raw", 1, KEPT).alias("raw"),
        "place",
    )


def _swallowed(texts: list[Column], odd: list[str], shape: FileFormat) -> Column:
    over = _any([text.contains("\n") for text in texts])
    begun = (
        _any([text.contains("\n") & text.startswith(shape.quote) for text in texts]) if shape.quote else f.lit(False)
    )
    return begun | (over & f.col("place").isin(odd) if odd else f.lit(False))


def _odd(spark: SparkSession, header: Header, shape: FileFormat) -> list[str]:
    """The files whose quotes do not match up; told from bytes, so not of every encoding."""
    if shape.encoding.startswith("utf-16") or not shape.quote:
        return []
    value = f.col("value")
    if shape.escape != shape.quote:
        value = f.replace(value, f.lit(shape.escape + shape.quote), f.lit(""))
    count = f.octet_length(value) - f.octet_length(f.replace(value, f.lit(shape.quote), f.lit("")))
    lines = spark.read.text(addresses(list(header.files))).select("value", name().alias("place"))
    quotes = lines.groupBy("place").agg(f.sum(count).alias("count"))
    return [row["place"] for row in quotes.filter("count % 2 = 1").select("place").collect()]


def _any(conditions: list[Column]) -> Column:
    found = (f.coalesce(each, f.lit(False)) for each in conditions)
    return reduce(lambda one, other: one | other, found, f.lit(False))
