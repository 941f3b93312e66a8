"""The time zones that people know by a place."""

from __future__ import annotations

from functools import cache
from zoneinfo import available_timezones

_PARTS = ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")


@cache
def zones() -> list[str]:
    """All of them, by name."""
    return sorted(name for name in available_timezones() if name == "UTC" or name.partition("/")[0] in _PARTS)
