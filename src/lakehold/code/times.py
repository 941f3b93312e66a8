"""Moments as files write them: a day, which begins at midnight UTC, or a time with its zone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.errors import InvalidInputError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_TICKS = re.compile(r"-?\d{12,19}")


@dataclass(frozen=True, slots=True)
class Span:
    """From when until when something holds. Without a beginning it holds now, without an end for good."""

    since: Moment | None = None
    until: Moment | None = None

    def seen_from(self, at: Moment) -> Span | None:
        """The span as it looks at a moment: what has begun needs no beginning, what is over is nothing."""
        if self.until is not None and self.until <= at:
            return None
        return self if self.since is None or self.since > at else Span(None, self.until)

    def covers(self, at: Moment) -> bool:
        """Whether the moment lies in it."""
        return (self.since is None or self.since <= at) and (self.until is None or at < self.until)

    @property
    def begin(self) -> Moment:
        """Its beginning as a number that can be compared."""
        return -FOREVER if self.since is None else self.since

    @property
    def end(self) -> Moment:
        """Its end as a number that can be compared."""
        return FOREVER if self.until is None else self.until

    def __str__(self) -> str:
        parts = [f"from {told(self.since)}"] if self.since is not None else []
        return ", ".join(parts + ([f"until {told(self.until)}"] if self.until is not None else []))


ALWAYS = Span()


def told(at: Moment) -> str:
    """The shortest text that says the moment exactly."""
    try:
        found = _EPOCH + timedelta(microseconds=at)
    except OverflowError:
        return str(at)  # after the year 9999 there are no dates, only microseconds since 1970
    if found == found.replace(hour=0, minute=0, second=0, microsecond=0):
        return f"{found:%Y-%m-%d}".zfill(10)
    return found.isoformat().replace("+00:00", "Z")


def read(text: str) -> Moment:
    """The moment that a text says."""
    try:
        if _TICKS.fullmatch(text):
            return _within(int(text))
        found = datetime.fromisoformat(f"{text}T00:00:00Z" if _DAY.fullmatch(text) else text)
    except ValueError:
        found = None
    if found is None or (found.tzinfo is None and _DAY.fullmatch(text)):
        raise InvalidInputError(f"{text[:40]!r} is no time.", "For example 2026-01-31, or 2026-01-31T12:00:00Z.")
    if found.tzinfo is None:
        raise InvalidInputError(f"The time {text} has no time zone.", "Add one: Z, or for example +01:00.")
    return (found - _EPOCH) // _TICK


def _within(ticks: int) -> Moment:
    if not -FOREVER < ticks < FOREVER:
        raise ValueError(ticks)
    return ticks
