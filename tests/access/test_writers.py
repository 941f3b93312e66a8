"""Two writers at once: what both cannot have is refused to one of them, and nothing is left half done.

SQLite has one writer at a time, so this is about PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from threading import Thread

import pytest

from lakehold.access import Access, Attribute, Edge, Grant, Session
from lakehold.kit.database import Database
from lakehold.kit.errors import BusyError
from tests.access.company import BOB_SEES, TENANT, founded
from tests.laws.asking import allowed, facts, members

pytestmark = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)

Work = Callable[[Session], None]


@pytest.fixture
def access(database: Database) -> Access:
    access = founded(database)
    with access.write(TENANT) as session:
        store = session.store
        store.create("lakehouse.layer", "Silver", uid="silver", edges={"lakehouse": "lh"})
        store.create("lakehouse.layer", "Gold", uid="gold", edges={"lakehouse": "lh"})
        store.create("spaces.space", "Space", uid="space", edges={"tenant": TENANT})
        store.create("lakehouse.query", "Query", uid="query", edges={"lakehouse": "lh", "into": "bronze"})
    return access


def together(access: Access, first: Work, second: Work) -> list[BaseException]:
    """Both do their work before either commits; the second one commits first. What was refused, if anything."""
    refused: list[BaseException] = []
    try:
        with access.write(TENANT) as early:
            first(early)
            later = Thread(target=_alone, args=(access, second, refused))
            later.start()
            later.join(1)
        later.join(30)
    except BusyError as error:
        refused.append(error)
    later.join(30)
    assert not later.is_alive()
    return refused


def _alone(access: Access, work: Work, refused: list[BaseException]) -> None:
    try:
        with access.write(TENANT) as session:
            work(session)
    except BusyError as error:
        refused.append(error)


def assert_sound(access: Access) -> None:
    """The index says what a fresh one says, and the database agrees for everything that can be listed."""
    with access.read(TENANT) as session, Access(access.database).read(TENANT) as fresh:
        assert facts(session.seen()) == facts(fresh.seen()) == facts(session.as_of(session.at).seen())
        view = session.seen()
        said = allowed(view)
        for kind in view.policy.kinds.values():
            for action in kind.schema.actions:
                for member in members(view):
                    listed = {item.uid for item in session.list(member, action, kind.id).items}
                    numbers = {number for number in view.of_kind.get(kind.id) or ()}
                    assert listed == {
                        uid for m, a, uid in said if (m, a) == (member, action) and view.resource(uid) in numbers
                    }


BOTH_CANNOT_BE = {
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
    "a circle is closed by the last of them": (
        lambda session: session.store.remove(Grant("ann", "owner", TENANT)),
        lambda session: session.store.remove(Grant("ann", "owner", TENANT)),
    ),
}


@pytest.mark.parametrize("name", BOTH_CANNOT_BE)
def test_what_both_cannot_have(access: Access, name: str) -> None:
    first, second = BOTH_CANNOT_BE[name]
    refused = together(access, first, second)
    assert len(refused) == 1
    assert_sound(access)
