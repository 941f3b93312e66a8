"""A clock that stands still until a test moves it."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.kit.clock import SECOND, Moment


@dataclass(slots=True)
class StoppedClock:
    """A clock that returns the same time until it is advanced."""

    at: Moment = 1_000_000 * SECOND

    def __call__(self) -> Moment:
        return self.at

    def advance(self, seconds: float) -> Moment:
        """Let time pass, and tell the moment then."""
        self.at += round(seconds * SECOND)
        return self.at
