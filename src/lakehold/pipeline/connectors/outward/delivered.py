"""What a delivery did, and how deliveries are told apart."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from lakehold.kit.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Delivered:
    """What arrived where."""

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


def digest(mark: str, *more: str) -> str:
    """A short name for a mark that can stand in a file's name, a table's or a header."""
    if not mark:
        raise InvalidInputError("A delivery needs a mark.", "Name the run and the step.")
    return hashlib.sha256(json.dumps((mark, *more)).encode()).hexdigest()[:32]
