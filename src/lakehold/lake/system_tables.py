"""Temporary folders for the system tables of one query, filled with what its caller may know and removed when it ends.

Only interactive queries have one: what is stored as a table must come from tables that have access levels.
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

_folders: dict[str, Path] = {}


@contextmanager
def open_system_folder(token: str, data: Path) -> Iterator[None]:
    """Give the query with this token a folder for system tables."""
    folder = data.absolute() / SYSTEM / uuid4().hex
    _folders[token] = folder
    try:
        yield
    finally:
        del _folders[token]
        shutil.rmtree(folder, ignore_errors=True)


def system_folder(token: str) -> Path:
    """Return the folder for system tables of the query with this token."""
    found = _folders.get(token)
    if found is None:
        raise NotFoundError(f"There is no table of {SYSTEM} here.", "Ask for it in a query; it cannot be kept.")
    found.mkdir(parents=True, exist_ok=True, mode=0o700)
    return found
