"""A small tenant in a database, for tests about transactions and processes."""

from __future__ import annotations

from lakehold import workspaces
from lakehold.access import AccessEngine, Grant
from lakehold.kit.clock import Clock, now
from lakehold.kit.database import Database

TENANT = "acme"
BOB_SEES = Grant("bob", "viewer", "orders")


def create_company(database: Database, clock: Clock = now) -> AccessEngine:
    """Create a tenant with the Owner Ann, the member Bob, and one table."""
    access = AccessEngine(database, clock)
    access.create_tenant(TENANT, "Acme", workspaces.models())
    with access.write(TENANT) as session:
        store = session.store
        for member in ("ann", "bob"):
            store.create("tenant.member", member, uid=member, edges={"tenant": TENANT})
        store.create("lakehouse.lakehouse", "Lake", uid="lh", edges={"tenant": TENANT})
        store.create("lakehouse.layer", "Bronze", uid="bronze", edges={"lakehouse": "lh"})
        store.create("lakehouse.table", "Orders", uid="orders", edges={"layer": "bronze"})
        store.add(Grant("ann", "owner", TENANT))
    return access
