"""What the platform tells of itself to one query: tables that are made for it, with what its asker may know, and that
are gone when it has ended.

Only a query that somebody asks by hand has a place for them. What is kept as a table of its own must come from tables
that have levels.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from lakehold.kit.errors import NotFoundError

SYSTEM = "system"
"""What SQL calls the place of these tables."""

_open: dict[str, Path] = {}


@contextmanager
def opened(ticket: str, data: Path) -> Iterator[None]:
    """Give the query with this ticket a place for them."""
    folder = data.absolute() / SYSTEM / uuid4().hex
    _open[ticket] = folder
    try:
        yield
    finally:
        del _open[ticket]
        shutil.rmtree(folder, ignore_errors=True)


def folder_of(ticket: str) -> Path:
    """Where those of the query with this ticket lie."""
    found = _open.get(ticket)
    if found is None:
        raise NotFoundError(f"There is no table of {SYSTEM} here.", "Ask for it in a query; it cannot be kept.")
    found.mkdir(parents=True, exist_ok=True, mode=0o700)
    return found
