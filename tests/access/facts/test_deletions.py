"""A deleted resource exists again with what ended with it, and that nothing was so meanwhile stays written."""

from __future__ import annotations

import pytest

from lakehold.access import AccessEngine, Attribute, Edge, Grant
from lakehold.access.facts.deletions import load_deletion
from lakehold.access.facts.names import NameTakenError
from lakehold.access.facts.tables import GrantPeriod, grants_on
from lakehold.kit.clock import DAY, FOREVER
from lakehold.kit.database import Database
from lakehold.kit.errors import NotFoundError
from lakehold.workspaces import registry
from tests.access.company import TENANT, create_company
from tests.clock import StoppedClock


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture
def access(database: Database, clock: StoppedClock) -> AccessEngine:
    create_company(database, clock)
    access = AccessEngine(database, clock, registry.unique_names())
    with access.write(TENANT) as session:
        store = session.store
        store.create("lakehouse.layer", "Silver", uid="silver", edges={"lakehouse": "lh"})
        store.create("tenant.member", "Cyd", uid="cyd", edges={"tenant": TENANT})
        store.create("lakehouse.query", "Query", uid="query", edges={"lakehouse": "lh", "writes": ["orders"]})
        store.add(Grant("bob", "viewer", "orders"))
        store.add(Grant("cyd", "viewer", "orders"))
        store.add(Attribute("orders", "discoverable", "true"))
    return access


def delete(access: AccessEngine, clock: StoppedClock, uid: str = "orders") -> None:
    clock.advance(60)
    with access.write(TENANT) as session:
        session.store.delete(uid)
    clock.advance(60)


def restore(access: AccessEngine, name: str = "") -> None:
    with access.write(TENANT) as session:
        deletion = load_deletion(session.transaction, session.tenant, "orders", session.at)
        session.store.restore(deletion, name or deletion.name, deletion.facts)


def grants(access: AccessEngine) -> dict[str, GrantPeriod]:
    with access.read(TENANT) as session:
        view = session.current_view()
        held = grants_on(session.transaction, session.tenant, view.resource("orders"), session.at)
        return {view.uid(each.subject): each for each in held}


def test_it_has_its_number_and_what_ended_with_it(access: AccessEngine, clock: StoppedClock) -> None:
    with access.read(TENANT) as session:
        before = session.current_view().resource("orders")
    delete(access, clock)
    deleted_at = clock.at
    with access.read(TENANT) as session:
        assert session.current_view().ids.get("orders") is None
    clock.advance(60)
    restore(access)
    for engine in (access, AccessEngine(access.database, clock)):
        with engine.read(TENANT) as session:
            view = session.current_view()
            number = view.resource("orders")
            assert (number, view.names.get(number)) == (before, "Orders")
            assert view.attributes["discoverable"].get(number) == "true"
            assert [view.uid(end) for end in view.edges_out["layer"].get(number) or ()] == ["bronze"]
            assert session.check("bob", "read", "orders")
            assert session.who("read", "orders") == ["ann", "bob", "cyd"]
            assert [view.uid(each) for each in view.edges_in["writes"].get(number) or ()] == ["query"]
            assert not session.as_of(deleted_at).check("bob", "read", "orders")


def test_a_grant_ends_when_it_would_have(access: AccessEngine, clock: StoppedClock) -> None:
    end, begin = clock.at + 2 * DAY, clock.at + 3 * DAY
    with access.write(TENANT) as session:
        session.store.remove(Grant("bob", "viewer", "orders"))
        session.store.add(Grant("bob", "editor", "orders"), until=end)
        session.store.add(Grant("cyd", "editor", "orders"), since=begin, until=begin + DAY)
        session.store.add(Grant("ann", "viewer", "orders"), until=clock.at + DAY // 2)
    delete(access, clock)
    clock.at += DAY
    with access.write(TENANT) as session:
        session.store.delete("cyd")
    restore(access)
    found = grants(access)
    assert set(found) == {"bob"}, "of members that exist, and that would hold now"
    assert (found["bob"].role, found["bob"].since, found["bob"].until) == ("editor", clock.at, end)


def test_what_had_not_begun_begins_as_it_was_to(access: AccessEngine, clock: StoppedClock) -> None:
    begin = clock.at + 3 * DAY
    with access.write(TENANT) as session:
        session.store.remove(Grant("cyd", "viewer", "orders"))
        session.store.add(Grant("cyd", "editor", "orders"), since=begin)
    delete(access, clock)
    restore(access)
    assert (grants(access)["cyd"].since, grants(access)["cyd"].until) == (begin, FOREVER)


def test_a_name_that_was_taken_meanwhile_needs_another(access: AccessEngine, clock: StoppedClock) -> None:
    delete(access, clock)
    with access.write(TENANT) as session:
        session.store.create("lakehouse.table", "ORDERS", uid="later", edges={"layer": "bronze"})
    with pytest.raises(NameTakenError):
        restore(access)
    restore(access, "Older orders")
    with access.write(TENANT) as session:
        assert session.current_view().names.get(session.current_view().resource("orders")) == "Older orders"
        with pytest.raises(NameTakenError):
            session.store.create("lakehouse.table", "older orders", edges={"layer": "bronze"})
        session.store.create("lakehouse.table", "older orders", edges={"layer": "silver"})


def test_what_ended_before_stays_ended(access: AccessEngine, clock: StoppedClock) -> None:
    with access.write(TENANT) as session:
        session.store.remove(Grant("bob", "viewer", "orders"))
        session.store.remove(Edge("writes", "query", "orders"))
    # At the same moment: what ended with it is told by the change log, not by the clock.
    with access.write(TENANT) as session:
        session.store.delete("orders")
    clock.advance(60)
    restore(access)
    assert set(grants(access)) == {"cyd"}
    with access.read(TENANT) as session:
        assert not session.current_view().edges_out["writes"].get(session.current_view().resource("query"))


def test_what_is_not_deleted(access: AccessEngine) -> None:
    for uid in ("orders", "nothing"):
        with pytest.raises(NotFoundError), access.read(TENANT) as session:
            load_deletion(session.transaction, session.tenant, uid, session.at)
