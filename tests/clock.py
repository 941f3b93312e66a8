"""A clock that stands still until a test moves it."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.kit.clock import SECOND, Moment


@dataclass(slots=True)
class StoppedClock:
    """Tells the same moment until it is moved."""

    at: Moment = 1_000_000 * SECOND

    def __call__(self) -> Moment:
        return self.at

    def pass_by(self, seconds: float) -> Moment:
        """Let time pass, and tell the moment then."""
        self.at += round(seconds * SECOND)
        return self.at
