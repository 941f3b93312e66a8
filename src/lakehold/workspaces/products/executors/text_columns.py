"""Reads columns of any type as texts, as a person would write their values."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as t

from lakehold.kit.ids import quote
from lakehold.lake.errors import DataError
from lakehold.lake.row_formats import quote_identifier

_EXACT_WHOLE = 1e15
"""Up to here each whole number is one double."""
_SORTED_DIGITS = 20
_TIME = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
_VISIBLE = r"(?U)\S"
_MAX_LISTED = 20
ATOMIC = (t.StringType, t.NumericType, t.DateType, t.TimestampType, t.TimestampNTZType, t.BooleanType)
"""The types whose values are texts to people."""


def find_columns(rows: DataFrame, names: Sequence[str], *, setting: str) -> dict[str, str]:
    """Return the columns of the rows by the names that settings use; refuse one that is gone, or has no text."""
    there = {name.casefold(): name for name in reversed(rows.columns)} | {name: name for name in rows.columns}
    gone = [name for name in names if name not in there and name.casefold() not in there]
    if gone:
        listed = ", ".join(rows.columns[:_MAX_LISTED]) + (", …" if len(rows.columns) > _MAX_LISTED else "")
        message = f"The source has no column {quote(gone[0])}."
        raise DataError(message, f"Map another one. There are: {listed}.", field=setting)
    found = {name: there.get(name) or there[name.casefold()] for name in names}
    for name, column in found.items():
        kind = rows.schema[column].dataType
        if not isinstance(kind, ATOMIC):
            message = f"The values of the column {quote(name)} cannot be texts: they are {kind.simpleString()[:60]}."
            raise DataError(message, "Map a column of texts, numbers, dates, times or booleans.", field=setting)
    return found


def to_text(rows: DataFrame, column: str) -> Column:
    """Return a column as texts: whole numbers without a point, times in ISO 8601. What is blank is NULL."""
    found = _as_text(f.col(quote_identifier(column)), rows.schema[column].dataType)
    return f.when(found.rlike(_VISIBLE), found)


def to_sorted_text(rows: DataFrame, column: str) -> Column:
    """Return a column as texts whose order is that of the values: dates, times, whole numbers, and texts of these."""
    value, kind = f.col(quote_identifier(column)), rows.schema[column].dataType
    if isinstance(kind, t.NumericType):
        whole = value.try_cast("decimal(38, 0)")
        return f.when(whole >= 0, f.lpad(whole.cast("string"), _SORTED_DIGITS, "0"))
    if isinstance(kind, t.StringType):
        text = f.trim(f.make_valid_utf8(value))
        time = f.try_to_timestamp(text)
        written = f.when(time.isNotNull(), f.date_format(time, _TIME)).otherwise(text)
        return f.when(f.length(text) > 0, written)
    if isinstance(kind, t.BooleanType):
        return value.cast("string")
    return f.date_format(value.cast("timestamp"), _TIME)


def _as_text(value: Column, kind: t.DataType) -> Column:
    if isinstance(kind, t.DoubleType | t.FloatType):
        is_whole = (f.abs(value) < _EXACT_WHOLE) & (value == f.floor(value))
        return f.when(is_whole, value.cast("bigint").cast("string")).otherwise(value.cast("string"))
    if isinstance(kind, t.TimestampType | t.TimestampNTZType):
        return f.date_format(value, _TIME)
    if isinstance(kind, t.StringType):
        # What is no UTF-8 cannot go to Python.
        return f.make_valid_utf8(value)
    return value.cast("string")
