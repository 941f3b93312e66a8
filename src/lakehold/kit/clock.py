"""Moments as whole microseconds since 1970, UTC: exact, sortable, and the same in every database."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from lakehold.kit.errors import InvalidInputError

Moment = int
Clock = Callable[[], Moment]

SECOND: Moment = 1_000_000
DAY: Moment = 86_400 * SECOND
FOREVER: Moment = 2**62
"""`until` of a fact that has no end, so that every fact is live while `since <= at < until`."""


def now() -> Moment:
    """Return the present moment."""
    return time.time_ns() // 1_000


def to_moment(when: Moment | datetime) -> Moment:
    """Convert a datetime with a time zone to a moment; return a moment unchanged."""
    if isinstance(when, datetime):
        if when.tzinfo is None:
            raise InvalidInputError(f"The time {when.isoformat()} has no time zone.", "Add one, for example +00:00.")
        return round(when.timestamp() * SECOND)
    return when


def format_moment(at: Moment) -> str:
    """Format a moment as readable text in UTC."""
    if at >= FOREVER:
        return "no end"
    return datetime.fromtimestamp(at / SECOND, UTC).isoformat(sep=" ", timespec="seconds")
