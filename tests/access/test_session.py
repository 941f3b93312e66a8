"""A session answers at one number and one moment, whatever others commit meanwhile, and sees its own changes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Thread

import pytest

from lakehold.access import AccessEngine
from lakehold.access.facts import index
from lakehold.access.facts.records import Add, Adopt, Attribute, Edge, Grant
from lakehold.access.session import AccessQueries
from lakehold.kit.clock import SECOND
from lakehold.kit.database import Database
from lakehold.kit.errors import NotFoundError
from lakehold.workspaces import models
from tests.access.company import BOB_SEES, TENANT, create_company
from tests.clock import StoppedClock
from tests.laws.view_questions import allowed, facts

TABLE = "lakehouse.table"


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture
def access(database: Database, clock: StoppedClock) -> AccessEngine:
    """Ann, Bob and the Makers, and one table on which Bob holds nothing."""
    access = create_company(database, clock)
    with access.write(TENANT) as session:
        session.store.create("tenant.group", "Makers", uid="makers", edges={"tenant": TENANT})
        session.store.create("tenant.member", "Cyd", uid="cyd", edges={"tenant": TENANT})
    clock.advance(1)
    return access


def may(asked: AccessQueries, action: str = "see", resource: str = "orders") -> bool:
    """Whether bob may, by check, list, ids and who alike."""
    answers = {
        asked.check("bob", action, resource),
        resource in {item.uid for item in asked.list("bob", action, TABLE).items},
        asked.current_view().resource(resource) in asked.ids("bob", action, TABLE),
        "bob" in asked.who(action, resource),
    }
    assert len(answers) == 1
    return answers.pop()


def may_now(access: AccessEngine) -> bool:
    with access.read(TENANT) as session:
        return may(session)


def give(access: AccessEngine) -> None:
    with access.write(TENANT) as session:
        session.store.add(BOB_SEES)


def take(access: AccessEngine) -> None:
    with access.write(TENANT) as session:
        session.store.remove(BOB_SEES)


class RollbackError(Exception):
    """Ends a transaction that shall leave nothing behind."""


def here(ctx: Callable[[], object]) -> None:
    ctx()


def in_another_thread(ctx: Callable[[], object]) -> None:
    thread = Thread(target=ctx)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()


ANYWHERE = pytest.mark.parametrize("somewhere", [here, in_another_thread])


@ANYWHERE
def test_a_reader_keeps_its_answer_when_another_commits(
    access: AccessEngine, somewhere: Callable[[Callable[[], object]], None]
) -> None:
    give(access)
    with access.read(TENANT) as reader:
        assert may(reader)
        somewhere(lambda: take(access))
        assert may(reader)
        somewhere(lambda: may_now(access))
        assert access._indexes[reader.tenant].seq > reader.seq
        assert may(reader)
    assert not may_now(access)


@ANYWHERE
def test_a_reader_that_has_not_asked_yet_reads_what_it_began_with(
    access: AccessEngine, somewhere: Callable[[Callable[[], object]], None]
) -> None:
    with access.read(TENANT) as reader:
        somewhere(lambda: give(access))
        somewhere(lambda: may_now(access))
        assert not may(reader)
        somewhere(lambda: take(access))
        somewhere(lambda: may_now(access))
        assert not may(reader)
    give(access)
    assert may_now(access)


def test_a_transaction_that_began_before_the_index_was_loaded(access: AccessEngine, clock: StoppedClock) -> None:
    another = AccessEngine(access.database, clock)
    with access.database.read() as transaction:
        transaction.connection.exec_driver_sql("SELECT count(*) FROM change").scalar()
        give(access)
        assert may_now(another)
        session = another.session(transaction, TENANT)
        assert not may(session)
        take(access)
        assert not may_now(another)
        assert not may(session)


def test_all_kinds_of_changes_are_undone_for_an_older_reader(access: AccessEngine, clock: StoppedClock) -> None:
    give(access)
    with access.write(TENANT) as session:
        session.store.add(Attribute(TENANT, "plan", "growth"))
    with access.read(TENANT) as reader:
        before = facts(reader.current_view()), allowed(reader.current_view())
        clock.advance(1)
        with access.write(TENANT) as session:
            store = session.store
            store.create("lakehouse.layer", "Silver", uid="silver", edges={"lakehouse": "lh"})
            store.create(TABLE, "New", uid="new", edges={"layer": "silver"})
            store.add(Edge("layer", "orders", "silver"))
            store.add(Edge("member_of", "bob", "makers"))
            store.add(Attribute(TENANT, "plan", "starter"))
            store.add(Grant("makers", "viewer", "silver"))
            store.remove(BOB_SEES)
        with access.write(TENANT) as session:
            lakehouse = next(model for model in models() if model.name == "lakehouse")
            rule = "{who: editor, may: [edit, write, rollback]}"
            assert rule in lakehouse.source
            session.store.apply(Adopt(lakehouse.source.replace(rule, "{who: viewer, may: [edit, write, rollback]}")))
        with access.read(TENANT) as newer:
            assert newer.check("bob", "edit", "orders") != reader.check("bob", "edit", "orders")
            after = facts(newer.current_view()), allowed(newer.current_view())
        assert (facts(reader.current_view()), allowed(reader.current_view())) == before
        assert may(reader)
        with pytest.raises(NotFoundError):
            reader.check("bob", "see", "new")
        assert reader.list("ann", "see", TABLE).items[0].uid == "orders"
    with access.read(TENANT) as newer:
        assert (facts(newer.current_view()), allowed(newer.current_view())) == after != before


def test_more_changes_than_the_index_remembers(access: AccessEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_JOURNAL", 3)
    another = AccessEngine(access.database, access.clock)
    give(access)
    assert may_now(another)
    with another.read(TENANT) as reader, another.database.read() as transaction:
        transaction.connection.exec_driver_sql("SELECT count(*) FROM change").scalar()
        for change in (take, give, take, give, take):
            change(another)
            assert may_now(another) == (change is give)
        assert may(reader)
        assert may(another.session(transaction, TENANT))
        assert reader.explain("bob", "see", "orders").allowed
    assert not may_now(another)


def test_a_session_lasts_longer_than_a_grant(access: AccessEngine, clock: StoppedClock) -> None:
    with access.write(TENANT) as session:
        session.store.add(BOB_SEES, until=clock() + 10 * SECOND)
    with access.read(TENANT) as reader:
        assert may(reader)
        clock.advance(10)
        assert may(reader)
        assert not may_now(access)
        assert may(reader)
    assert not may_now(access)


def test_a_grant_of_a_moment_ends_though_the_index_was_there_before(access: AccessEngine, clock: StoppedClock) -> None:
    assert not may_now(access)
    clock.advance(5)
    with access.write(TENANT) as session:
        session.store.add(BOB_SEES, until=clock() + 10 * SECOND)
    clock.advance(1)
    assert may_now(access)
    clock.advance(1)
    assert may_now(access)
    clock.advance(10)
    assert not may_now(access)


def test_own_changes_are_seen_at_once_and_by_nobody_else(access: AccessEngine) -> None:
    with access.read(TENANT) as other:
        with suppress(RollbackError), access.write(TENANT) as session:
            session.store.add(BOB_SEES)
            assert may(session)
            assert not may(other)
            assert not may_now(access)
            session.store.remove(BOB_SEES)
            assert not may(session)
            session.store.add(BOB_SEES)
            raise RollbackError
        assert not may(other)
    assert not may_now(access)
    assert not may_now(AccessEngine(access.database, access.clock))


def test_what_a_transaction_makes_is_gone_with_it(access: AccessEngine) -> None:
    with access.read(TENANT) as session:
        before = facts(session.current_view())
    with suppress(RollbackError), access.write(TENANT) as session:
        session.store.create(TABLE, "New", uid="new", edges={"layer": "bronze"})
        session.store.add(Grant("bob", "editor", "new"))
        session.store.delete("orders")
        assert may(session, "edit", "new")
        assert session.list("ann", "see", TABLE).items[0].uid == "new"
        raise RollbackError
    with access.read(TENANT) as session:
        assert facts(session.current_view()) == before
        with pytest.raises(NotFoundError):
            session.check("bob", "edit", "new")
        with pytest.raises(NotFoundError):
            session.who("edit", "new")


def test_rows_of_a_what_if_name_those_who_were_there_when_it_was_asked(access: AccessEngine) -> None:
    with access.read(TENANT) as reader:
        changes = [Add(Grant("cyd", "viewer", "orders"))]
        effects, expected = reader.what_if(changes), list(reader.what_if(changes).rows())
        with access.write(TENANT) as session:
            session.store.delete("bob")
        with access.read(TENANT) as session:
            assert not session.check("cyd", "see", "orders")
        assert list(effects.rows()) == expected
        assert ("cyd", "read", "orders", True) in expected
