"""Profiles the columns of a source in one pass over its rows, in bounded memory."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
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
_EXACT_ROWS = 2_000_000
"""Up to how many rows one looks for two with the same key."""
_MOST_EXACT = 5
_EXAMPLE_ORDERS = ("max_by", "min_by")


def profile_rows(rows: DataFrame) -> SourceProfile:
    """Return the profile of the rows. Columns of nested types have none."""
    names = [name for name in rows.columns if isinstance(rows.schema[name].dataType, ATOMIC)][:MAX_COLUMNS]
    texts = rows.select(
        *(to_text(rows, name).alias(f"t{n}") for n, name in enumerate(names)),
        *(f.col(quote_identifier(name)).alias(f"v{n}") for n, name in enumerate(names)),
    )
    aggregates = [each for n, name in enumerate(names) for each in _aggregates(n, rows.schema[name].dataType)]
    found = texts.agg(f.count("*").alias("rows"), *aggregates).first()
    assert found is not None  # noqa: S101 - an aggregate has a row
    columns = [_profile(n, name, rows.schema[name].dataType, found) for n, name in enumerate(names)]
    return SourceProfile(found["rows"], tuple(_with_exact_keys(texts, columns)))


def _aggregates(n: int, kind: t.DataType) -> Iterator[Column]:
    value, text = f.col(f"v{n}"), f.col(f"t{n}")
    short = f.substring(text, 1, _MAX_TEXT)
    yield f.count(value).alias(f"values{n}")
    yield f.count(text).alias(f"filled{n}")
    yield f.approx_count_distinct(text, 0.02).alias(f"distinct{n}")
    yield f.avg(f.length(text)).alias(f"length{n}")
    least, greatest = (f.min(short), f.max(short)) if _is_text(kind) else (f.min(value), f.max(value))
    yield least.cast("string").alias(f"least{n}")
    yield greatest.cast("string").alias(f"greatest{n}")
    yield _most_frequent(short, _FREQUENT).alias(f"frequent{n}")
    yield _most_frequent(_pattern(short), _PATTERNS).alias(f"patterns{n}")
    for order in _EXAMPLE_ORDERS:
        yield getattr(f, order)(short, f.xxhash64(short)).alias(f"{order}{n}")
    if _has_histogram(kind):
        yield f.histogram_numeric(value, f.lit(_BINS)).alias(f"histogram{n}")
    if _is_text(kind):
        for m, pattern in enumerate(SHAPES.values()):
            yield f.count_if(f.trim(short).rlike(pattern)).alias(f"shape{n}_{m}")


def _most_frequent(value: Column, count: int) -> Column:
    return f.call_function("approx_top_k", value, f.lit(count), f.lit(_TRACKED))


def _pattern(text: Column) -> Column:
    """Return a text with A for letters and 9 for digits; repeated ones are one."""
    return f.regexp_replace(f.regexp_replace(text, r"\p{L}[\p{L}\p{M}]*", "A"), r"\p{N}+", "9")


def _profile(n: int, name: str, kind: t.DataType, found: SparkRow) -> ColumnProfile:
    rows, filled = found["rows"], found[f"filled{n}"]
    frequent = [each for each in _counts(found[f"frequent{n}"]) if each.rows > 1]
    profile = ColumnProfile(
        name=name,
        data_type=kind.simpleString(),
        rows=rows,
        nulls=rows - found[f"values{n}"],
        blanks=found[f"values{n}"] - filled,
        distinct=min(found[f"distinct{n}"], filled),
        mean_length=round(found[f"length{n}"] or 0.0, 1),
        patterns=_counts(found[f"patterns{n}"]),
        values=ColumnValues(
            least=found[f"least{n}"],
            greatest=found[f"greatest{n}"],
            frequent=tuple(frequent),
            examples=_examples(n, found, frequent),
            histogram=_histogram(found[f"histogram{n}"]) if _has_histogram(kind) else (),
        ),
    )
    shapes = {each: found[f"shape{n}_{m}"] for m, each in enumerate(SHAPES)} if _is_text(kind) else {}
    return infer_type(profile, shapes)


def _examples(n: int, found: SparkRow, frequent: list[ValueCount]) -> tuple[str, ...]:
    values = [*(each.value for each in frequent[:2]), *(found[f"{order}{n}"] for order in _EXAMPLE_ORDERS)]
    return tuple(dict.fromkeys(each for each in values if each is not None))


def _counts(found: list[Any] | None) -> tuple[ValueCount, ...]:
    listed = [ValueCount(each["item"], each["count"]) for each in found or () if each["item"] is not None]
    return tuple(sorted(listed, key=lambda each: (-each.rows, each.value)))


def _histogram(found: list[Any] | None) -> tuple[HistogramBin, ...]:
    return tuple(HistogramBin(_write(each["x"]), round(each["y"])) for each in found or ())


def _write(middle: object) -> str:
    return f"{middle:.6g}" if isinstance(middle, float) else str(middle)


def _with_exact_keys(texts: DataFrame, columns: list[ColumnProfile]) -> Iterator[ColumnProfile]:
    """Look at the few columns that may be keys for two rows with the same value; a larger source is not looked at."""
    candidates = [n for n, each in enumerate(columns) if each.may_be_key and each.rows <= _EXACT_ROWS][:_MOST_EXACT]
    exact: Mapping[int, bool] = {
        n: texts.groupBy(f"t{n}").count().where(f.col("count") > 1).limit(1).isEmpty() for n in candidates
    }
    for n, each in enumerate(columns):
        # Its distinct values were counted well enough to know that it is no key.
        known = exact.get(n, None if each.may_be_key else False)
        yield replace(each, is_unique=known, distinct=each.rows if known else each.distinct)


def _is_text(kind: t.DataType) -> bool:
    return isinstance(kind, t.StringType)


def _has_histogram(kind: t.DataType) -> bool:
    return isinstance(kind, t.NumericType | t.DateType | t.TimestampType | t.TimestampNTZType)
