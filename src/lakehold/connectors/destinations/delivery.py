"""Result and progress of a delivery.

A request or a mail cannot be taken back. So what was acknowledged is stored at once, and a repeated step continues
after it. What had been sent when the process died, and was not acknowledged, is sent again: the receiver can tell by
its key, and the result says so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lakehold.kit.errors import InvalidInputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """The result of a delivery: what was delivered, and where."""

    rows: int
    size: int
    """In bytes, as far as they are known: a database does not tell."""
    places: tuple[str, ...]
    """Files, a table, an address, receivers."""
    sure: bool = True
    """Whether nothing of it can have arrived twice. If it can, the words say what."""
    again: bool = False
    """Whether it had been delivered before, and nothing was done now."""
    words: str = ""
    """What somebody who reads about the run should know."""
    said: str = ""
    """Where, for those who see the run and perhaps not the address; empty if the places are for them too."""


def mark_digest(mark: str, *more: str) -> str:
    """Return a short digest of a mark for names of files, tables and headers."""
    if not mark:
        raise InvalidInputError("A delivery needs a mark.", "Name the run and the step.")
    return hashlib.sha256(json.dumps((mark, *more)).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class DeliveryProgress:
    """The progress of a delivery: what the receiver has acknowledged so far."""

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

    def to_result(self, places: tuple[str, ...], said: str, *, again: bool = False) -> DeliveryResult:
        """Return the progress as the result of a delivery that has ended."""
        return DeliveryResult(self.rows, self.size, places, self.sure, again, self.words, said)


@dataclass(frozen=True, slots=True)
class DeliveryMessage:
    """The message that is sent with the rows, or alone."""

    text: str
    html: str
    chat: str
    rows: int


@dataclass(frozen=True, slots=True)
class DeliveryRequest:
    """One delivery of one table."""

    table: str = ""
    """Its name, where there are several; each needs a name of its own there."""
    mark: str = ""
    retained_folder: Path = Path()
    """For what must be there again after a crash."""
    progress: ProgressStore | None = None
    """None where nothing is sent."""
    message: DeliveryMessage | None = None
    """None where rows are sent without words."""

    def need_progress(self) -> ProgressStore:
        """Return where progress is stored, which every delivery that sends has."""
        assert self.progress is not None  # noqa: S101 - as above
        return self.progress


@dataclass(frozen=True, slots=True)
class Destination:
    """A destination, opened for one delivery."""

    check: Callable[[], str]
    """Tests it without sending anything, and returns the finding as a message."""
    send: Callable[[DataFrame], DeliveryResult]
    """Sends the rows."""


class ProgressStore(Protocol):
    """Stores the progress of one delivery. What `keep` was given must survive a crash."""

    def read(self) -> DeliveryProgress | None:
        """Return the stored progress; None if the delivery was never begun."""

    def keep(self, reached: DeliveryProgress) -> None:
        """Store the progress."""
