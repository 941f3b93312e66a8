"""Why a text is no row, in words. It runs beside Spark, for bad rows alone."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lakehold.pipeline.connectors.inward import kinds
from lakehold.pipeline.connectors.inward.connector import Field

LONGEST = 10_000_000
"""A text longer than this is no row."""
KEPT = 10_000
"""As much of a bad text is kept."""
UNREADABLE = "\N{REPLACEMENT CHARACTER}"
_SHOWN = 40
_OTHER = "It does not fit the fields."
csv.field_size_limit(2**31 - 1)


@dataclass(frozen=True, slots=True)
class Json:
    """Why a text is no record of JSON with these fields."""

    fields: tuple[Field, ...]

    def __call__(self, raw: str, length: int) -> str:
        """What is wrong with it."""
        if length > LONGEST:
            return _too_long(length)
        try:
            found = json.loads(raw)
        except RecursionError:
            return "It is nested too deeply."
        except ValueError as error:
            return _no_text(raw) or f"It is no JSON: {_said(error)}."
        if not isinstance(found, dict):
            return f"It is {_called(found)}, not an object."
        return _misfit(found, self.fields) or _no_text(raw) or _OTHER


@dataclass(frozen=True, slots=True)
class Separated:
    """Why a line is no row of values with these fields."""

    fields: tuple[Field, ...]
    delimiter: str
    quote: str
    escape: str

    def __call__(self, raw: str, length: int) -> str:
        """What is wrong with it."""
        if length > LONGEST:
            return _too_long(length)
        if said := _no_text(raw):
            return said
        try:
            values = next(reader([raw], self.delimiter, self.quote, self.escape, strict=True), [])
        except csv.Error:
            return "It has a quote that is not closed."
        if len(values) != len(self.fields):
            return f"It has {_values(len(values))} for {_fields(len(self.fields))}."
        named = {field.name: value or None for field, value in zip(self.fields, values, strict=True)}
        return _misfit(named, self.fields) or _OTHER


def reader(
    lines: Iterable[str], delimiter: str, quote: str, escape: str, *, strict: bool = False
) -> Iterator[list[str]]:
    """Python's reader of separated values, as Spark's is set up."""
    return csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        doublequote=escape == quote,
        escapechar=None if escape == quote else escape or None,
        strict=strict,
    )


def _misfit(values: dict[str, Any], fields: tuple[Field, ...]) -> str:
    found = [
        f"{field.name} is {_shown(values.get(field.name))}, which is no {field.type}"
        for field in fields
        if not kinds.fits(values.get(field.name), field.type)
    ]
    return "; ".join(found[:3]) + "." if found else ""


def _no_text(raw: str) -> str:
    return "It has bytes that are no text in this encoding." if UNREADABLE in raw else ""


def _too_long(length: int) -> str:
    return f"It is {length:,} bytes long; at most {LONGEST:,} are read."


def _said(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg[:1].lower()}{error.msg[1:]}, at character {error.pos + 1}"
    return "a number in it cannot be read"


def _called(value: object) -> str:
    names = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    cut = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return repr(cut) if isinstance(value, str) else cut


def _values(count: int) -> str:
    return "1 value" if count == 1 else f"{count:,} values"


def _fields(count: int) -> str:
    return "1 field" if count == 1 else f"{count:,} fields"
