"""What a filter of a preview means to Iceberg: its value as the field's type, or a refusal."""

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
from lakehold.pipeline.previews import Filter, Operator

Value = str | bool | int | float | Decimal | date | datetime
_DIGITS = 60

# PyIceberg tells type checkers of other parameters than it takes.
_MAKING: Mapping[Operator, Any] = {
    Operator.IS: EqualTo,
    Operator.IS_NOT: NotEqualTo,
    Operator.LESS: LessThan,
    Operator.AT_MOST: LessThanOrEqual,
    Operator.MORE: GreaterThan,
    Operator.AT_LEAST: GreaterThanOrEqual,
    Operator.STARTS: StartsWith,
    Operator.EMPTY: IsNull,
    Operator.FILLED: NotNull,
}


def expression(where: Filter, schema: Schema) -> BooleanExpression:
    """The filter for this table."""
    field = field_of(schema, where.field)
    make = _MAKING[where.operator]
    if where.operator in {Operator.EMPTY, Operator.FILLED}:
        if where.value is not None:
            raise InvalidInputError(f"{where.operator.capitalize()!r} takes no value.", "Leave it out.")
        found: BooleanExpression = make(field.name)
        return found
    if where.operator is Operator.STARTS and not isinstance(field.field_type, StringType):
        raise InvalidInputError(f"{field.name} is no text, and starts with nothing.", "Compare it with a value.")
    if isinstance(field.field_type, BooleanType) and where.operator not in {Operator.IS, Operator.IS_NOT}:
        raise InvalidInputError(
            f"{field.name} is true or false, and neither is more.", "Ask whether it is one of them."
        )
    compared: BooleanExpression = make(field.name, _value(field, where))
    return compared


def field_of(schema: Schema, name: str) -> NestedField:
    """The field of this name, as it is written or else in any case."""
    there = [field for field in schema.fields if field.name.lower() == name.lower()]
    for field in sorted(there, key=lambda field: field.name != name):
        return field
    names = ", ".join(field.name for field in schema.fields)
    raise InvalidInputError(f"The table has no field {name!r}.", f"It has: {names}.")


def _value(field: NestedField, where: Filter) -> Value:
    if where.value is None:
        raise InvalidInputError(f"{field.name} is to be compared with nothing.", "Give a value, or ask what is empty.")
    reads = next((reads for kinds, reads in _READING.items() if isinstance(field.field_type, kinds)), None)
    if reads is None:
        raise InvalidInputError(
            f"{field.name} is {field.field_type}, which has no value to compare with.", "Ask whether it is empty."
        )
    text = where.value.isoformat() if isinstance(where.value, date) else str(where.value)
    try:
        return reads(text, field.field_type)
    except (ValueError, ArithmeticError) as error:
        raise InvalidInputError(
            f"{text[:50]!r} is no value of {field.name}, which is {field.field_type}.", "Correct it."
        ) from error


def _whole(text: str, kind: IcebergType) -> Value:
    value, bits = int(text), 32 if isinstance(kind, IntegerType) else 64
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise ValueError
    return value


def _fraction(text: str, _: IcebergType) -> Value:
    value = float(text)
    if not isfinite(value):
        raise ValueError
    return value


def _decimal(text: str, kind: IcebergType) -> Value:
    value = Decimal(text)
    with localcontext(prec=_DIGITS):
        scaled = value.quantize(Decimal(1).scaleb(-getattr(kind, "scale", 0)))
    if scaled != value:
        raise ValueError
    return scaled


def _truth(text: str, _: IcebergType) -> Value:
    if text.lower() not in {"true", "false"}:
        raise ValueError
    return text.lower() == "true"


def _day(text: str, _: IcebergType) -> Value:
    return date.fromisoformat(text)


def _moment(text: str, kind: IcebergType) -> Value:
    value = datetime.fromisoformat(text)
    if isinstance(kind, TimestamptzType):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value


def _text(text: str, _: IcebergType) -> Value:
    return text


_READING: Mapping[tuple[type[IcebergType], ...], Callable[[str, IcebergType], Value]] = {
    (StringType,): _text,
    (IntegerType, LongType): _whole,
    (FloatType, DoubleType): _fraction,
    (DecimalType,): _decimal,
    (BooleanType,): _truth,
    (DateType,): _day,
    (TimestampType, TimestamptzType): _moment,
}
