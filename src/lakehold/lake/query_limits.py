"""Limits of interactive queries for one member."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.kit.settings import Settings


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """Limits of one member's interactive queries."""

    at_once: int
    seconds: int
    rows: int
    megabytes: int
    patience: int
    """So many seconds others wait for a query that holds all there is."""

    @classmethod
    def from_settings(cls, settings: Settings) -> QueryLimits:
        """Return the limits that the platform settings define."""
        return cls(
            settings.queries_at_once,
            settings.query_seconds,
            settings.query_rows,
            settings.query_megabytes,
            settings.query_patience,
        )
