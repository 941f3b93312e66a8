"""SQL of what settings say in words: literals of a column's type, conditions and aggregates.

Nothing that a member wrote becomes SQL text: a value is a literal of its column's type, or an error.
"""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Literal

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake.row_formats import quote_literal

Aggregate = Literal["count", "count distinct", "sum", "average", "least", "most"]
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "contains", "starts with", "in", "is empty", "is not empty"]

AGGREGATES = {
    "count": "count({0})",
    "count distinct": "count(DISTINCT {0})",
    "sum": "sum({0})",
    "average": "avg({0})",
    "least": "min({0})",
    "most": "max({0})",
}
NUMERIC_AGGREGATES = frozenset({"sum", "average"})
UNARY_OPERATORS = {"is empty": "{0} IS NULL", "is not empty": "{0} IS NOT NULL"}
TEXT_OPERATORS = {"contains": "contains({0}, {1})", "starts with": "startswith({0}, {1})"}

_INTEGER_TYPES = {"int", "long"}
_NUMBER_TYPES = {*_INTEGER_TYPES, "float", "double"}
_RELATIVE_DATE = re.compile(r"(today|week|month|quarter|year)\s*(?:([+-])\s*(\d{1,4}))?")
_MONTHS_OF_UNIT = {"month": 1, "quarter": 3, "year": 12}
_MONTHS_IN_YEAR = 12
_MAX_DIGITS = 38
"""The digits of the largest decimal in SQL."""


def is_numeric_type(kind: str) -> bool:
    """Return whether an Iceberg type is numeric."""
    return kind in _NUMBER_TYPES or kind.startswith("decimal(")


def condition_sql(column: str, operator: Operator, literals: Sequence[str]) -> str:
    """Return the SQL of a condition on a column, which is SQL itself."""
    if operator in UNARY_OPERATORS:
        return UNARY_OPERATORS[operator].format(column)
    if operator == "in":
        return f"{column} IN ({', '.join(literals)})"
    (literal,) = literals
    if operator in TEXT_OPERATORS:
        return TEXT_OPERATORS[operator].format(column, literal)
    return f"{column} {'<>' if operator == '!=' else operator} {literal}"


def typed_literal(value: str, kind: str, at: datetime | None = None) -> str:
    """Return the value as an SQL literal of an Iceberg type, or raise if it is none.

    Dates may be relative to `at`, such as `today - 7`, if there is one.
    """
    if kind == "string":
        return quote_literal(value)
    if kind == "boolean":
        if value.lower() not in {"true", "false"}:
            raise InvalidInputError(f"{quote(value)} is neither true nor false.", "Write one of the two.")
        return value.upper()
    if is_numeric_type(kind):
        number = _number_literal(value, whole=kind in _INTEGER_TYPES)
        # As a decimal, 0.1 would not be equal to the float that is nearest to it.
        return f"{number}F" if kind == "float" else number
    if kind == "date":
        return f"DATE {_time_literal(value, at, date, 'date', '2026-11-30')}"
    if kind in {"timestamp", "timestamptz"}:
        word = "TIMESTAMP" if kind == "timestamptz" else "TIMESTAMP_NTZ"
        return f"{word} {_time_literal(value, at, datetime, 'timestamp', '2026-11-30 12:00')}"
    raise InvalidInputError(f"Columns of the type {kind} cannot be compared.", "Leave the condition out.")


def _number_literal(value: str, *, whole: bool) -> str:
    try:
        found = Decimal(value.strip())
    except InvalidOperation:
        raise InvalidInputError(f"{quote(value)} is not a number.", "Write one, such as 12.5.") from None
    # Checked before it is written out: a few letters can stand for a number of a million digits.
    small = found.is_finite() and abs(found.adjusted()) < _MAX_DIGITS and len(found.as_tuple().digits) <= _MAX_DIGITS
    if not small or (whole and found != found.to_integral_value()):
        raise InvalidInputError(f"{quote(value)} is out of range for the column.", "Write another one.")
    return f"{found:f}"


def _time_literal(value: str, at: datetime | None, kind: type[date], noun: str, example: str) -> str:
    """Return a day or a moment as SQL reads it, from ISO 8601 or relative to now."""
    try:
        found = (_parse_relative(value, at.date()) if at else None) or kind.fromisoformat(value.strip())
    except ValueError:
        hint = f"Write {example}, or today - 7." if at else f"Write {example}."
        raise InvalidInputError(f"{quote(value)} is not a {noun}.", hint) from None
    if isinstance(found, datetime) and found.tzinfo:
        # SQL would leave the zone out of a timestamp without one.
        found = found.astimezone(UTC).replace(tzinfo=None)
    return quote_literal(found.isoformat())


def _parse_relative(value: str, today: date) -> date | None:
    """Return the first day of the unit, so many units away: `month - 1` is the first of the last month."""
    found = _RELATIVE_DATE.fullmatch(value.strip().lower())
    if found is None:
        return None
    unit, away = found[1], int(f"{found[2] or '+'}{found[3] or 0}")
    try:
        if unit == "today":
            return today + timedelta(days=away)
        if unit == "week":
            return today - timedelta(days=today.weekday()) + timedelta(weeks=away)
        months = _MONTHS_OF_UNIT[unit]
        start = today.year * _MONTHS_IN_YEAR + (today.month - 1) // months * months + away * months
        return date(start // _MONTHS_IN_YEAR, start % _MONTHS_IN_YEAR + 1, 1)
    except (OverflowError, ValueError):
        raise InvalidInputError(f"{quote(value)} is not a valid date.", "Choose one nearer to today.") from None
