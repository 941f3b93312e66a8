"""Translates the filters of a preview into PyIceberg expressions, with values parsed as the field's type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, localcontext
from math import isfinite
from typing import Any

from pyiceberg.expressions import (
    BooleanExpression,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    IsNull,
    LessThan,
    LessThanOrEqual,
    NotEqualTo,
    NotNull,
    StartsWith,
)
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
)

from lakehold.kit.errors import InvalidInputError
from lakehold.lake.previews import FilterOperator, PreviewFilter

Value = str | bool | int | float | Decimal | date | datetime
_DIGITS = 60

# PyIceberg tells type checkers of other parameters than it takes.
_EXPRESSIONS: Mapping[FilterOperator, Any] = {
    FilterOperator.IS: EqualTo,
    FilterOperator.IS_NOT: NotEqualTo,
    FilterOperator.LESS: LessThan,
    FilterOperator.AT_MOST: LessThanOrEqual,
    FilterOperator.MORE: GreaterThan,
    FilterOperator.AT_LEAST: GreaterThanOrEqual,
    FilterOperator.STARTS: StartsWith,
    FilterOperator.EMPTY: IsNull,
    FilterOperator.FILLED: NotNull,
}


def build_expression(where: PreviewFilter, schema: Schema) -> BooleanExpression:
    """Return the Iceberg expression of a filter, or refuse one that does not fit the field."""
    field = find_field(schema, where.field)
    make = _EXPRESSIONS[where.operator]
    if where.operator in {FilterOperator.EMPTY, FilterOperator.FILLED}:
        if where.value is not None:
            raise InvalidInputError(f"{where.operator.capitalize()!r} takes no value.", "Leave it out.")
        found: BooleanExpression = make(field.name)
        return found
    if where.operator is FilterOperator.STARTS and not isinstance(field.field_type, StringType):
        raise InvalidInputError(f"{field.name} is no text, and starts with nothing.", "Compare it with a value.")
    if isinstance(field.field_type, BooleanType) and where.operator not in {FilterOperator.IS, FilterOperator.IS_NOT}:
        message = f"{field.name} is true or false, and neither is more."
        raise InvalidInputError(message, "Ask whether it is one of them.")
    compared: BooleanExpression = make(field.name, _parse_value(field, where))
    return compared


def find_field(schema: Schema, name: str) -> NestedField:
    """Return the field of this name: an exact match first, then one in any case."""
    there = [field for field in schema.fields if field.name.lower() == name.lower()]
    for field in sorted(there, key=lambda field: field.name != name):
        return field
    names = ", ".join(field.name for field in schema.fields)
    raise InvalidInputError(f"The table has no field {name!r}.", f"It has: {names}.")


def _parse_value(field: NestedField, where: PreviewFilter) -> Value:
    if where.value is None:
        raise InvalidInputError(f"{field.name} is to be compared with nothing.", "Give a value, or ask what is empty.")
    reads = next((reads for kinds, reads in _PARSERS.items() if isinstance(field.field_type, kinds)), None)
    if reads is None:
        message = f"{field.name} is {field.field_type}, which has no value to compare with."
        raise InvalidInputError(message, "Ask whether it is empty.")
    text = where.value.isoformat() if isinstance(where.value, date) else str(where.value)
    try:
        return reads(text, field.field_type)
    except (ValueError, ArithmeticError) as error:
        message = f"{text[:50]!r} is no value of {field.name}, which is {field.field_type}."
        raise InvalidInputError(message, "Correct it.") from error


def _parse_integer(text: str, kind: IcebergType) -> Value:
    value, bits = int(text), 32 if isinstance(kind, IntegerType) else 64
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise ValueError
    return value


def _parse_float(text: str, _: IcebergType) -> Value:
    value = float(text)
    if not isfinite(value):
        raise ValueError
    return value


def _parse_decimal(text: str, kind: IcebergType) -> Value:
    value = Decimal(text)
    with localcontext(prec=_DIGITS):
        scaled = value.quantize(Decimal(1).scaleb(-getattr(kind, "scale", 0)))
    if scaled != value:
        raise ValueError
    return scaled


def _parse_boolean(text: str, _: IcebergType) -> Value:
    if text.lower() not in {"true", "false"}:
        raise ValueError
    return text.lower() == "true"


def _parse_date(text: str, _: IcebergType) -> Value:
    return date.fromisoformat(text)


def _parse_timestamp(text: str, kind: IcebergType) -> Value:
    value = datetime.fromisoformat(text)
    if isinstance(kind, TimestamptzType):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value


def _parse_text(text: str, _: IcebergType) -> Value:
    return text


_PARSERS: Mapping[tuple[type[IcebergType], ...], Callable[[str, IcebergType], Value]] = {
    (StringType,): _parse_text,
    (IntegerType, LongType): _parse_integer,
    (FloatType, DoubleType): _parse_float,
    (DecimalType,): _parse_decimal,
    (BooleanType,): _parse_boolean,
    (DateType,): _parse_date,
    (TimestampType, TimestamptzType): _parse_timestamp,
}
