"""What is wrong with rows, as a number of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import DateType, TimestampNTZType, TimestampType

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.pipeline.quoting import quoted


def missing(rows: DataFrame, field: str) -> int:
    """How many have no value."""
    return rows.filter(_column(rows, field).isNull()).count()


def repeated(rows: DataFrame, fields: Sequence[str]) -> int:
    """How many are there beside the first with the same values."""
    columns = [_column(rows, field) for field in fields]
    found = rows.groupBy(*columns).count().agg(f.sum(f.col("count") - 1).alias("more")).first()
    return int(found["more"] or 0) if found is not None else 0


def others(rows: DataFrame, field: str, values: Sequence[str]) -> int:
    """How many have a value that is none of these, as text."""
    return rows.filter(~_column(rows, field).cast("string").isin(list(values))).count()


def newest(rows: DataFrame, field: str) -> datetime | None:
    """The latest moment that the field has."""
    column = _column(rows, field)
    kind = rows.select(column).schema.fields[0].dataType
    if not isinstance(kind, DateType | TimestampType | TimestampNTZType):
        raise InvalidInputError(f"The field {quote(field)} is no date or time.", "Choose one that is.")
    found = rows.agg(f.unix_micros(f.max(column).cast("timestamp")).alias("newest")).first()
    if found is None or found["newest"] is None:
        return None
    return datetime.fromtimestamp(found["newest"] / 1e6, UTC)


def _column(rows: DataFrame, field: str) -> Column:
    if field not in rows.columns:
        raise InvalidInputError(f"There is no field {quote(field)}.", f"There are: {', '.join(rows.columns[:20])}.")
    return f.col(quoted(field))
