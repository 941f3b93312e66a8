"""Facts in the database: they open and close, have spans of time, and are never overwritten."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from lakehold import workspaces
from lakehold.access.engine import AccessEngine
from lakehold.access.facts.records import Add, Adopt, Attribute, Edge, Fact, Grant
from lakehold.access.session import AccessSession
from lakehold.kit.clock import DAY
from lakehold.kit.database import Database
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from tests.world import World


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.at = 1_000 * DAY

    def __call__(self) -> int:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def access(database: Database, clock: Clock) -> AccessEngine:
    access = AccessEngine(database, clock)
    access.create_tenant("acme", "Acme", workspaces.models())
    with access.write("acme") as session:
        store = session.store
        for member in ("ann", "bob"):
            store.create("tenant.member", member, uid=member, edges={"tenant": "acme"})
        store.create("lakehouse.lakehouse", "Lake", uid="lh", edges={"tenant": "acme"})
        store.create("lakehouse.layer", "Bronze", uid="bronze", edges={"lakehouse": "lh"})
        store.create("lakehouse.table", "Orders", uid="orders", edges={"layer": "bronze"})
        store.add(Grant("ann", "owner", "acme"))
    clock.at += 1
    return access


def may(access: AccessEngine, action: str = "see") -> bool:
    """Whether bob may, by check, list and who alike."""
    with access.read("acme") as session:
        answers = {
            session.check("bob", action, "orders"),
            bool(session.list("bob", action, "lakehouse.table").items),
            bool(session.ids("bob", action, "lakehouse.table")),
            "bob" in session.who(action, "orders"),
        }
    assert len(answers) == 1
    return answers.pop()


def test_a_grant_holds_for_its_span_and_not_a_moment_longer(access: AccessEngine, clock: Clock) -> None:
    start = clock.at
    with access.write("acme") as session:
        session.store.add(Grant("bob", "viewer", "orders"), since=start + DAY, until=start + 2 * DAY)
    seen = {}
    for moment in (start, start + DAY - 1, start + DAY, start + 2 * DAY - 1, start + 2 * DAY):
        clock.at = moment
        seen[moment - start] = may(access)
    assert seen == {0: False, DAY - 1: False, DAY: True, 2 * DAY - 1: True, 2 * DAY: False}


def test_a_planned_grant_can_be_taken_back_before_it_begins(access: AccessEngine, clock: Clock) -> None:
    with access.write("acme") as session:
        session.store.add(Grant("bob", "viewer", "orders"), since=clock.at + DAY)
    with access.write("acme") as session:
        session.store.remove(Grant("bob", "viewer", "orders"))
    clock.at += 2 * DAY
    assert not may(access)


def test_adding_again_with_another_end_moves_the_end(access: AccessEngine, clock: Clock) -> None:
    start = clock.at
    with access.write("acme") as session:
        session.store.add(Grant("bob", "viewer", "orders"), until=start + DAY)
    clock.at += 1
    with access.write("acme") as session:
        session.store.add(Grant("bob", "viewer", "orders"), until=start + 3 * DAY)
    clock.at = start + 2 * DAY
    assert may(access)
    clock.at = start + 3 * DAY
    assert not may(access)


def test_the_past_stays_as_it_was(access: AccessEngine, clock: Clock) -> None:
    with access.write("acme") as session:
        session.store.add(Grant("bob", "viewer", "orders"))
    granted = clock.at
    clock.at += DAY
    with access.write("acme") as session:
        session.store.remove(Grant("bob", "viewer", "orders"))
    clock.at += DAY
    with access.read("acme") as session:
        assert not session.check("bob", "see", "orders")
        for at, answer in ((granted - 1, False), (granted, True), (granted + DAY - 1, True), (granted + DAY, False)):
            then = session.as_of(at)
            assert then.check("bob", "see", "orders") is answer
            assert ("bob" in then.who("see", "orders")) is answer
            assert bool(then.list("bob", "see", "lakehouse.table").items) is answer


def test_the_model_of_that_time_is_used(access: AccessEngine, clock: Clock) -> None:
    with access.write("acme") as session:
        session.store.add(Grant("bob", "viewer", "orders"))
    before = clock.at
    clock.at += DAY
    source = session.current_view().sources["lakehouse"]
    stricter = source.replace(
        "{who: viewer, may: [see, read, see_runs]}", "{who: editor, may: [see, read, see_runs]}", 1
    )
    with access.write("acme") as session:
        effects = session.what_if([Adopt(stricter)])
        session.store.apply(Adopt(stricter))
        assert not session.check("bob", "see", "orders")
    assert {(group.kind, group.action, group.gained) for group in effects.groups} >= {
        ("lakehouse.table", "see", False),
        ("lakehouse.table", "read", False),
    }
    assert not may(access)
    with access.read("acme") as session:
        assert session.as_of(before).check("bob", "see", "orders")


def test_a_fact_cannot_begin_in_the_past_or_end_before_it_begins(access: AccessEngine, clock: Clock) -> None:
    with access.write("acme") as session:
        with pytest.raises(InvalidInputError, match="past"):
            session.store.add(Grant("bob", "viewer", "orders"), since=clock.at - 1)
        with pytest.raises(InvalidInputError, match="end after"):
            session.store.add(Grant("bob", "viewer", "orders"), until=clock.at)


def test_an_attribute_takes_the_place_of_the_old_one(access: AccessEngine, database: Database, clock: Clock) -> None:
    for value in ("starter", "growth", "starter"):
        clock.at += 1
        with access.write("acme") as session:
            session.store.add(Attribute("acme", "plan", value))
    with database.read() as transaction:
        rows = transaction.connection.execute(
            sa.text("SELECT value FROM access_attribute WHERE since <= :at AND until > :at"), {"at": clock.at}
        ).all()
        everything = transaction.connection.execute(sa.text("SELECT count(*) FROM access_attribute")).scalar_one()
    assert rows == [("starter",)]
    assert everything == 3


def test_a_deleted_resource_takes_its_facts_with_it(access: AccessEngine) -> None:
    with access.write("acme") as session:
        session.store.add(Grant("bob", "viewer", "orders"))
        with pytest.raises(ConflictError, match="still holds 1"):
            session.store.delete("bronze")
        session.store.delete("orders")
        session.store.delete("bronze")
    with access.read("acme") as session:
        with pytest.raises(NotFoundError):
            session.check("bob", "see", "orders")
        assert session.list("ann", "see", "lakehouse.table").items == []
    with access.write("acme") as session, pytest.raises(ConflictError, match="taken"):
        session.store.create("lakehouse.layer", "Again", uid="bronze", edges={"lakehouse": "lh"})


def test_the_last_owner_stays(access: AccessEngine) -> None:
    with access.write("acme") as session:
        with pytest.raises(ConflictError, match="last Owner"):
            session.store.remove(Grant("ann", "owner", "acme"))
        with pytest.raises(ConflictError, match="last Owner"):
            session.store.delete("ann")
        session.store.add(Grant("bob", "owner", "acme"))
        session.store.delete("ann")
        assert session.who("manage_billing", "acme") == ["bob"]


def test_a_role_of_one_person_moves_on(access: AccessEngine) -> None:
    with access.write("acme") as session:
        session.store.create("spaces.space", "S", uid="s", edges={"tenant": "acme"}, creator="ann")
        session.store.add(Grant("bob", "owner", "s"))
        assert session.who("change_owner", "s") == ["ann"]
        assert "ann" not in session.who("create_project", "s")


def test_a_reading_session_writes_nothing(access: AccessEngine) -> None:
    with access.read("acme") as session, pytest.raises(ForbiddenError):
        session.store.add(Grant("bob", "viewer", "orders"))


def test_a_parent_is_asked_for(access: AccessEngine) -> None:
    with access.write("acme") as session, pytest.raises(InvalidInputError, match="lies in a layer"):
        session.store.create("lakehouse.table", "Lost", uid="lost")


def test_circles_are_refused(access: AccessEngine) -> None:
    def make(session: AccessSession, *joins: tuple[str, str]) -> None:
        for source, target in joins:
            session.store.add(Edge("joins", source, target))

    with access.write("acme") as session:
        session.store.create("marts.project", "P", uid="p", edges={"tenant": "acme"})
        for uid in ("a", "b", "c"):
            session.store.create("marts.data_mart", uid, uid=uid, edges={"project": "p"})
        make(session, ("a", "b"), ("b", "c"))
        for circle in (("c", "a"), ("a", "a")):
            with pytest.raises(ConflictError, match="cycle"):
                make(session, circle)


def test_worlds_and_stores_refuse_the_same(access: AccessEngine) -> None:
    wrong: list[Fact] = [
        Grant("bob", "reader", "orders"),
        Edge("layer", "orders", "lh"),
        Attribute("orders", "plan", "x"),
    ]
    world = World()
    world.member("bob")
    world.add("lakehouse.lakehouse", "lh", tenant="acme")
    world.add("lakehouse.layer", "bronze", lakehouse="lh")
    world.add("lakehouse.table", "orders", layer="bronze")
    for fact in wrong:
        with pytest.raises(InvalidInputError) as here:
            world.fact(fact)
        with access.write("acme") as session, pytest.raises(InvalidInputError) as there:
            session.store.apply(Add(fact))
        assert here.value.message == there.value.message
