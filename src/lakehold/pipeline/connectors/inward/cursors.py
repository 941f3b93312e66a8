"""How far a stream has been read: the highest value of a field that only grows, as text.

The text has one form for each type, so that what was written today can be compared tomorrow.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import (
    DataType,
    DateType,
    DecimalType,
    FractionalType,
    IntegralType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from lakehold.kit.errors import InvalidInputError
from lakehold.pipeline.connectors.inward import kinds
from lakehold.pipeline.connectors.inward.connector import Since
from lakehold.pipeline.errors import DataError
from lakehold.pipeline.quoting import quoted

_ORDERED = (IntegralType, FractionalType, DecimalType, DateType, TimestampType, TimestampNTZType, StringType)
_FORMS: dict[type[DataType], str] = {
    TimestampType: "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'",
    TimestampNTZType: "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def highest(rows: DataFrame, field: str) -> str | None:
    """The highest value that the field has in the rows; None if it has none."""
    name, kind = ordered(rows, field)
    top = f.max(f.col(quoted(name)))
    form = _FORMS.get(type(kind))
    # Every session of ours lives in UTC, so that is the zone in which a moment is told.
    row = rows.agg((f.date_format(top, form) if form else top.cast("string")).alias("top")).first()
    return None if row is None else row["top"]


def after(rows: DataFrame, since: Since | None) -> DataFrame:
    """The rows that come after, or of the span; those whose field is empty have come before."""
    if since is None:
        return rows
    name, kind = ordered(rows, since.field)
    column = f.col(quoted(name))
    if since.value:
        value = literal(since.field, since.value, kind)
        rows = rows.filter(column >= value if since.including else column > value)
    return rows.filter(column < literal(since.field, since.until, kind)) if since.until else rows


def literal(field: str, text: str, kind: DataType) -> Column:
    """The value of a cursor, as one of its type."""
    if not _is(text, kind):
        raise InvalidInputError(
            f"{text!r} is no value of {field}, which is {kind.simpleString()}.",
            "Correct the cursor, or read the stream in full.",
        )
    return f.lit(text).cast(kind)


def ordered(rows: DataFrame, field: str) -> tuple[str, DataType]:
    """The field's own name and its type, if it is there and its values have an order."""
    found = next((each for each in rows.schema.fields if each.name.lower() == field.lower()), None)
    if found is None:
        raise DataError(f"The cursor {field!r} is no field of the rows.", f"They have: {', '.join(rows.columns)}.")
    if not isinstance(found.dataType, _ORDERED):
        raise DataError(
            f"The cursor {field!r} is {found.dataType.simpleString()}, which has no order.",
            "Choose a number, a date, a timestamp or a text that only grows.",
        )
    return found.name, found.dataType


def _is(text: str, kind: DataType) -> bool:
    if isinstance(kind, StringType):
        return True
    if isinstance(kind, IntegralType | DateType):
        return kinds.fits(text, kind.simpleString())
    if isinstance(kind, TimestampType | TimestampNTZType):
        return kinds.fits(text, kinds.MOMENT)
    return kinds.fits(text, kinds.NUMBER)
