"""Random facts in a database. Each case is a tenant of its own among all former ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count, cycle

from lakehold import directory
from lakehold.access.engine import AccessEngine
from lakehold.access.facts.records import Adopt, Change
from lakehold.access.facts.store import FactStore
from lakehold.access.model.loader import parse_model
from lakehold.kit.clock import Clock, now
from lakehold.kit.database import Database
from lakehold.workspaces import models
from tests.laws.facts import ACME, ALL, Case, rename_fact

# Some are equal to people though not to a machine, some sort differently by letter and by byte.
NAMES = ("Orders", "orders", "Öl", "o\u0308l", "Straße", "STRASSE", "a", "B", "_", "Z", "é", "%", "100 %", "日本", "'")

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class StoredCase:
    """A case stored as a tenant of a database."""

    access: AccessEngine
    tenant: str

    @property
    def names(self) -> dict[str, str]:
        """What the tenant and the group All are called here."""
        return {ACME: self.tenant, ALL: f"{self.tenant}/all"}

    def with_stored_ids(self, change: Change) -> Change:
        """The change of a case, with the names that are right here."""
        if isinstance(change, Adopt):
            return change
        return replace(change, fact=rename_fact(change.fact, self.names))

    def reopen(self, clock: Clock = now) -> AccessEngine:
        """The same database, as another process sees it."""
        return AccessEngine(self.access.database, clock)


def create_tenant(database: Database, case: Case, clock: Clock = now) -> StoredCase:
    """Create a tenant with the models of the case and the group All."""
    tenant = f"acme{next(_numbers)}"
    access = AccessEngine(database, clock)
    access.create_tenant(tenant, "Acme", (directory.model(), parse_model(case.model)) if case.model else models())
    return StoredCase(access, tenant)


def store_case(database: Database, case: Case, clock: Clock = now) -> StoredCase:
    """Store the case as a new tenant in one transaction."""
    company = create_tenant(database, case, clock)
    with company.access.write(company.tenant) as session:
        write_case(session.store, company, case)
    return company


def write_case(store: FactStore, company: StoredCase, case: Case) -> None:
    """Write the case's resources and changes, in their order."""
    names = company.names
    for thing, name in zip(case.things, cycle(NAMES), strict=False):
        edges = {edge: names.get(target, target) for edge, target in thing.edges}
        store.create(thing.kind, name, uid=thing.uid, edges=edges)
    for change in case.changes:
        store.apply(company.with_stored_ids(change))
