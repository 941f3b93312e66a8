"""Translates the filters of a preview into PyIceberg expressions, with values parsed as the field's type."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, localcontext
from math import isfinite
from typing import Any

from pyiceberg import expressions
from pyiceberg import types as t
from pyiceberg.expressions import BooleanExpression
from pyiceberg.schema import Schema

from lakehold.kit.errors import InvalidInputError
from lakehold.lake.previews import FilterOperator, PreviewFilter

Value = str | bool | int | float | Decimal | date | datetime
_DIGITS = 60

# PyIceberg tells type checkers of other parameters than it takes.
_EXPRESSIONS: Mapping[FilterOperator, Any] = {
    FilterOperator.IS: expressions.EqualTo,
    FilterOperator.IS_NOT: expressions.NotEqualTo,
    FilterOperator.LESS: expressions.LessThan,
    FilterOperator.AT_MOST: expressions.LessThanOrEqual,
    FilterOperator.MORE: expressions.GreaterThan,
    FilterOperator.AT_LEAST: expressions.GreaterThanOrEqual,
    FilterOperator.STARTS: expressions.StartsWith,
    FilterOperator.EMPTY: expressions.IsNull,
    FilterOperator.FILLED: expressions.NotNull,
}


def build_expression(where: PreviewFilter, schema: Schema) -> BooleanExpression:
    """Return the Iceberg expression of a filter, or refuse one that does not fit the field."""
    field = find_field(schema, where.field)
    values: tuple[Value, ...] = ()
    if where.operator in {FilterOperator.EMPTY, FilterOperator.FILLED}:
        if where.value is not None:
            raise InvalidInputError(f"{where.operator.capitalize()!r} takes no value.", "Leave it out.")
    else:
        if where.operator is FilterOperator.STARTS and not isinstance(field.field_type, t.StringType):
            raise InvalidInputError(
                f"{field.name} is not a text, so `starts with` does not apply.", "Compare it with a value."
            )
        equality = where.operator in {FilterOperator.IS, FilterOperator.IS_NOT}
        if isinstance(field.field_type, t.BooleanType) and not equality:
            message = f"{field.name} is true or false, which have no order."
            raise InvalidInputError(message, "Compare it by equality.")
        values = (_parse_value(field, where),)
    found: BooleanExpression = _EXPRESSIONS[where.operator](field.name, *values)
    return found


def find_field(schema: Schema, name: str) -> t.NestedField:
    """Return the field of this name: an exact match first, then one in any case."""
    there = [field for field in schema.fields if field.name.lower() == name.lower()]
    for field in sorted(there, key=lambda field: field.name != name):
        return field
    names = ", ".join(field.name for field in schema.fields)
    raise InvalidInputError(f"The table has no field {name!r}.", f"It has: {names}.")


def _parse_value(field: t.NestedField, where: PreviewFilter) -> Value:
    if where.value is None:
        raise InvalidInputError(f"{field.name} has no value to compare with.", "Enter a value, or use `is empty`.")
    reads = next((reads for kinds, reads in _PARSERS.items() if isinstance(field.field_type, kinds)), None)
    if reads is None:
        message = f"{field.name} is {field.field_type}, which cannot be compared."
        raise InvalidInputError(message, "Use `is empty`.")
    text = where.value.isoformat() if isinstance(where.value, date) else str(where.value)
    try:
        return reads(text, field.field_type)
    except (ValueError, ArithmeticError, KeyError) as error:
        message = f"{text[:50]!r} is not a valid value of {field.name}, which is {field.field_type}."
        raise InvalidInputError(message, "Correct it.") from error


def _parse_integer(text: str, kind: t.IcebergType) -> Value:
    value, bits = int(text), 32 if isinstance(kind, t.IntegerType) else 64
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise ValueError
    return value


def _parse_float(text: str, _: t.IcebergType) -> Value:
    value = float(text)
    if not isfinite(value):
        raise ValueError
    return value


def _parse_decimal(text: str, kind: t.IcebergType) -> Value:
    value = Decimal(text)
    with localcontext(prec=_DIGITS):
        scaled = value.quantize(Decimal(1).scaleb(-getattr(kind, "scale", 0)))
    if scaled != value:
        raise ValueError
    return scaled


def _parse_timestamp(text: str, kind: t.IcebergType) -> Value:
    value = datetime.fromisoformat(text)
    if isinstance(kind, t.TimestamptzType):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value


_PARSERS: Mapping[tuple[type[t.IcebergType], ...], Callable[[str, t.IcebergType], Value]] = {
    (t.StringType,): lambda text, _: text,
    (t.IntegerType, t.LongType): _parse_integer,
    (t.FloatType, t.DoubleType): _parse_float,
    (t.DecimalType,): _parse_decimal,
    (t.BooleanType,): lambda text, _: {"true": True, "false": False}[text.lower()],
    (t.DateType,): lambda text, _: date.fromisoformat(text),
    (t.TimestampType, t.TimestamptzType): _parse_timestamp,
}
