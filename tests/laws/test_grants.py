"""A grant that is given turns no decision at any moment from yes to no, undo gives back what was, and an Owner without
end remains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehold.access.engine import AccessEngine
from lakehold.access.facts.records import Add, Edge, Grant, Remove
from lakehold.catalog import campaign_decisions, campaigns, grants, undo
from lakehold.catalog.undo import HeldPeriods
from lakehold.directory import groups
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, Moment
from lakehold.kit.database import Database
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.keys import KeyRing, generate_key
from lakehold.workspaces import models
from tests.clock import StoppedClock
from tests.laws.budget import examples

FAR = 4
DAYS = st.tuples(st.integers(0, FAR), st.none() | st.integers(1, FAR))
"""In how many days it begins, and for how many it lasts."""
HISTORIES = st.lists(st.tuples(st.integers(0, 3), st.booleans(), DAYS), min_size=1, max_size=4)
FACTS: list[Grant | Edge] = [
    Grant("ann", "viewer", "raw"),
    Edge("member_of", "ann", "crew"),
    Grant("crew", "viewer", "raw"),
]
KEYS = KeyRing([generate_key()])
_tenants = iter(range(1, 1_000_000))


def company(database: Database, clock: StoppedClock) -> tuple[AccessEngine, str]:
    access, tenant = AccessEngine(database, clock), f"giving{next(_tenants)}"
    access.create_tenant(tenant, "Acme", models())
    with access.write(tenant) as session:
        store = session.store
        for member in ("olga", "ann"):
            store.create("tenant.member", member, uid=member, edges={"tenant": tenant})
        store.add(Grant("olga", "owner", tenant))
        store.create("tenant.group", "Crew", uid="crew", edges={"tenant": tenant})
        store.create("lakehouse.lakehouse", "Lake", uid="lake", edges={"tenant": tenant})
        store.create("lakehouse.layer", "Raw", uid="raw", edges={"lakehouse": "lake"})
        store.add(Grant("ann", "member", "lake"))
    return access, tenant


def decisions(access: AccessEngine, tenant: str, start: Moment) -> set[Moment]:
    """The half days at which Ann sees the layer, by what is known now."""
    with access.read(tenant) as session:
        # Four pauses of three days, then what begins and lasts as long as it can.
        moments = (start + half * DAY // 2 for half in range(2 * (4 * 3 + 2 * FAR + 1)))
        return {at for at in moments if at >= session.at and session.as_of(at).check("ann", "see", "raw")}


@pytest.mark.parametrize("fact", FACTS, ids=["grant", "membership", "group's grant"])
@examples(8)
@given(history=HISTORIES)
def test_giving_never_takes_access_away(
    shared: Database, fact: Grant | Edge, history: list[tuple[int, bool, tuple[int, int | None]]]
) -> None:
    clock = StoppedClock()
    access, tenant = company(shared, clock)
    start = clock()
    with access.write(tenant) as session:
        for other in FACTS[1:]:
            if fact in FACTS[1:] and other != fact:
                session.store.add(other)
    for pause, adds, (begins, lasts) in history:
        clock.advance(pause * DAY / 1_000_000)
        before = decisions(access, tenant, start)
        since = clock() + begins * DAY
        with access.write(tenant) as session:
            if adds:
                session.store.apply(Add(fact), since=since, until=None if lasts is None else since + lasts * DAY)
            else:
                session.store.apply(Remove(fact), since=since)
        after = decisions(access, tenant, start)
        if adds:
            assert before <= after
            assert {at for at in after - before if at < since} == set()
        else:
            assert after == {at for at in before if at < since}
        with AccessEngine(shared, clock).read(tenant) as fresh, access.read(tenant) as session:
            assert fresh.check("ann", "see", "raw") == session.check("ann", "see", "raw") == (clock() in after)


MANY_DAYS = st.lists(DAYS, max_size=3)
MEMBERSHIP = Edge("member_of", "ann", "crew")
VIEWER, EDITOR = Grant("ann", "viewer", "raw"), Grant("ann", "editor", "raw")
CHANGES_TO_UNDO: dict[str, Callable[[RequestContext, Moment | None], object]] = {
    "give": lambda ctx, until: grants.give(ctx, VIEWER, until=until),
    "revoke": lambda ctx, _: grants.revoke(ctx, VIEWER),
    "change": lambda ctx, until: grants.change_role(ctx, VIEWER, "editor", until=until),
    "end": lambda ctx, until: grants.change_role(ctx, VIEWER, "viewer", until=until),
    "add": lambda ctx, until: groups.add(ctx, "crew", "ann", until=until),
    "remove": lambda ctx, _: groups.remove(ctx, "crew", "ann"),
}


@contextmanager
def as_olga(access: AccessEngine, tenant: str) -> Iterator[RequestContext]:
    with access.database.write(tenant) as transaction:
        yield RequestContext(access.session(transaction, tenant), Caller(tenant, "olga"), KEYS)


def hold(ctx: RequestContext, days: dict[Grant | Edge, list[tuple[int, int | None]]]) -> None:
    for fact, spans in days.items():
        for begins, lasts in spans:
            since = ctx.at + begins * DAY
            ctx.session.store.add(fact, since=since, until=None if lasts is None else since + lasts * DAY)


def held_later(ctx: RequestContext, before: HeldPeriods) -> HeldPeriods:
    return {
        fact: [(max(since, ctx.at), until) for since, until in spans if until > ctx.at]
        for fact, spans in before.items()
    }


@examples(8)
@given(
    days=st.fixed_dictionaries(dict.fromkeys((VIEWER, EDITOR, MEMBERSHIP), MANY_DAYS)),
    ends=st.none() | st.integers(1, FAR),
)
def test_undo_gives_back_what_was(
    shared: Database, days: dict[Grant | Edge, list[tuple[int, int | None]]], ends: int | None
) -> None:
    clock = StoppedClock()
    access, tenant = company(shared, clock)
    with as_olga(access, tenant) as ctx:
        hold(ctx, days)
    for change in CHANGES_TO_UNDO.values():
        with as_olga(access, tenant) as ctx:
            before = undo.held_periods(ctx, VIEWER, EDITOR, MEMBERSHIP)
            with suppress(NotFoundError, InvalidInputError):  # it is not held, or begins after the end
                change(ctx, None if ends is None else ctx.at + ends * DAY)
        clock.advance(60)
        with as_olga(access, tenant) as ctx:
            undo.restore(ctx, undo.parse(undo.dump(before)))
            assert undo.held_periods(ctx, *before) == held_later(ctx, before)


@examples(8)
@given(days=MANY_DAYS)
def test_reopening_a_review_gives_back_what_was_removed(shared: Database, days: list[tuple[int, int | None]]) -> None:
    clock = StoppedClock()
    access, tenant = company(shared, clock)
    with as_olga(access, tenant) as ctx:
        hold(ctx, {VIEWER: days})
        before = undo.held_periods(ctx, VIEWER)
        uid = campaigns.start(ctx, "lake", "Spring").campaign.uid
        rows = [row.n for row in campaign_decisions.list_rows(ctx, uid) if row.grant == VIEWER]
    assert bool(rows) == bool(days)
    for decide in (campaign_decisions.remove, campaign_decisions.reopen):
        clock.advance(60)
        with as_olga(access, tenant) as ctx:
            assert decide(ctx, uid, rows).done == rows
            held = undo.held_periods(ctx, VIEWER)
            assert held == (held_later(ctx, before) if decide is campaign_decisions.reopen else {VIEWER: []})


@examples(8)
@given(days=MANY_DAYS.filter(bool), ends=st.none() | st.integers(1, FAR))
def test_another_role_is_held_in_the_same_periods(
    shared: Database, days: list[tuple[int, int | None]], ends: int | None
) -> None:
    access, tenant = company(shared, StoppedClock())
    with as_olga(access, tenant) as ctx:
        hold(ctx, {VIEWER: days})
        ((_, before),) = undo.held_periods(ctx, VIEWER).items()
        end = None if ends is None else ctx.at + ends * DAY
        left = [(since, until) for since, until in before if end is None or since < end]
        if end is not None and left:
            left[-1] = (left[-1][0], end)
        with suppress(InvalidInputError):
            grants.change_role(ctx, VIEWER, "editor", until=end)
            assert undo.held_periods(ctx, VIEWER, EDITOR) == {VIEWER: [], EDITOR: left}
            return
        assert left == []


SPANS = st.tuples(st.integers(0, 5), st.none() | st.integers(1, 5))
CHANGES = st.tuples(st.sampled_from(["olga", "ann"]), st.sampled_from(["give", "take", "delete"]), SPANS)


@examples(8)
@given(history=st.lists(CHANGES, max_size=6))
def test_an_owner_without_end_always_remains(
    shared: Database, history: list[tuple[str, str, tuple[int, int | None]]]
) -> None:
    clock = StoppedClock()
    access, tenant = company(shared, clock)
    gone: set[str] = set()
    for who, verb, (begins, lasts) in history:
        if who in gone:
            continue
        since, owner = clock() + begins * DAY, Grant(who, "owner", tenant)
        try:
            with access.write(tenant) as session:
                if verb == "give":
                    session.store.add(owner, since=since, until=None if lasts is None else since + lasts * DAY)
                elif verb == "take":
                    session.store.remove(owner, since=since)
                else:
                    session.store.delete(who)
                    gone.add(who)
        except ConflictError:
            gone.discard(who)
        with access.read(tenant) as session:
            for day in (0, 1, 3, 6, 20):
                assert any(
                    session.as_of(clock() + day * DAY).check(one, "manage_owners", tenant)
                    for one in {"olga", "ann"} - gone
                )
        clock.advance(DAY / 1_000_000)
