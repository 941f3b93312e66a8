"""What is wrong with files: every problem with its file and line, all that can be found at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lakehold.access.model.errors import ModelError, SourceLocation
from lakehold.kit.errors import InvalidInputError, LakeholdError

MOST = 20


def wrong(place: SourceLocation, message: str, hint: str = "") -> InvalidInputError:
    """An error that says where."""
    return InvalidInputError(f"{place}: {message}", hint)


class Problems:
    """Collects problems, so that a person can mend them in one go."""

    def __init__(self) -> None:
        self._found: list[LakeholdError] = []

    @contextmanager
    def caught(self, place: SourceLocation | None = None) -> Iterator[None]:
        """Go on after what is wrong here. An error that does not know its place gets this one."""
        try:
            yield
        except LakeholdError as error:
            self._found.append(error if place is None else wrong(place, error.message, error.hint))

    def add(self, place: SourceLocation, message: str, hint: str = "") -> None:
        """Note a problem."""
        self._found.append(wrong(place, message, hint))

    def raise_any(self) -> None:
        """Raise all that was found as one error."""
        if not self._found:
            return
        if len(self._found) == 1 and isinstance(self._found[0], InvalidInputError | ModelError):
            raise self._found[0]
        lines = [str(error) for error in self._found[:MOST]]
        if len(self._found) > MOST:
            lines.append(f"… and {len(self._found) - MOST} more problems.")
        raise InvalidInputError("\n".join(lines))
