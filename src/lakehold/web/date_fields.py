"""Dates in forms: until the end of which day something lasts."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, SECOND, Moment, to_moment
from lakehold.kit.errors import InvalidInputError


def parse_end_of_day(ctx: RequestContext, day: str) -> Moment | None:
    """Return the end of a day in UTC; None for an empty text. A day in the past is refused."""
    if not day.strip():
        return None
    try:
        following = date.fromisoformat(day.strip()) + timedelta(days=1)
    except (ValueError, OverflowError):
        raise InvalidInputError("This is no day.", "Write it as 2031-05-04.") from None
    end = to_moment(datetime(following.year, following.month, following.day, tzinfo=UTC))
    if end <= ctx.at:
        raise InvalidInputError("This day is over.", "Choose one that is to come.")
    return end


def last_day_value(at: Moment) -> str:
    """Return the last day covered, as the value of a date field; empty for no end."""
    if at >= FOREVER:
        return ""
    return datetime.fromtimestamp((at - 1) // SECOND, UTC).date().isoformat()


def today(ctx: RequestContext) -> str:
    """Return the current day, the first that can be chosen."""
    return datetime.fromtimestamp(ctx.at / SECOND, UTC).date().isoformat()
