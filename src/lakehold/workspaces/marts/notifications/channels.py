"""What a project tells of, each by itself switched on or off."""

from __future__ import annotations

from enum import StrEnum

from lakehold.access.model.errors import did_you_mean
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote


class Channel(StrEnum):
    """One sort of notices."""

    FAILED_RUNS = "failed_runs"
    BROKEN_CHECKS = "broken_checks"
    SUCCEEDED_RUNS = "succeeded_runs"

    @property
    def label(self) -> str:
        """As people say it."""
        return self.value.replace("_", " ").capitalize()


ON_AT_FIRST = frozenset({Channel.FAILED_RUNS, Channel.BROKEN_CHECKS})
"""Those that a project tells of unless it is switched off."""


def channel(name: object) -> Channel:
    """The one of this name; a refusal if there is none."""
    if not isinstance(name, str) or name not in set(Channel):
        raise InvalidInputError(f"There is no channel {quote(str(name))}.", did_you_mean(str(name), Channel))
    return Channel(name)
