"""Counts rows that violate a check, and fingerprints rows."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import DateType, TimestampNTZType, TimestampType

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake.row_formats import quote_identifier


def count_nulls(rows: DataFrame, field: str) -> int:
    """Return how many rows have no value in the field."""
    return rows.filter(_column(rows, field).isNull()).count()


def count_duplicates(rows: DataFrame, fields: Sequence[str]) -> int:
    """Return how many rows repeat the values of an earlier one."""
    columns = [_column(rows, field) for field in fields]
    found = rows.groupBy(*columns).count().agg(f.sum(f.col("count") - 1).alias("more")).first()
    return int(found["more"] or 0) if found is not None else 0


def count_unexpected(rows: DataFrame, field: str, values: Sequence[str]) -> int:
    """Return how many rows have a value, as text, that is none of these."""
    return rows.filter(~_column(rows, field).cast("string").isin(list(values))).count()


def latest_time(rows: DataFrame, field: str) -> datetime | None:
    """Return the latest time in the field."""
    column = _column(rows, field)
    kind = rows.select(column).schema.fields[0].dataType
    if not isinstance(kind, DateType | TimestampType | TimestampNTZType):
        raise InvalidInputError(f"The field {quote(field)} is not a date or time.", "Choose one that is.")
    found = rows.agg(f.unix_micros(f.max(column).cast("timestamp")).alias("newest")).first()
    if found is None or found["newest"] is None:
        return None
    return datetime.fromtimestamp(found["newest"] / 1e6, UTC)


def _column(rows: DataFrame, field: str) -> Column:
    if field not in rows.columns:
        raise InvalidInputError(f"There is no field {quote(field)}.", f"There are: {', '.join(rows.columns[:20])}.")
    return f.col(quote_identifier(field))


def fingerprint(rows: DataFrame) -> str:
    """Return a fingerprint of the rows that does not depend on their order."""
    each = f.xxhash64(*(f.col(quote_identifier(name)) for name in rows.columns)).cast("decimal(38,0)")
    found = rows.agg(f.count("*").alias("count"), f.sum(each).alias("sum")).first()
    assert found is not None  # noqa: S101 - an aggregate has a row
    names = hashlib.sha256("\n".join(rows.columns).encode()).hexdigest()[:16]
    return f"{names} {found['count']} {found['sum'] or 0}"
