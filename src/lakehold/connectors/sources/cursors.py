"""Cursors of incremental syncs: the highest value of a growing field, as text.

The text has one form for each type, so that values of different syncs can be compared.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as t

from lakehold.connectors.sources import field_types
from lakehold.connectors.sources.source import ReadSpan
from lakehold.kit.errors import InvalidInputError
from lakehold.lake.errors import DataError
from lakehold.lake.row_formats import quote_identifier

_ORDERED = (
    t.IntegralType,
    t.FractionalType,
    t.DecimalType,
    t.DateType,
    t.TimestampType,
    t.TimestampNTZType,
    t.StringType,
)
_FORMS: dict[type[t.DataType], str] = {
    t.TimestampType: "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'",
    t.TimestampNTZType: "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def highest_cursor(rows: DataFrame, field: str) -> str | None:
    """Return the highest value of the field in the rows; None if it has none."""
    name, kind = orderable_field(rows, field)
    top = f.max(f.col(quote_identifier(name)))
    form = _FORMS.get(type(kind))
    # All our sessions use UTC, so timestamps are formatted in it.
    row = rows.agg((f.date_format(top, form) if form else top.cast("string")).alias("top")).first()
    return None if row is None else row["top"]


def filter_span(rows: DataFrame, since: ReadSpan | None) -> DataFrame:
    """Return the rows that follow the cursor, or lie in the span; rows without a value are left out."""
    if since is None:
        return rows
    name, kind = orderable_field(rows, since.field)
    column = f.col(quote_identifier(name))
    if since.value:
        value = cursor_literal(since.field, since.value, kind)
        rows = rows.filter(column >= value if since.including else column > value)
    return rows.filter(column < cursor_literal(since.field, since.until, kind)) if since.until else rows


def cursor_literal(field: str, text: str, kind: t.DataType) -> Column:
    """Return the value of a cursor as a literal of its type."""
    if not _is_value(text, kind):
        message = f"{text!r} is no value of {field}, which is {kind.simpleString()}."
        raise InvalidInputError(message, "Correct the cursor, or read the stream in full.")
    return f.lit(text).cast(kind)


def orderable_field(rows: DataFrame, field: str) -> tuple[str, t.DataType]:
    """Return the name and type of the field; refuse it if it does not exist or has no order."""
    found = next((each for each in rows.schema.fields if each.name.lower() == field.lower()), None)
    if found is None:
        raise DataError(f"The cursor {field!r} is no field of the rows.", f"They have: {', '.join(rows.columns)}.")
    if not isinstance(found.dataType, _ORDERED):
        message = f"The cursor {field!r} is {found.dataType.simpleString()}, which has no order."
        raise DataError(message, "Choose a number, a date, a timestamp or a text that only grows.")
    return found.name, found.dataType


def _is_value(text: str, kind: t.DataType) -> bool:
    if isinstance(kind, t.StringType):
        return True
    if isinstance(kind, t.IntegralType | t.DateType):
        return field_types.fits(text, kind.simpleString())
    if isinstance(kind, t.TimestampType | t.TimestampNTZType):
        return field_types.fits(text, field_types.TIMESTAMP)
    return field_types.fits(text, field_types.DOUBLE)
