"""The access engine of one process: a shared index for each tenant, and sessions over it.

engine = AccessEngine(Database("sqlite:///lakehold.sqlite"))
with engine.read("acme") as session:
    session.check("ann", "edit", "orders")
with engine.write("acme") as session:
    session.store.add(Grant("ann", "editor", "orders"))
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock

import sqlalchemy as sa

from lakehold.access.facts import tables
from lakehold.access.facts.index import FactIndex
from lakehold.access.facts.loader import tenant_number
from lakehold.access.facts.names import NO_UNIQUE_NAMES, UniqueNames
from lakehold.access.facts.store import FactStore
from lakehold.access.facts.transaction_state import Overlay
from lakehold.access.facts.view import ALL_MEMBERS, FactView, ModelRow
from lakehold.access.model.policy import compile_policy
from lakehold.access.model.schema import AccessModel
from lakehold.access.session import AccessSession
from lakehold.kit.clock import Clock, now
from lakehold.kit.database import Database, Transaction
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote, valid_id, valid_name


class AccessEngine:
    """The access engine. There is one for each process; threads may share it."""

    def __init__(self, database: Database, clock: Clock = now, names: UniqueNames = NO_UNIQUE_NAMES) -> None:
        self.database = database
        self.clock = clock
        self.names = names
        self._indexes: dict[int, FactIndex] = {}
        self._tenant_numbers: dict[str, int] = {}
        self._load_lock = Lock()

    @contextmanager
    def read(self, tenant: str) -> Iterator[AccessSession]:
        """Open a session in a read-only transaction."""
        with self.database.read() as transaction:
            yield self.session(transaction, tenant)

    @contextmanager
    def write(self, tenant: str) -> Iterator[AccessSession]:
        """Open a session in a transaction that is committed at the end."""
        with self.database.write() as transaction:
            yield self.session(transaction, tenant)

    def session(self, transaction: Transaction, tenant: str) -> AccessSession:
        """Return a session inside a transaction that the caller ends."""
        number = self._tenant_number(transaction, tenant)
        at = self.clock()
        with self._load_lock:
            index = self._indexes.get(number)
            if index is None:
                index = self._indexes[number] = FactIndex.load(transaction, number, at)
        return AccessSession(transaction, index, at, self.names)

    def _tenant_number(self, transaction: Transaction, tenant: str) -> int:
        known = self._tenant_numbers.get(valid_id(tenant, "tenant"))
        if known is not None:
            return known
        number = tenant_number(transaction, tenant)
        if not transaction.writes:
            # What a reader sees is committed, and an id is never used for another: this is so for ever.
            self._tenant_numbers[tenant] = number
        return number

    def create_tenant(self, tenant: str, name: str, models: Iterable[AccessModel]) -> None:
        """Create a tenant with its models and the built-in group All."""
        with self.database.write() as transaction:
            self.create_tenant_in(transaction, tenant, name, models)

    def create_tenant_in(
        self, transaction: Transaction, tenant: str, name: str, models: Iterable[AccessModel]
    ) -> FactStore:
        """Create a tenant inside a transaction that the caller ends, and return the store to write the first facts
        with: there can be no session of a tenant that is not committed yet.
        """
        valid_id(tenant, "tenant")
        valid_name(name)
        query = sa.select(tables.resource.c.id).where(
            tables.resource.c.uid == tenant, tables.resource.c.tenant_id == tables.resource.c.id
        )
        if transaction.connection.execute(query).first():
            raise ConflictError(f"There is already a tenant {quote(tenant)}.", "Choose another id.")
        policy = compile_policy(tuple(sorted((model.name, model.source) for model in models)))
        empty = FactView(policy)
        store = FactStore(transaction, 0, Overlay(lambda: empty), self.clock(), self.names)
        store.create_tenant(tenant, name)
        for model in policy.models.values():
            store.put_model(ModelRow(model.name, model.source))
        store.create(ALL_MEMBERS, "All", uid=f"{tenant}/all", edges={"tenant": tenant})
        transaction.before_commit.append(store.append_to_log)
        return store
