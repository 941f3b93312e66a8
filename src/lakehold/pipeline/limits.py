"""How much one person may have of what all share."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.kit.settings import Settings


@dataclass(frozen=True, slots=True)
class Limits:
    """Of interactive queries."""

    at_once: int
    seconds: int
    rows: int
    megabytes: int
    patience: int
    """So many seconds others wait for a query that holds all there is."""

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        """As the installation has it."""
        return cls(
            settings.queries_at_once,
            settings.query_seconds,
            settings.query_rows,
            settings.query_megabytes,
            settings.query_patience,
        )
