"""Two writers at once: what both cannot have is refused to one of them, and nothing is left half done.

SQLite has one writer at a time, so this is about PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

import pytest

from lakehold.access import AccessEngine, AccessSession, Attribute, Edge, Grant
from lakehold.kit.database import Database
from lakehold.kit.errors import BusyError
from tests.access.company import TENANT, create_company
from tests.laws.agreement import assert_agree
from tests.laws.view_questions import allowed, facts

pytestmark = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)

Work = Callable[[AccessSession], object]
PATIENCE = 30


@pytest.fixture
def access(database: Database) -> AccessEngine:
    access = create_company(database)
    with access.write(TENANT) as session:
        store = session.store
        store.create("lakehouse.layer", "Silver", uid="silver", edges={"lakehouse": "lh"})
        store.create("lakehouse.layer", "Gold", uid="gold", edges={"lakehouse": "lh"})
        store.create("spaces.space", "Space", uid="space", edges={"tenant": TENANT})
        store.create("tenant.member", "Cyd", uid="cyd", edges={"tenant": TENANT})
        store.add(Grant("bob", "owner", TENANT))
        store.create("lakehouse.query", "Query", uid="query", edges={"lakehouse": "lh", "into": "bronze"})
    return access


def together(access: AccessEngine, first: Work, second: Work) -> list[BusyError]:
    """Both begin before either commits, and the second does its work while the first is not done. Who was refused."""
    refused: list[BusyError] = []
    begun, turn = Event(), Event()

    def later() -> None:
        with not_busy(refused), access.write(TENANT) as session:
            begun.set()
            assert turn.wait(PATIENCE)
            second(session)

    thread = Thread(target=later)
    with not_busy(refused), access.write(TENANT) as session:
        thread.start()
        assert begun.wait(PATIENCE)
        first(session)
        turn.set()
        while thread.is_alive() and not is_blocked(access):
            thread.join(0.02)
    thread.join(PATIENCE)
    assert not thread.is_alive()
    return refused


@contextmanager
def not_busy(refused: list[BusyError]) -> Iterator[None]:
    try:
        yield
    except BusyError as error:
        refused.append(error)


def is_blocked(access: AccessEngine) -> bool:
    """Whether some transaction of this database waits for another."""
    with access.database.read() as transaction:
        query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        return bool(transaction.connection.exec_driver_sql(query).scalar_one())


def assert_sound(access: AccessEngine) -> None:
    """The index says what a fresh one says, and the database agrees."""
    with access.read(TENANT) as session, AccessEngine(access.database).read(TENANT) as fresh:
        assert (
            facts(session.current_view())
            == facts(fresh.current_view())
            == facts(session.as_of(session.at).current_view())
        )
        assert allowed(session.current_view()) == allowed(fresh.current_view())
        assert_agree(session)


BOTH_CANNOT_BE: dict[str, tuple[Work, Work]] = {
    "an attribute has one value": (
        lambda session: session.store.add(Attribute(TENANT, "plan", "starter")),
        lambda session: session.store.add(Attribute(TENANT, "plan", "growth")),
    ),
    "a table lies in one layer": (
        lambda session: session.store.add(Edge("layer", "orders", "silver")),
        lambda session: session.store.add(Edge("layer", "orders", "gold")),
    ),
    "a query goes into one layer": (
        lambda session: session.store.add(Edge("into", "query", "silver")),
        lambda session: session.store.add(Edge("into", "query", "gold")),
    ),
    "a space has one owner": (
        lambda session: session.store.add(Grant("ann", "owner", "space")),
        lambda session: session.store.add(Grant("bob", "owner", "space")),
    ),
    "what is deleted gets nothing new": (
        lambda session: session.store.delete("silver"),
        lambda session: session.store.create("lakehouse.table", "New", uid="new", edges={"layer": "silver"}),
    ),
    "what gets something new is not deleted": (
        lambda session: session.store.create("lakehouse.table", "New", uid="new", edges={"layer": "silver"}),
        lambda session: session.store.delete("silver"),
    ),
    "an id is taken once": (
        lambda session: session.store.create("lakehouse.table", "One", uid="new", edges={"layer": "silver"}),
        lambda session: session.store.create("lakehouse.table", "Two", uid="new", edges={"layer": "gold"}),
    ),
    "somebody owns the tenant": (
        lambda session: session.store.remove(Grant("ann", "owner", TENANT)),
        lambda session: session.store.remove(Grant("bob", "owner", TENANT)),
    ),
    "who leaves gets nothing new": (
        lambda session: session.store.delete("cyd"),
        lambda session: session.store.add(Grant("cyd", "viewer", "orders")),
    ),
}


@pytest.mark.parametrize("name", BOTH_CANNOT_BE)
def test_what_both_cannot_have(access: AccessEngine, name: str) -> None:
    first, second = BOTH_CANNOT_BE[name]
    refused = together(access, first, second)
    assert len(refused) == 1
    assert_sound(access)


BOTH_CAN_BE: dict[str, tuple[Work, Work]] = {
    "two tables in one layer": (
        lambda session: session.store.create("lakehouse.table", "One", uid="one", edges={"layer": "silver"}),
        lambda session: session.store.create("lakehouse.table", "Two", uid="two", edges={"layer": "silver"}),
    ),
    "two grants on one table": (
        lambda session: session.store.add(Grant("bob", "viewer", "orders")),
        lambda session: session.store.add(Grant("bob", "editor", "orders")),
    ),
    "the same grant": (
        lambda session: session.store.add(Grant("bob", "viewer", "orders")),
        lambda session: session.store.add(Grant("bob", "viewer", "orders")),
    ),
    "attributes of two resources": (
        lambda session: session.store.add(Attribute(TENANT, "plan", "starter")),
        lambda session: session.store.add(Attribute("space", "personal", "true")),
    ),
    "a setting of a container and something new in it": (
        lambda session: session.store.add(Attribute("space", "personal", "true")),
        lambda session: session.store.create("spaces.gateway", "Gate", uid="gate", edges={"space": "space"}),
    ),
}


@pytest.mark.parametrize("name", BOTH_CAN_BE)
def test_what_both_can_have(access: AccessEngine, name: str) -> None:
    first, second = BOTH_CAN_BE[name]
    assert not together(access, first, second)
    assert_sound(access)
