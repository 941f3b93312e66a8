"""An index that is loaded at once is the same as one that has followed every change."""

from __future__ import annotations

from dataclasses import dataclass
from unittest import mock

from lakehold.access import AccessEngine, AccessSession, Edge, Grant
from lakehold.access.decisions import check
from lakehold.kit.clock import DAY, Moment
from lakehold.kit.database import Database
from tests.access.company import TENANT, create_company


@dataclass(slots=True)
class Hand:
    """The hand of a clock that a test moves."""

    at: Moment = 20_000 * DAY

    def __call__(self) -> Moment:
        self.at += 1
        return self.at


def _said(session: AccessSession) -> list[str]:
    return [*session.actions("bob", "orders"), "|", *session.actions("bob", "bronze")]


def test_several_roles_of_one_holder_are_all_loaded(database: Database) -> None:
    access = create_company(database)
    with access.write(TENANT) as session:
        session.store.add(Grant("bob", "viewer", "orders"))
        session.store.add(Grant("bob", "editor", "orders"))
    with AccessEngine(database).read(TENANT) as loaded, access.read(TENANT) as followed:
        assert loaded.check("bob", "edit", "orders")
        assert loaded.actions("bob", "orders") == followed.actions("bob", "orders")


def test_a_grant_that_holds_for_two_spans_ends_with_the_later_one(database: Database) -> None:
    hand = Hand()
    access = create_company(database, hand)
    start = hand()
    with access.write(TENANT) as session:
        session.store.add(Grant("bob", "viewer", "orders"), until=start + DAY)
        session.store.add(Grant("bob", "viewer", "orders"), since=start + DAY // 2, until=start + 2 * DAY)
    hand.at = start + DAY // 2 + 10
    loaded = AccessEngine(database, hand)
    for at, may in ((start + DAY + 10, True), (start + 2 * DAY + 10, False)):
        with loaded.read(TENANT) as session:
            assert session.check("bob", "read", "orders")
        hand.at = at
        with loaded.read(TENANT) as session:
            assert session.check("bob", "read", "orders") is may
            assert _said(session) == _said_by_new(database, hand)


def _said_by_new(database: Database, hand: Hand) -> list[str]:
    with AccessEngine(database, hand).read(TENANT) as session:
        return _said(session)


def test_several_ends_of_one_edge_are_all_loaded(database: Database) -> None:
    access = create_company(database)
    with access.write(TENANT) as session:
        for group in ("makers", "readers"):
            session.store.create("tenant.group", group, uid=group, edges={"tenant": TENANT})
            session.store.add(Edge("member_of", "bob", group))
        session.store.add(Grant("readers", "viewer", "bronze"))
    with AccessEngine(database).read(TENANT) as session:
        assert session.check("bob", "read", "orders")


def test_what_is_remembered_is_bounded_and_changes_no_answer(database: Database) -> None:
    access = create_company(database)
    with access.write(TENANT) as session:
        session.store.add(Grant("bob", "viewer", "bronze"))
    with mock.patch.object(check, "MOST_REMEMBERED", 1), access.read(TENANT) as session:
        for _ in range(3):
            assert session.check("bob", "read", "orders")
            assert session.check("ann", "delete", "orders")
            assert not session.check("bob", "delete", "orders")
            # The last answer, and those that it needed itself.
            assert len(session.current_view().memo) <= 1 + len({"layer", "lakehouse", "tenant"})
