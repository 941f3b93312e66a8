"""How far a delivery has come that is made of several parts, kept by whoever asked for it.

Nobody can take back a request or a mail. So what was acknowledged is written down at once, and a step that is run again
goes on after it. What had been sent when the process died, and was not acknowledged, is sent again: the receiver can
tell by its key, and the delivery says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Reached:
    """What the other side has acknowledged."""

    parts: int = 0
    """Batches, or mails."""
    rows: int = 0
    size: int = 0
    sure: bool = True
    paused: bool = False
    """Whether it stopped with nothing on its way, so that going on can make no double."""
    ended: bool = False
    words: str = ""
    refused: tuple[str, ...] = ()
    """Receivers that will never take it, and why."""


class Progress(Protocol):
    """Where it is written down, for one delivery. What `keep` was given must be there after a crash."""

    def read(self) -> Reached | None:
        """How far it has come; None if it was never begun."""

    def keep(self, reached: Reached) -> None:
        """Write down how far it has come."""
