"""Decisions inside one transaction, all at one sequence number and one moment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from lakehold.access.decide.decisions import Decisions, Edges, Explanation
from lakehold.access.decide.effects import Effects
from lakehold.access.decide.subjects import Asker
from lakehold.access.facts.index import Index
from lakehold.access.facts.loading import view_at
from lakehold.access.facts.overlay import Overlay
from lakehold.access.facts.records import Add, Change, Draft, Remove
from lakehold.access.facts.store import Store
from lakehold.access.facts.view import View
from lakehold.access.query.holders import Holders
from lakehold.access.query.listing import Listing, Page
from lakehold.kit.clock import Moment, moment
from lakehold.kit.database import Transaction
from lakehold.kit.errors import ForbiddenError


class Session:
    """What one transaction may ask and change. It sees its own changes; others see them after the commit."""

    def __init__(self, transaction: Transaction, index: Index, at: Moment) -> None:
        self.transaction = transaction
        self.tenant = index.tenant
        self._index = index
        with index.lock:
            self.seq = index.catch_up(transaction, at)
            self.at = at if index.seq > self.seq else max(at, index.time)
            self._version = index.version_at(self.seq, self.at)
        # Longer ago than the index remembers: read once more, for this transaction alone.
        self._past = view_at(transaction, self.tenant, self.at) if self._version is None else None
        self._undone: tuple[int, View] | None = None
        self._overlay = Overlay(self._committed)
        self._store: Store | None = None

    # Asking

    def check(
        self, asker: Asker, action: str, resource: str | Draft, *, role: str | None = None, edges: Edges | None = None
    ) -> bool:
        """Whether the asker may do this; see `Decisions.check`."""
        with self._index.lock:
            return self.decisions.check(asker, action, resource, role=role, edges=edges)

    def check_many(self, questions: Iterable[tuple[Asker, str, str]]) -> list[bool]:
        """The same for many, in their order."""
        with self._index.lock:
            return self.decisions.check_many(questions)

    def check_change(self, asker: Asker, change: Add | Remove) -> bool:
        """Whether the asker may make this change."""
        with self._index.lock:
            return self.decisions.check_change(asker, change)

    def actions(self, asker: Asker, resource: str) -> list[str]:
        """All that the asker may do with the resource."""
        with self._index.lock:
            return self.decisions.actions(asker, resource)

    def explain(self, asker: Asker, action: str, resource: str, *, viewer: Asker | None = None) -> Explanation:
        """Why the asker may or may not do this; see `Decisions.explain`."""
        with self._index.lock:
            return self.decisions.explain(asker, action, resource, viewer=viewer)

    def what_if(self, changes: Sequence[Change]) -> Effects:
        """Who would win and lose what by these changes, without making them."""
        with self._index.lock:
            return self.decisions.what_if(changes)

    def list(
        self,
        asker: Asker,
        action: str,
        kind: str,
        *,
        within: str | None = None,
        search: str = "",
        sort: str = "name",
        after: str | None = None,
        limit: int = 50,
    ) -> Page:
        """One page of all that the asker may do this with, worked out by the database."""
        with self._index.lock:
            listing = self._listing()
            return listing.page(asker, action, kind, within=within, search=search, sort=sort, after=after, limit=limit)

    def ids(self, asker: Asker, action: str, kind: str, *, within: str | None = None) -> Sequence[int]:
        """The numbers of all that the asker may do this with, without order."""
        with self._index.lock:
            return self._listing().ids(asker, action, kind, within=within)

    def who(self, action: str, resource: str) -> Sequence[str]:
        """All members who may do this, worked out by the database."""
        with self._index.lock:
            return Holders(self.transaction, self.tenant, self._overlay.view, self.at).who(action, resource)

    def _listing(self) -> Listing:
        return Listing(self.transaction, self.tenant, self._overlay.view, self.at)

    @property
    def decisions(self) -> Decisions:
        """Decisions over what this transaction sees. Hold the index's lock while you use it."""
        return Decisions(self._overlay.view)

    def _committed(self) -> View:
        """The committed facts at this transaction's number, whatever the index has seen since."""
        if self._past is not None:
            return self._past
        if self._version is None or self._version == self._index.version:
            return self._index
        if self._undone is None or self._undone[0] != self._index.version:
            self._undone = (self._index.version, self._index.undone_to(self._version))
        return self._undone[1]

    def as_of(self, at: Moment | datetime) -> Decisions:
        """The same questions at a past or future moment, under the models of that moment."""
        return Decisions(view_at(self.transaction, self.tenant, moment(at)))

    # Changing

    @property
    def store(self) -> Store:
        """Writes facts in this transaction."""
        if not self.transaction.writes:
            raise ForbiddenError("This transaction only reads.", "Begin one that writes.")
        if self._store is None:
            self._store = Store(self.transaction, self.tenant, self._overlay, self.at)
            self.transaction.before_commit.append(self._store.log)
        return self._store
