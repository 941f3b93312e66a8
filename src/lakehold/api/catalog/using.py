"""Collects what is done over HTTP, for the list of last uses. It is written in the background."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from lakehold.catalog.usage import Usage
from lakehold.directory.installation import Installation
from lakehold.directory.work import Work

_collected: WeakKeyDictionary[Installation, Usage] = WeakKeyDictionary()


def note(house: Installation, work: Work, action: str, uid: str) -> None:
    """The caller does this now."""
    _of(house).note(work, action, uid)


def write(house: Installation) -> int:
    """Write what waits."""
    return _of(house).write(house.database)


def _of(house: Installation) -> Usage:
    return _collected.setdefault(house, Usage())
