"""A view with a transaction's own changes on top. The view below may be another one each time it is asked for."""

from __future__ import annotations

from collections.abc import Callable

from lakehold.access.facts.changes import Opening
from lakehold.access.facts.view import Row, View


class Overlay:
    """What a transaction sees: committed facts from below, and its own."""

    def __init__(self, below: Callable[[], View]) -> None:
        self._below = below
        self._openings: list[Opening] = []
        self._view: View | None = None
        self._on: tuple[View, int] | None = None
        self._applied = 0
        self.is_empty = True

    def open(self, row: Row) -> None:
        """The fact holds in this transaction."""
        self._openings.append((True, row))
        self.is_empty = False

    def close(self, row: Row) -> None:
        """The fact no longer holds in this transaction."""
        self._openings.append((False, row))
        self.is_empty = False

    def forget(self) -> None:
        """All changes so far are in the view below from now on."""
        self._openings.clear()
        self._view, self._applied, self.is_empty = None, 0, True

    @property
    def view(self) -> View:
        """The facts as this transaction sees them now."""
        below = self._below()
        if not self._openings:
            return below
        if self._view is None or self._on != (below, below.version):
            self._view, self._on, self._applied = View(below.policy, below), (below, below.version), 0
        if self._applied < len(self._openings):
            for opens, row in self._openings[self._applied :]:
                (self._view.open if opens else self._view.close)(row)
            self._applied = len(self._openings)
            self._view.touch()
        return self._view
