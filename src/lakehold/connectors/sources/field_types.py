"""Types and names of fields: inferred from texts or JSON, checked for values, and names made distinct.

Inference is careful: what would lose something as a number stays text, such as leading zeros or more digits than a
number holds.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import count

from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord

STRING, BIGINT, DOUBLE, BOOLEAN = "string", "bigint", "double", "boolean"
DATE, TIMESTAMP, TIMESTAMP_NTZ = "date", "timestamp", "timestamp_ntz"
_INTEGER_PATTERN = re.compile(r"[+-]?(0|[1-9]\d*)")
_NUMBER_PATTERN = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_DATE_PATTERN = re.compile(r"\d{4}-\d\d-\d\d")
_TIMESTAMP_PATTERN = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(?P<zone>Z|[+-]\d\d:?\d\d)?")
_DECIMAL_PATTERN = re.compile(r"decimal\((\d{1,2}),\s*(\d{1,2})\)")
_LARGEST = 2**63
_DIGITS = 15
_MOST_DIGITS = 38
_SIZES = {"tinyint": 2**7, "smallint": 2**15, "int": 2**31, BIGINT: _LARGEST}
TYPES = (STRING, *_SIZES, "float", DOUBLE, BOOLEAN, DATE, TIMESTAMP, TIMESTAMP_NTZ, "binary")


@dataclass(frozen=True, slots=True)
class StreamField(SettingsRecord):
    """One field of a stream."""

    name: str
    type: str = "string"
    """As Spark calls it: `bigint`, `decimal(10,2)`, `timestamp_ntz`."""


def valid_type(kind: str) -> str:
    """Return the normalised type name, or refuse an unknown one."""
    text = kind.strip().lower()
    if text in TYPES:
        return text
    numbers = _DECIMAL_PATTERN.fullmatch(text)
    if numbers and int(numbers[2]) <= int(numbers[1]) <= _MOST_DIGITS and int(numbers[1]):
        return f"decimal({int(numbers[1])},{int(numbers[2])})"
    raise InvalidSettingError(f"There is no type {kind!r}.", f"Choose one of {', '.join(TYPES)} or decimal(10,2).")


def infer_from_texts(values: Iterable[str]) -> str:
    """Return the narrowest type that all texts fit; empty texts fit all."""
    return _common_type({_infer_text(value) for value in values if value})


def infer_from_json(values: Iterable[object]) -> str:
    """Return the type of JSON values. Texts stay text, and nested values are JSON text."""
    return _common_type({_infer_json_value(value) for value in values if value is not None})


def fits(value: object, kind: str) -> bool:
    """Return whether a JSON value or text is a value of this type."""
    if value is None or kind in {STRING, "binary"}:
        return True
    if isinstance(value, bool) or kind == BOOLEAN:
        return kind == BOOLEAN and (isinstance(value, bool) or str(value).lower() in {"true", "false"})
    if kind in _SIZES:
        return not isinstance(value, float) and _is_whole(str(value), _SIZES[kind])
    if kind in {DATE, TIMESTAMP, TIMESTAMP_NTZ}:
        return isinstance(value, str) and _is_time(value, kind)
    return _is_number(value, kind)


def _common_type(found: set[str]) -> str:
    if len(found) == 1:
        return found.pop()
    if found == {BIGINT, DOUBLE}:
        return DOUBLE
    return TIMESTAMP_NTZ if found == {DATE, TIMESTAMP_NTZ} else STRING


def _infer_text(value: str) -> str:
    if value.lower() in {"true", "false"}:
        return BOOLEAN
    if _INTEGER_PATTERN.fullmatch(value):
        return BIGINT if _is_whole(value, _LARGEST) else STRING
    if _NUMBER_PATTERN.fullmatch(value) and sum(map(str.isdigit, value.lower().split("e")[0])) <= _DIGITS:
        return DOUBLE
    if _DATE_PATTERN.fullmatch(value):
        return DATE if _is_time(value, DATE) else STRING
    moment = _TIMESTAMP_PATTERN.fullmatch(value)
    if moment and _is_time(value, TIMESTAMP):
        return TIMESTAMP if moment["zone"] else TIMESTAMP_NTZ
    return STRING


def _infer_json_value(value: object) -> str:
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, int):
        return BIGINT if -_LARGEST <= value < _LARGEST else STRING
    return DOUBLE if isinstance(value, float) else STRING


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
    limit = _DECIMAL_PATTERN.fullmatch(kind)
    if limit is None or not number.is_finite():
        return limit is None
    return abs(number) < Decimal(10) ** (int(limit[1]) - int(limit[2]))


def _is_time(value: str, kind: str) -> bool:
    try:
        return bool((date if kind == DATE else datetime).fromisoformat(value))
    except ValueError:
        return False


MAX_NAME_LENGTH = 250


def distinct_names(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names, completed and made distinct for SQL, and messages about what was changed."""
    cleaned = [" ".join(name.split())[:MAX_NAME_LENGTH] for name in names]
    taken: set[str] = set()
    # A name that is there passed keeps its place against those that are made up.
    reserved = {name.lower() for name in cleaned if name}
    found: list[str] = []
    notes: list[str] = []
    # By name: the numbers that have not been tried yet, so that many doubles do not each try them all.
    numbers: defaultdict[str, Iterator[int]] = defaultdict(partial(count, 2))
    for number, name in enumerate(cleaned, start=1):
        unique = name or f"column_{number}"
        if unique.lower() in taken or (not name and unique.lower() in reserved):
            numbered = (f"{unique}_{number}" for number in numbers[unique.lower()])
            unique = next(free for free in numbered if free.lower() not in taken and free.lower() not in reserved)
        if unique != name:
            problem = f"is called {name!r} like another one" if name else "has no name"
            notes.append(f"Field {number} {problem}; it is read as {unique!r}.")
        taken.add(unique.lower())
        found.append(unique)
    return tuple(found), tuple(notes)
