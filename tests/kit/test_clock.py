from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from lakehold.kit.clock import FOREVER, SECOND, format_moment, now, to_moment
from lakehold.kit.errors import InvalidInputError


def test_a_moment_is_the_same_in_every_time_zone() -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert to_moment(noon) == to_moment(noon.astimezone(timezone(timedelta(hours=5, minutes=30))))
    assert to_moment(to_moment(noon)) == to_moment(noon)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no time zone"):
        to_moment(datetime(2026, 3, 1, 12))  # noqa: DTZ001 - that is what is refused


def test_moments_read_well() -> None:
    assert format_moment(0) == "1970-01-01 00:00:00+00:00"
    assert format_moment(FOREVER) == "no end"
    assert now() > 1_700_000_000 * SECOND
