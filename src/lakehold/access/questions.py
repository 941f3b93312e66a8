"""Everything that can be asked at one moment: about the facts in memory, and by SQL about the same facts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar, cast

from lakehold.access.decide.decisions import Decisions, Edges, Explanation
from lakehold.access.decide.effects import Effects
from lakehold.access.decide.subjects import Asker
from lakehold.access.facts.records import Add, Change, Draft, Remove
from lakehold.access.facts.view import View
from lakehold.access.model.requests import Request
from lakehold.access.query.holders import Holders
from lakehold.access.query.listing import Listing, Page
from lakehold.kit.clock import Moment
from lakehold.kit.database import Transaction

T = TypeVar("T")


class Questions(ABC):
    """What may be asked in a transaction. All answers are about the same facts."""

    transaction: Transaction
    tenant: int
    at: Moment
    _decisions: Decisions | None = None

    @abstractmethod
    def locked(self) -> AbstractContextManager[object]:
        """Held while the view is read, so that it does not move meanwhile."""

    @abstractmethod
    def seen(self) -> View:
        """The facts as they are seen here. Read them with the lock held."""

    @property
    def decisions(self) -> Decisions:
        """Decisions over the facts as they are seen here. Ask them with the lock held."""
        view, known = self.seen(), self._decisions
        if known is None or known.view is not view or known.policy is not view.policy:
            known = self._decisions = Decisions(view)
        return known

    def asking(self, ask: Callable[[View], T]) -> T:
        """The answer to a question of one's own about the facts: `asking(lambda view: Review(spark, view))`."""
        with self.locked():
            return ask(self.seen())

    def kept(self, question: tuple[object, ...], find: Callable[[], T]) -> T:
        """What was found out about these facts before; found out now, and kept until something changes, if it was not.
        The question says all that the answer goes by.
        """
        known = self.asking(lambda view: view.kept.get(question))
        if known is None:
            known = find()
            self.asking(lambda view: view.kept.__setitem__(question, known))
        return cast("T", known)

    def given(self, request: Request) -> Questions:
        """The same questions, bringing along properties that conditions of custom models may read."""
        return Given(self, request)

    def check(
        self, asker: Asker, action: str, resource: str | Draft, *, role: str | None = None, edges: Edges | None = None
    ) -> bool:
        """Whether the asker may do this.

        With a `Draft` and the action `create`: may they make it? With a `role` and `give` or `invite`: may they give
        it? With `edges`: may they do it so that these edges point there afterwards?
        """
        with self.locked():
            return self.decisions.check(asker, action, resource, role=role, edges=edges)

    def check_many(self, questions: Iterable[tuple[Asker, str, str]]) -> list[bool]:
        """The same for many, in their order."""
        with self.locked():
            return self.decisions.check_many(questions)

    def check_change(self, asker: Asker, change: Add | Remove) -> bool:
        """Whether the asker may make this change: what the model declares for the role, attribute or edge."""
        with self.locked():
            return self.decisions.check_change(asker, change)

    def actions(self, asker: Asker, resource: str) -> Sequence[str]:
        """All that the asker may do with the resource, in the model's order."""
        with self.locked():
            return self.decisions.actions(asker, resource)

    def sees(self, asker: Asker, resource: str) -> bool:
        """Whether the asker may know of the resource. To others it answers like one that does not exist."""
        with self.locked():
            return self.decisions.sees(asker, resource)

    def explain(self, asker: Asker, action: str, resource: str, *, viewer: Asker | None = None) -> Explanation:
        """Why the asker may or may not do this.

        What the viewer may not see is not named; the viewer is the asker unless another one is given. A resource that
        the viewer may not see answers like one that does not exist.
        """
        with self.locked():
            return self.decisions.explain(asker, action, resource, viewer=viewer)

    def what_if(self, changes: Sequence[Change]) -> Effects:
        """Who would win and lose what by these changes, without making them."""
        with self.locked():
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
        with self.locked():
            return self._listing().page(
                asker, action, kind, within=within, search=search, sort=sort, after=after, limit=limit
            )

    def ids(self, asker: Asker, action: str, kind: str, *, within: str | None = None) -> Sequence[int]:
        """The numbers of all that the asker may do this with, without order."""
        with self.locked():
            return self._listing().ids(asker, action, kind, within=within)

    def who(self, action: str, resource: str) -> Sequence[str]:
        """All members who may do this, by name, worked out by the database."""
        with self.locked():
            return Holders(self.transaction, self.tenant, self.seen(), self.at).who(action, resource)

    def _listing(self) -> Listing:
        return Listing(self.transaction, self.tenant, self.seen(), self.at)


class Given(Questions):
    """Questions that bring properties along."""

    def __init__(self, below: Questions, request: Request) -> None:
        self.transaction = below.transaction
        self.tenant = below.tenant
        self.at = below.at
        self._below = below
        self._request = request

    def locked(self) -> AbstractContextManager[object]:
        """As below."""
        return self._below.locked()

    def seen(self) -> View:
        """The same facts, under a policy in which what is asked of the request is settled."""
        view = self._below.seen()
        policy = view.policy.under(self._request)
        return view if policy is view.policy else View(policy, view)
