"""Which tables a query reads: those that were asked for in its name.

Whatever a text calls a table, Spark asks the catalog for it, so that what was asked for with a ticket is all that is
read with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_loaded: dict[str, set[str]] = {}


@contextmanager
def watched(ticket: str) -> Iterator[set[str]]:
    """The tables that are loaded with this ticket for now: more of them as they are."""
    _loaded[ticket] = set()
    try:
        yield _loaded[ticket]
    finally:
        del _loaded[ticket]


def note(ticket: str, uid: str) -> None:
    """A table was loaded with a ticket."""
    if ticket in _loaded:
        _loaded[ticket].add(uid)
