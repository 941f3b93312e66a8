"""The queries and changes of one transaction, in memory and by SQL, all at one sequence number and one moment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import TypeVar, cast

from lakehold.access.decisions.evaluator import DecisionEvaluator, EdgeEndIds, Explanation
from lakehold.access.decisions.principal import Principal
from lakehold.access.decisions.what_if import AccessEffects, what_if
from lakehold.access.facts.changes import resolve_fact
from lakehold.access.facts.index import FactIndex
from lakehold.access.facts.last_holder import refuse_losing_last_holder
from lakehold.access.facts.loader import load_view
from lakehold.access.facts.names import NO_UNIQUE_NAMES, UniqueNames
from lakehold.access.facts.records import Add, Change, Draft, Remove, require_moment
from lakehold.access.facts.store import FactStore
from lakehold.access.facts.transaction_state import Overlay
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import RequestProperties
from lakehold.access.query.holders import action_members
from lakehold.access.query.listing import ListingPage, ResourceListing
from lakehold.kit.clock import Moment
from lakehold.kit.database import Transaction
from lakehold.kit.errors import ForbiddenError
from lakehold.ledger.change_log import last_change_time

T = TypeVar("T")


class AccessQueries(ABC):
    """The queries that a transaction can make. All answers are about the same facts."""

    transaction: Transaction
    tenant: int
    at: Moment
    _evaluator: DecisionEvaluator | None = None

    @abstractmethod
    def view_lock(self) -> AbstractContextManager[object]:
        """Return the lock that is held while the view is read, so that it does not change meanwhile."""

    @abstractmethod
    def current_view(self) -> FactView:
        """Return the facts as this transaction sees them. Read them with the lock held."""

    @property
    def evaluator(self) -> DecisionEvaluator:
        """The evaluator of decisions over the current view. Use it with the lock held."""
        view, known = self.current_view(), self._evaluator
        if known is None or known.view is not view or known.policy is not view.policy:
            known = self._evaluator = DecisionEvaluator(view)
        return known

    def read_view(self, read: Callable[[FactView], T]) -> T:
        """Call a function with the current view, while the lock is held."""
        with self.view_lock():
            return read(self.current_view())

    def cached(self, key: tuple[object, ...], compute: Callable[[], T]) -> T:
        """Return a cached value of these facts; compute it if it is missing. It is dropped when a fact changes.
        The key must contain everything that the value depends on.
        """
        known = self.read_view(lambda view: view.cache.get(key))
        if known is None:
            known = compute()
            self.read_view(lambda view: view.cache.__setitem__(key, known))
        return cast("T", known)

    def with_properties(self, request: RequestProperties) -> AccessQueries:
        """Return the same queries with request properties that conditions of custom models may read."""
        return QueriesWithProperties(self, request)

    def check(
        self,
        principal: Principal,
        action: str,
        resource: str | Draft,
        *,
        role: str | None = None,
        edges: EdgeEndIds | None = None,
    ) -> bool:
        """Return whether the principal may do this.

        With a `Draft` and the action `create`: may they create it? With a `role` and `give` or `invite`: may they give
        it? With `edges`: may they do it so that these edges point there afterwards?
        """
        with self.view_lock():
            return self.evaluator.check(principal, action, resource, role=role, edges=edges)

    def holds(self, member: str, definition: str, resource: str) -> bool:
        """Return whether a definition of the model (`define`) holds for a member on a resource.

        It is a part of decisions, and not one itself: it tells which part of a refused one is missing.
        """
        with self.view_lock():
            return self.evaluator.holds(member, definition, resource)

    def check_many(self, questions: Iterable[tuple[Principal, str, str]]) -> list[bool]:
        """Check many triples of principal, action and resource, in their order."""
        with self.view_lock():
            return self.evaluator.check_many(questions)

    def check_change(self, principal: Principal, change: Add | Remove) -> bool:
        """Return whether the principal may make this change, as the model declares for its fact."""
        with self.view_lock():
            may = self.evaluator.check_change(principal, change)
            if isinstance(change, Remove):
                view = self.current_view()
                refuse_losing_last_holder(self.transaction, view, resolve_fact(view, change.fact), self.at, self.at)
            return may

    def actions(self, principal: Principal, resource: str) -> Sequence[str]:
        """Return all actions that the principal may do on the resource, in the model's order."""
        with self.view_lock():
            return self.evaluator.actions(principal, resource)

    def can_see(self, principal: Principal, resource: str) -> bool:
        """Return whether the principal may know that the resource exists."""
        with self.view_lock():
            return self.evaluator.can_see(principal, resource)

    def explain(
        self, principal: Principal, action: str, resource: str, *, viewer: Principal | None = None
    ) -> Explanation:
        """Explain why the principal may or may not do this.

        What the viewer may not see is not named; the viewer is the principal unless another one is given. A resource
        that the viewer may not see answers like one that does not exist.
        """
        with self.view_lock():
            return self.evaluator.explain(principal, action, resource, viewer=viewer)

    def what_if(self, changes: Sequence[Change]) -> AccessEffects:
        """Return who would gain and lose what by these changes, without making them."""
        with self.view_lock():
            return what_if(self.current_view(), changes)

    def list(
        self,
        principal: Principal,
        action: str,
        kind: str,
        *,
        within: str | None = None,
        search: str = "",
        sort: str = "name",
        after: str | None = None,
        limit: int = 50,
    ) -> ListingPage:
        """Return one page of the resources that the principal may do this with, evaluated by the database."""
        with self.view_lock():
            return self._listing().page(
                principal, action, kind, within=within, search=search, sort=sort, after=after, limit=limit
            )

    def ids(self, principal: Principal, action: str, kind: str, *, within: str | None = None) -> Sequence[int]:
        """Return the numbers of all resources that the principal may do this with, unordered."""
        with self.view_lock():
            return self._listing().ids(principal, action, kind, within=within)

    def who(self, action: str, resource: str) -> Sequence[str]:
        """Return all members who may do this, by name, evaluated by the database."""
        with self.view_lock():
            view = self.current_view()
            return action_members(self.transaction, self.tenant, view, self.at, action=action, resource=resource)

    def _listing(self) -> ResourceListing:
        return ResourceListing(self.transaction, self.tenant, self.current_view(), self.at)


