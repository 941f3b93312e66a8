"""What comes from outside is looked at before anything is looked up by it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime

from lakehold.kit.clock import FOREVER, Moment, moment
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import valid_id


def text(value: object, what: str) -> str:
    """The value, if it is a text."""
    return value if type(value) is str else valid_id(value, what)


def mapping(value: object, what: str) -> Mapping[object, object]:
    """The value, if it maps names to something."""
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"The {what} are a mapping of names, not {type(value).__name__}.", "Write {name: …}.")
    return value


def one_or_several(value: object, what: str) -> tuple[str, ...]:
    """The value as several texts: it may be one, or some in a row."""
    if isinstance(value, str):
        return (value,)
    return tuple(text(part, what) for part in several(value, what))


def several(value: object, what: str) -> Iterable[object]:
    """The value, if it is some things in a row or in a set."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence | AbstractSet):
        raise InvalidInputError(
            f"Several of the kind {what} are wanted, not {type(value).__name__}.", "Put them into a list."
        )
    return value


def when(value: object) -> Moment:
    """The value as a moment: whole microseconds since 1970, or a datetime with a time zone."""
    if isinstance(value, datetime):
        return moment(value)
    if type(value) is not int or not -FOREVER < value <= FOREVER:
        raise InvalidInputError(
            f"A time is a datetime or whole microseconds since 1970, not {repr(value)[:40]}.",
            "For example 2026-01-31 12:00+00:00.",
        )
    return value
