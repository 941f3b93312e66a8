"""The errors of a model, with their location."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from lakehold.kit.errors import LakeholdError

_MAX_QUOTED = 70


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A line of a model's file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class LocatedName(str):
    """A name that refers to another kind or model, with the line where it stands."""

    __slots__ = ("place",)
    place: SourceLocation

    def __new__(cls, text: str, place: SourceLocation) -> Self:
        """Create the name with its location."""
        word = super().__new__(cls, text)
        word.place = place
        return word

    def __reduce__(self) -> tuple[type[LocatedName], tuple[str, SourceLocation]]:
        # A copy keeps its line; str's own way would lose it.
        return LocatedName, (str(self), self.place)


class ModelError(LakeholdError):
    """A model that cannot be loaded: file, line, what is wrong and what would be right."""

    code = "model_invalid"
    status = 422

    def __init__(self, place: SourceLocation, message: str, hint: str = "") -> None:
        super().__init__(f"{place}: {message}", hint)
        self.place = place


def quote_excerpt(text: str, longest: int = _MAX_QUOTED) -> str:
    """Quote a text for a message: not too long, and with nothing unprintable."""
    return repr(text if len(text) <= longest else text[:longest] + "…")


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return a hint that names the nearest known word; when none is near, another hint, or all of them."""
    words = sorted(known)
    near = difflib.get_close_matches(word, words, n=1)
    if near:
        return f"Did you mean {near[0]!r}?"
    if otherwise:
        return otherwise
    return f"Known here: {', '.join(words)}." if words else "None is known here."
