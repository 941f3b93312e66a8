"""A grant that is given turns no decision at any moment from yes to no, and an Owner without end remains."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehold.access.engine import AccessEngine
from lakehold.access.facts.records import Add, Edge, Grant, Remove
from lakehold.kit.clock import DAY, Moment
from lakehold.kit.database import Database
from lakehold.kit.errors import ConflictError
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
