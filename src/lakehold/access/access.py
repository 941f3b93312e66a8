"""The access engine of one process: a shared index for each tenant, and sessions over it.

access = Access(Database("sqlite:///lakehold.sqlite"))
with access.read("acme") as session:
    session.check("ann", "edit", "orders")
with access.write("acme") as session:
    session.store.add(Grant("ann", "editor", "orders"))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

import sqlalchemy as sa

from lakehold.access.facts import tables
from lakehold.access.facts.index import Index
from lakehold.access.facts.loading import tenant_of
from lakehold.access.facts.overlay import Overlay
from lakehold.access.facts.store import Store
from lakehold.access.facts.view import ALL_MEMBERS, ModelRow, View
from lakehold.access.model.policy import policy_of
from lakehold.access.model.schema import Model
from lakehold.access.session import Session
from lakehold.kit.clock import Clock, now
from lakehold.kit.database import Database, Transaction
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote, valid_id, valid_name


class Access:
    """One for each process; threads may share it."""

    def __init__(self, database: Database, clock: Clock = now) -> None:
        self.database = database
        self.clock = clock
        self._indexes: dict[int, Index] = {}
        self._numbers: dict[str, int] = {}
        self._loading = Lock()

    @contextmanager
    def read(self, tenant: str) -> Iterator[Session]:
        """Decisions in a transaction that changes nothing."""
        with self.database.read() as transaction:
            yield self.session(transaction, tenant)

    @contextmanager
    def write(self, tenant: str) -> Iterator[Session]:
        """Decisions and changes in a transaction that is committed at the end."""
        with self.database.write() as transaction:
            yield self.session(transaction, tenant)

    def session(self, transaction: Transaction, tenant: str) -> Session:
        """Decisions inside a transaction that somebody else ends."""
        number = self._number_of(transaction, tenant)
        at = self.clock()
        with self._loading:
            index = self._indexes.get(number)
            if index is None:
                index = self._indexes[number] = Index.load(transaction, number, at)
        return Session(transaction, index, at)

    def _number_of(self, transaction: Transaction, tenant: str) -> int:
        known = self._numbers.get(valid_id(tenant, "tenant"))
        if known is not None:
            return known
        number = tenant_of(transaction, tenant)
        if not transaction.writes:
            # What a reader sees is committed, and an id is never used for another: this is so for ever.
            self._numbers[tenant] = number
        return number

    def found(self, tenant: str, name: str, models: Iterable[Model]) -> None:
        """Make a tenant with its models and the built-in group All."""
        with self.database.write() as transaction:
            self.found_in(transaction, tenant, name, models)

    def found_in(self, transaction: Transaction, tenant: str, name: str, models: Iterable[Model]) -> Store:
        """The same inside a transaction that somebody else ends, and the store to write the first facts with: there
        can be no session of a tenant that is not committed yet.
        """
        return self._found(transaction, valid_id(tenant, "tenant"), valid_name(name), list(models))

    def _found(self, transaction: Transaction, tenant: str, name: str, models: Sequence[Model]) -> Store:
        query = sa.select(tables.resource.c.id).where(
            tables.resource.c.uid == tenant, tables.resource.c.tenant_id == tables.resource.c.id
        )
        if transaction.connection.execute(query).first():
            raise ConflictError(f"There is already a tenant {quote(tenant)}.", "Choose another id.")
        policy = policy_of(tuple(sorted((model.name, model.source) for model in models)))
        empty = View(policy)
        store = Store(transaction, 0, Overlay(lambda: empty), self.clock())
        store.create_tenant(tenant, name)
        for model in policy.models.values():
            store.put_model(ModelRow(model.name, model.source))
        store.create(ALL_MEMBERS, "All", uid=f"{tenant}/all", edges={"tenant": tenant})
        transaction.before_commit.append(store.log)
        return store
