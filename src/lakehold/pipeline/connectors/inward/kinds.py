"""What type a value has: found for texts and for JSON, and checked for one that is said to be of it.

A guess is careful. What may be a number but would lose something as one stays text: leading zeros, more digits than a
number holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal, InvalidOperation

from lakehold.kit.errors import InvalidInputError

TEXT, WHOLE, NUMBER, TRUTH = "string", "bigint", "double", "boolean"
DAY, MOMENT, LOCAL = "date", "timestamp", "timestamp_ntz"
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d*)")
_NUMBER = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(?P<zone>Z|[+-]\d\d:?\d\d)?")
_DECIMAL = re.compile(r"decimal\((\d{1,2}),\s*(\d{1,2})\)")
_LARGEST = 2**63
_DIGITS = 15
_MOST_DIGITS = 38
_SIZES = {"tinyint": 2**7, "smallint": 2**15, "int": 2**31, WHOLE: _LARGEST}
TYPES = (TEXT, *_SIZES, "float", NUMBER, TRUTH, DAY, MOMENT, LOCAL, "binary")


def checked(kind: str) -> str:
    """The type, if there is such a one."""
    text = kind.strip().lower()
    if text in TYPES:
        return text
    numbers = _DECIMAL.fullmatch(text)
    if numbers and int(numbers[2]) <= int(numbers[1]) <= _MOST_DIGITS and int(numbers[1]):
        return f"decimal({int(numbers[1])},{int(numbers[2])})"
    raise InvalidInputError(f"There is no type {kind!r}.", f"Choose one of {', '.join(TYPES)} or decimal(10,2).")


def of_texts(values: Iterable[str]) -> str:
    """The narrowest type that all the texts fit; those that are empty fit all."""
    found = {_of_text(value) for value in values if value}
    if len(found) == 1:
        return found.pop()
    if found == {WHOLE, NUMBER}:
        return NUMBER
    return LOCAL if found == {DAY, LOCAL} else TEXT


def of_values(values: Iterable[object]) -> str:
    """The type of values of JSON. A text stays one, and what is nested is its JSON."""
    found = {_of_value(value) for value in values if value is not None}
    if len(found) == 1:
        return found.pop()
    return NUMBER if found == {WHOLE, NUMBER} else TEXT


def fits(value: object, kind: str) -> bool:
    """Whether a value of JSON, or a text, is one of this type."""
    if value is None or kind in {TEXT, "binary"}:
        return True
    if isinstance(value, bool) or kind == TRUTH:
        return kind == TRUTH and (isinstance(value, bool) or str(value).lower() in {"true", "false"})
    if kind in _SIZES:
        return not isinstance(value, float) and _is_whole(str(value), _SIZES[kind])
    if kind in {DAY, MOMENT, LOCAL}:
        return isinstance(value, str) and _is_time(value, kind)
    return _is_number(value, kind)


def _of_text(value: str) -> str:
    if value.lower() in {"true", "false"}:
        return TRUTH
    if _WHOLE.fullmatch(value):
        return WHOLE if _is_whole(value, _LARGEST) else TEXT
    if _NUMBER.fullmatch(value) and _is_short(value):
        return NUMBER
    if _DAY.fullmatch(value):
        return DAY if _is_time(value, DAY) else TEXT
    moment = _MOMENT.fullmatch(value)
    if moment and _is_time(value, MOMENT):
        return MOMENT if moment["zone"] else LOCAL
    return TEXT


def _of_value(value: object) -> str:
    if isinstance(value, bool):
        return TRUTH
    if isinstance(value, int):
        return WHOLE if -_LARGEST <= value < _LARGEST else TEXT
    return NUMBER if isinstance(value, float) else TEXT


def _is_short(value: str) -> bool:
    return sum(letter.isdigit() for letter in value.lower().split("e")[0]) <= _DIGITS


def _is_whole(value: str, largest: int) -> bool:
    try:
        return -largest <= int(value) < largest
    except ValueError:
        return False


def _is_number(value: object, kind: str) -> bool:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return False
    limit = _DECIMAL.fullmatch(kind)
    if limit is None or not number.is_finite():
        return limit is None
    return abs(number) < Decimal(10) ** (int(limit[1]) - int(limit[2]))


def _is_time(value: str, kind: str) -> bool:
    try:
        if kind == DAY:
            return bool(date.fromisoformat(value))
        return bool(datetime.fromisoformat(value))
    except ValueError:
        return False
