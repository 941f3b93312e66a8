"""Questions and changes inside one transaction, all at one sequence number and one moment."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from datetime import datetime

from lakehold.access.facts.index import Index
from lakehold.access.facts.inputs import when
from lakehold.access.facts.loading import view_at
from lakehold.access.facts.overlay import Overlay
from lakehold.access.facts.store import Store
from lakehold.access.facts.view import View
from lakehold.access.questions import Questions
from lakehold.kit.clock import Moment
from lakehold.kit.database import Transaction
from lakehold.kit.errors import ForbiddenError
from lakehold.ledger.changes import last_made

_FORGOTTEN = -1


class Session(Questions):
    """What one transaction may ask and change. It sees its own changes; others see them after the commit."""

    def __init__(self, transaction: Transaction, index: Index, at: Moment) -> None:
        self.transaction = transaction
        self.tenant = index.tenant
        self._index = index
        with index.lock:
            self.seq = index.catch_up(transaction, at)
            pinned = index.pin(self.seq, at)
        self._version, self.at = pinned or (_FORGOTTEN, max(at, last_made(transaction, self.tenant)))
        self._past: View | None = None
        self._undone: tuple[int, View] | None = None
        self._overlay = Overlay(self._committed)
        self._store: Store | None = None

    def locked(self) -> AbstractContextManager[object]:
        """The index is shared with other transactions, which may move it."""
        return self._index.lock

    def seen(self) -> View:
        """The committed facts at this transaction's number, and its own changes on top."""
        index = self._index
        if self._version == index.version and self._past is None and self._overlay.is_empty:
            return index
        return self._overlay.view

    def _committed(self) -> View:
        """The committed facts at this transaction's number, whatever the index has seen since."""
        if self._past is not None:
            return self._past
        if self._version == self._index.version:
            return self._index
        if self._version == _FORGOTTEN or not self._index.remembers(self._version):
            # Longer ago than the index remembers: read once more, for this transaction alone, its own changes too.
            self._past = view_at(self.transaction, self.tenant, self.at)
            self._overlay.forget()
            return self._past
        if self._undone is None or self._undone[0] != self._index.version:
            self._undone = (self._index.version, self._index.undone_to(self._version))
        return self._undone[1]

    def as_of(self, at: Moment | datetime) -> Snapshot:
        """The same questions at a past or future moment, under the models of that moment."""
        return Snapshot(self.transaction, self.tenant, when(at))

    @property
    def store(self) -> Store:
        """Writes facts in this transaction."""
        if not self.transaction.writes:
            raise ForbiddenError("This transaction only reads.", "Begin one that writes.")
        if self._store is None:
            self._store = Store(self.transaction, self.tenant, self._overlay, self.at)
            self.transaction.before_commit.append(self._store.log)
        return self._store


class Snapshot(Questions):
    """The facts as they were, or as they are known to become."""

    def __init__(self, transaction: Transaction, tenant: int, at: Moment) -> None:
        self.transaction = transaction
        self.tenant = tenant
        self.at = at
        self._view = view_at(transaction, tenant, at)

    def locked(self) -> AbstractContextManager[object]:
        """Nobody else has it."""
        return nullcontext()

    def seen(self) -> View:
        """The facts of that moment."""
        return self._view
