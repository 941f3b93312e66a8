"""Sequence numbers are in commit order, and every transaction answers at one of them."""

from __future__ import annotations

from contextlib import ExitStack
from threading import Thread

import pytest

from lakehold.access import AccessEngine, AccessSession, Grant
from lakehold.access.facts import index
from lakehold.kit.database import Database
from tests.access.company import BOB_SEES, TENANT, create_company


@pytest.fixture
def access(database: Database) -> AccessEngine:
    return create_company(database)


# SQLite has one writer at a time: there is nothing to interleave.
postgres_only = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


def bob_sees(session: AccessSession) -> bool:
    """By check, list, ids and who alike."""
    answers = {
        session.check("bob", "see", "orders"),
        bool(session.list("bob", "see", "lakehouse.table").items),
        bool(session.ids("bob", "see", "lakehouse.table")),
        "bob" in session.who("see", "orders"),
    }
    assert len(answers) == 1
    return answers.pop()


def grant(access: AccessEngine, *facts: Grant) -> None:
    with access.write(TENANT) as session:
        for fact in facts:
            session.store.add(fact)


@postgres_only
def test_a_revoke_that_begins_first_and_commits_last_is_not_lost(database: Database) -> None:
    writer, reader = create_company(database), AccessEngine(database)
    grant(writer, BOB_SEES)
    with ExitStack() as stack:
        late = stack.enter_context(writer.write(TENANT))
        late.store.remove(BOB_SEES)
        with writer.write(TENANT) as early:
            early.store.add(Grant("bob", "editor", "bronze"))
            early.store.remove(Grant("bob", "editor", "bronze"))
        with reader.read(TENANT) as session:
            between = session.seq
            assert bob_sees(session)
    with reader.read(TENANT) as session:
        assert session.seq > between
        assert not bob_sees(session)


@postgres_only
def test_the_numbers_that_a_reader_sees_never_have_a_smaller_one_coming(database: Database) -> None:
    access = create_company(database)
    seen: list[int] = []

    def write(number: int) -> None:
        for _ in range(10):
            grant(access, Grant("bob", "viewer" if number % 2 else "editor", "orders"))
            with access.write(TENANT) as session:
                session.store.remove(Grant("bob", "viewer" if number % 2 else "editor", "orders"))

    threads = [Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        with access.read(TENANT) as session:
            seen.append(session.seq)
            bob_sees(session)
    for thread in threads:
        thread.join()
    assert seen == sorted(seen)
    with access.read(TENANT) as session:
        assert not bob_sees(session)


def test_what_is_not_committed_is_seen_by_its_own_transaction_only(access: AccessEngine) -> None:
    with access.write(TENANT) as session:
        session.store.add(BOB_SEES)
        assert bob_sees(session)
        with access.read(TENANT) as other:
            assert not bob_sees(other)
    with access.read(TENANT) as other:
        assert bob_sees(other)


def test_what_is_rolled_back_was_never_there(access: AccessEngine) -> None:
    def fail(session: AccessSession) -> None:
        session.store.add(BOB_SEES)
        assert bob_sees(session)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), access.write(TENANT) as session:
        fail(session)
    with access.read(TENANT) as session:
        assert not bob_sees(session)


def test_a_reader_keeps_its_number_while_others_move_on(access: AccessEngine) -> None:
    with access.read(TENANT) as early:
        number = early.seq
        grant(access, BOB_SEES)
        with access.read(TENANT) as later:
            assert bob_sees(later)
            assert later.seq > number
        assert not bob_sees(early)
        assert early.seq == number


@pytest.fixture
def short_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_JOURNAL", 3)


@pytest.mark.usefixtures("short_memory")
def test_a_reader_from_before_the_index_remembers_still_answers_at_its_number(database: Database) -> None:
    access = create_company(database)
    with ExitStack() as stack:
        transaction = stack.enter_context(database.read())
        # The transaction's snapshot is taken before, its session only after many changes.
        transaction.connection.exec_driver_sql("SELECT count(*) FROM change")
        for number in range(8):
            with access.write(TENANT) as session:
                (session.store.remove if number % 2 else session.store.add)(BOB_SEES)
            with access.read(TENANT) as session:
                assert bob_sees(session) is (number % 2 == 0)
        grant(access, BOB_SEES)
        with access.read(TENANT) as session:
            assert bob_sees(session)
        old = access.session(transaction, TENANT)
        assert not bob_sees(old)
