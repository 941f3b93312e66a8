"""Profiles the columns of a source in one pass over its rows, in bounded memory."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import Row as SparkRow
from pyspark.sql import functions as f
from pyspark.sql import types as t

from lakehold.lake.row_formats import quote_identifier
from lakehold.workspaces.products.executors.text_columns import ATOMIC, to_text
from lakehold.workspaces.products.profiles import (
    ColumnProfile,
    ColumnValues,
    HistogramBin,
    SourceProfile,
    ValueCount,
)
from lakehold.workspaces.products.type_inference import SHAPES, infer_type

MAX_COLUMNS = 200
"""The most columns that are profiled; a product has a hundred attributes at most."""
_MAX_TEXT = 100
"""How much of a value a profile has."""
_FREQUENT, _PATTERNS, _TRACKED = 10, 5, 2000
_BINS = 20
_MICROSECONDS = 1_000_000
_YEARS = (-62_135_596_800, 253_402_300_799)
"""The seconds of the years 1 to 9999."""
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - times are displayed without a zone, which is UTC
_EXACT_ROWS = 2_000_000
"""Up to how many rows one looks for two with the same key."""
_MOST_EXACT = 5


def profile_rows(rows: DataFrame) -> SourceProfile:
    """Return the profile of the rows. Columns of nested types have none."""
    names = [name for name in rows.columns if isinstance(rows.schema[name].dataType, ATOMIC)][:MAX_COLUMNS]
    if not names:
        return SourceProfile(rows.count())
    found = {each["column"]: each for each in _values(rows, names).groupBy("column").agg(*_aggregates()).collect()}
    columns = [
        _profile(name, rows.schema[name].dataType, found[n]) if n in found else _empty(name, rows)
        for n, name in enumerate(names)
    ]
    return SourceProfile(columns[0].rows, tuple(_with_exact_keys(rows, columns)))


def _values(rows: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return a row for each value with the number of its column, so that the columns share a few aggregates."""
    values = f.array(*(_value(rows, name) for name in names))
    return rows.select(f.posexplode(values).alias("column", "value")).select("column", "value.*")


def _value(rows: DataFrame, name: str) -> Column:
    value, kind = f.col(quote_identifier(name)), rows.schema[name].dataType
    return f.struct(
        value.isNull().alias("is_null"),
        to_text(rows, name).alias("text"),
        _number(value, kind).alias("number"),
    )


def _number(value: Column, kind: t.DataType) -> Column:
    """Return a value as a number that can be counted in a histogram: those of dates and times are seconds."""
    if isinstance(kind, t.NumericType):
        number = value.cast("double")
        return f.when(f.abs(number) < float("inf"), number)
    if isinstance(kind, t.DateType | t.TimestampType | t.TimestampNTZType):
        seconds = f.unix_micros(value.cast("timestamp")) / _MICROSECONDS
        return f.when(seconds.between(*_YEARS), seconds)
    return f.lit(None).cast("double")


def _aggregates() -> Iterator[Column]:
    text, number = f.col("text"), f.col("number")
    short = f.substring(text, 1, _MAX_TEXT)
    yield f.count("*").alias("rows")
    yield f.count_if(f.col("is_null")).alias("nulls")
    yield f.count(text).alias("filled")
    yield f.approx_count_distinct(text, 0.02).alias("distinct")
    yield f.avg(f.length(text)).alias("length")
    yield f.min(short).alias("least")
    yield f.max(short).alias("greatest")
    yield f.min(number).alias("least_number")
    yield f.max(number).alias("greatest_number")
    yield _most_frequent(short, _FREQUENT).alias("frequent")
    yield _most_frequent(_pattern(short), _PATTERNS).alias("patterns")
    yield f.max_by(short, f.xxhash64(short)).alias("example")
    yield f.min_by(short, f.xxhash64(short)).alias("other_example")
    yield f.histogram_numeric(number, f.lit(_BINS)).alias("histogram")
    for n, pattern in enumerate(SHAPES.values()):
        yield f.count_if(f.trim(short).rlike(pattern)).alias(f"shape{n}")


def _most_frequent(value: Column, count: int) -> Column:
    return f.call_function("approx_top_k", value, f.lit(count), f.lit(_TRACKED))


def _pattern(text: Column) -> Column:
    """Return a text with A for letters and 9 for digits; repeated ones are one."""
    return f.regexp_replace(f.regexp_replace(text, r"\p{L}[\p{L}\p{M}]*", "A"), r"\p{N}+", "9")


def _profile(name: str, kind: t.DataType, found: SparkRow) -> ColumnProfile:
    rows, filled = found["rows"], found["filled"]
    is_number = isinstance(kind, t.NumericType)
    frequent = tuple(each for each in _counts(found["frequent"]) if each.rows > 1)
    examples = (*(each.value for each in frequent[:2]), found["example"], found["other_example"])
    profile = ColumnProfile(
        name=name,
        data_type=kind.simpleString(),
        rows=rows,
        nulls=found["nulls"],
        blanks=rows - found["nulls"] - filled,
        distinct=min(found["distinct"], filled),
        mean_length=round(found["length"] or 0.0, 1),
        patterns=_counts(found["patterns"]),
        values=ColumnValues(
            least=_write(found["least_number"], kind) if is_number else found["least"],
            greatest=_write(found["greatest_number"], kind) if is_number else found["greatest"],
            frequent=frequent,
            examples=tuple(dict.fromkeys(each for each in examples if each is not None)),
            histogram=tuple(
                HistogramBin(_write(each["x"], kind) or "", round(each["y"])) for each in found["histogram"] or ()
            ),
        ),
    )
    return infer_type(profile, {each: found[f"shape{n}"] for n, each in enumerate(SHAPES)})


def _empty(name: str, rows: DataFrame) -> ColumnProfile:
    return infer_type(ColumnProfile(name=name, data_type=rows.schema[name].dataType.simpleString()), {})


def _counts(found: list[Any] | None) -> tuple[ValueCount, ...]:
    listed = [ValueCount(each["item"], each["count"]) for each in found or () if each["item"] is not None]
    return tuple(sorted(listed, key=lambda each: (-each.rows, each.value)))


def _write(number: float | None, kind: t.DataType) -> str | None:
    """Return a number of a histogram as the values of its column are written."""
    if number is None:
        return None
    if isinstance(kind, t.NumericType):
        return f"{number:.15g}" if number.is_integer() else f"{number:.6g}"
    time = _EPOCH + timedelta(seconds=number)
    return time.date().isoformat() if isinstance(kind, t.DateType) else time.isoformat(timespec="seconds")


def _with_exact_keys(rows: DataFrame, columns: list[ColumnProfile]) -> Iterator[ColumnProfile]:
    """Look at the few columns that may be keys for two rows with the same value; a larger source is not looked at."""
    candidates = [each.name for each in columns if each.may_be_key and each.rows <= _EXACT_ROWS][:_MOST_EXACT]
    exact = {
        name: rows.groupBy(f.col(quote_identifier(name))).count().where(f.col("count") > 1).limit(1).isEmpty()
        for name in candidates
    }
    for each in columns:
        # Of others, the distinct values were counted well enough to know that they are no keys.
        known = exact.get(each.name, None if each.may_be_key else False)
        yield replace(each, is_unique=known, distinct=each.rows if known else each.distinct)
