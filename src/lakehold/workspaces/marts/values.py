"""Values that somebody wrote, as SQL of a column's type; dates also as they lie from now: `today - 7`, `month`."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake.row_formats import quote_literal

_RELATIVE = re.compile(r"(today|week|month|quarter|year)\s*(?:([+-])\s*(\d{1,4}))?")
_DECIMAL = re.compile(r"decimal\(.*")
_WHOLE = {"int", "long"}
_NUMBERS = {*_WHOLE, "float", "double"}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_IN_YEAR = 12
_DIGITS = 38
"""So many has the largest number that SQL can be told."""


def text(value: str) -> str:
    """A text."""
    return quote_literal(value)


def is_number(kind: str) -> bool:
    """Whether a column of this type of Iceberg's has numbers."""
    return kind in _NUMBERS or bool(_DECIMAL.fullmatch(kind))


def of_type(value: str, kind: str, at: datetime) -> str:
    """The value, if it is one of this type of Iceberg's."""
    if kind == "string":
        return quote_literal(value)
    if kind == "boolean":
        return _boolean(value)
    if is_number(kind):
        return _number(value, whole=kind in _WHOLE)
    if kind == "date":
        return f"DATE {quote_literal(_day(value, at).isoformat())}"
    if kind in {"timestamp", "timestamptz"}:
        word = "TIMESTAMP" if kind == "timestamptz" else "TIMESTAMP_NTZ"
        return f"{word} {quote_literal(_moment(value, at))}"
    raise InvalidInputError(f"Columns of the type {kind} are not compared.", "Leave the condition out.")


def _boolean(value: str) -> str:
    if value.lower() not in {"true", "false"}:
        raise InvalidInputError(f"{quote(value)} is neither true nor false.", "Write one of the two.")
    return value.upper()


def _number(value: str, *, whole: bool) -> str:
    try:
        found = Decimal(value.strip())
    except InvalidOperation:
        raise InvalidInputError(f"{quote(value)} is no number.", "Write one, such as 12.5.") from None
    # Asked before it is written out: a few letters can stand for a number of a million digits.
    small = found.is_finite() and abs(found.adjusted()) < _DIGITS and len(found.as_tuple().digits) <= _DIGITS
    if not small or (whole and found != found.to_integral_value()):
        raise InvalidInputError(f"{quote(value)} is no number that the column could have.", "Write another one.")
    return f"{found:f}"


def _day(value: str, at: datetime) -> date:
    if (found := _relative(value, at.date())) is not None:
        return found
    try:
        return date.fromisoformat(value.strip())
    except ValueError:
        raise InvalidInputError(f"{quote(value)} is no day.", "Write 2026-11-30, or today - 7.") from None


def _moment(value: str, at: datetime) -> str:
    if (found := _relative(value, at.date())) is not None:
        return found.isoformat()
    try:
        return datetime.fromisoformat(value.strip()).isoformat()
    except ValueError:
        raise InvalidInputError(f"{quote(value)} is no moment.", "Write 2026-11-30 12:00, or today - 7.") from None


def _relative(value: str, today: date) -> date | None:
    """The first day of the unit, so many units away: `month - 1` is the first of the last month."""
    found = _RELATIVE.fullmatch(value.strip().lower())
    if found is None:
        return None
    unit, away = found[1], int(f"{found[2] or '+'}{found[3] or 0}")
    try:
        if unit == "today":
            return today + timedelta(days=away)
        if unit == "week":
            return today - timedelta(days=today.weekday()) + timedelta(weeks=away)
        months = _MONTHS[unit]
        start = today.year * _IN_YEAR + (today.month - 1) // months * months + away * months
        return date(start // _IN_YEAR, start % _IN_YEAR + 1, 1)
    except (OverflowError, ValueError):
        raise InvalidInputError(f"{quote(value)} is no day that there is.", "Choose one nearer to today.") from None