class QueriesWithProperties(AccessQueries):
    """Queries that carry request properties."""

    def __init__(self, base: AccessQueries, request: RequestProperties) -> None:
        self.transaction = base.transaction
        self.tenant = base.tenant
        self.at = base.at
        self._base = base
        self._request = request

    def view_lock(self) -> AbstractContextManager[object]:
        """Return the lock of the underlying queries."""
        return self._base.view_lock()

    def current_view(self) -> FactView:
        """Return the same facts under a policy in which the comparisons with the request are settled."""
        view = self._base.current_view()
        policy = view.policy.with_request(self._request)
        return view if policy is view.policy else FactView(policy, view)


_FORGOTTEN = -1


class AccessSession(AccessQueries):
    """The queries and changes of one transaction. It sees its own changes; others see them after the commit."""

    def __init__(
        self, transaction: Transaction, index: FactIndex, at: Moment, names: UniqueNames = NO_UNIQUE_NAMES
    ) -> None:
        self.transaction = transaction
        self.names = names
        self.tenant = index.tenant
        self._index = index
        with index.lock:
            self.seq = index.catch_up(transaction, at)
            pinned = index.pin(self.seq, at)
        self._version, self.at = pinned or (_FORGOTTEN, max(at, last_change_time(transaction, self.tenant)))
        self._reloaded_view: FactView | None = None
        self._undone_view: tuple[int, FactView] | None = None
        self._overlay = Overlay(self._committed)
        self._store: FactStore | None = None

    def view_lock(self) -> AbstractContextManager[object]:
        """Return the lock of the index, which is shared with other transactions that may change it."""
        return self._index.lock

    def current_view(self) -> FactView:
        """Return the committed facts at this transaction's number, with its own changes on top."""
        index = self._index
        if self._version == index.version and self._reloaded_view is None and not self._overlay.changes:
            return index
        return self._overlay.view

    def _committed(self) -> FactView:
        """Return the committed facts at this transaction's number, whatever the index has read since."""
        if self._reloaded_view is not None:
            return self._reloaded_view
        if self._version == self._index.version:
            return self._index
        if self._version == _FORGOTTEN or not self._index.can_undo_to(self._version):
            # Longer ago than the index remembers: read once more, for this transaction alone, its own changes too.
            self._reloaded_view = load_view(self.transaction, self.tenant, self.at)
            self._overlay.forget()
            return self._reloaded_view
        if self._undone_view is None or self._undone_view[0] != self._index.version:
            self._undone_view = (self._index.version, self._index.view_at_version(self._version))
        return self._undone_view[1]

    def as_of(self, at: Moment | datetime) -> AccessSnapshot:
        """Return the same queries at a past or future moment, under the models of that moment."""
        return AccessSnapshot(self.transaction, self.tenant, require_moment(at))

    @property
    def store(self) -> FactStore:
        """The store that writes facts in this transaction."""
        if not self.transaction.writes:
            raise ForbiddenError("This transaction is read-only.", "Start a writing transaction.")
        if self._store is None:
            self._store = FactStore(self.transaction, self.tenant, self._overlay, self.at, self.names)
            self.transaction.before_commit.append(self._store.append_to_log)
        return self._store


class AccessSnapshot(AccessQueries):
    """Queries about the facts as they were, or as they are known to become, at one moment."""

    def __init__(self, transaction: Transaction, tenant: int, at: Moment) -> None:
        self.transaction = transaction
        self.tenant = tenant
        self.at = at
        self._view = load_view(transaction, tenant, at)

    def view_lock(self) -> AbstractContextManager[object]:
        """Return a lock that does nothing: no other transaction has this view."""
        return nullcontext()

    def current_view(self) -> FactView:
        """Return the facts of that moment."""
        return self._view
