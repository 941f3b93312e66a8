"""Last use per member × resource × action, by day."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread

import pytest

from lakehold.catalog import usage
from lakehold.catalog.usage import UsageRecorder
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.clock import DAY
from tests.demo_company import DemoPlatform, as_member


def used(corner: DemoPlatform, notes: UsageRecorder, who: str, action: str, uid: str) -> None:
    with corner.read(as_member(who)) as ctx:
        notes.record(ctx, action, uid)


def test_the_last_day_counts(corner: DemoPlatform) -> None:
    notes = UsageRecorder()
    for _ in range(3):
        used(corner, notes, "ana", "read", "orders")
    assert notes.flush(corner.database) == 1
    corner.hand.advance_days(2)
    used(corner, notes, "ana", "read", "orders")
    used(corner, notes, "ana", "edit", "customer_value")
    assert notes.flush(corner.database) == 2
    with corner.read(as_member("ana")) as ctx:
        today = ctx.at // DAY * DAY
        found = [(use.resource.uid, use.action, use.at) for use in usage.list_for_member(ctx, "ana")]
        assert sorted(found) == [("customer_value", "edit", today), ("orders", "read", today)]


def test_an_older_day_never_takes_the_place_of_a_newer_one(corner: DemoPlatform) -> None:
    early, late = UsageRecorder(), UsageRecorder()
    used(corner, early, "ana", "read", "orders")
    corner.hand.advance_days(1)
    used(corner, late, "ana", "read", "orders")
    assert (late.flush(corner.database), early.flush(corner.database)) == (1, 1)
    with corner.read(as_member("ana")) as ctx:
        (use,) = usage.list_for_resource(ctx, "orders")
        assert use.at == ctx.at // DAY * DAY


def test_the_same_on_the_same_day_is_written_once(corner: DemoPlatform) -> None:
    notes = UsageRecorder()
    used(corner, notes, "ana", "read", "orders")
    assert notes.flush(corner.database) == 1
    used(corner, notes, "ana", "read", "orders")
    assert notes.flush(corner.database) == 0


def test_who_may_see_it(corner: DemoPlatform) -> None:
    notes = UsageRecorder()
    for who in ("ana", "erik"):
        used(corner, notes, who, "read", "orders")
    notes.flush(corner.database)
    seen = {}
    for who in ("ana", "mona", "adam"):
        with corner.read(as_member(who)) as ctx:
            seen[who] = {use.member.uid for use in usage.list_for_resource(ctx, "orders")}
    assert seen == {"ana": {"ana"}, "mona": {"ana", "erik"}, "adam": {"ana", "erik"}}
    with pytest.raises(HiddenError), corner.read(as_member("nils")) as ctx:
        usage.list_for_resource(ctx, "orders")
    with pytest.raises(DeniedError), corner.read(as_member("ana")) as ctx:
        usage.list_for_member(ctx, "erik")
    with corner.read(as_member("adam")) as ctx:
        assert [use.resource.uid for use in usage.list_for_member(ctx, "erik")] == ["orders"]


def test_what_is_out_of_sight_by_now_is_not_named(corner: DemoPlatform) -> None:
    notes = UsageRecorder()
    used(corner, notes, "carla", "read", "salaries")
    notes.flush(corner.database)
    with corner.write(as_member("adam")) as ctx:
        (grant,) = [held for held in ctx.grants("salaries") if held.subject == "carla"]
        ctx.session.store.remove(grant)
    with corner.read(as_member("carla")) as ctx:
        assert usage.list_for_member(ctx, "carla") == []


def test_who_views_as_somebody_uses_nothing(corner: DemoPlatform) -> None:
    notes = UsageRecorder()
    with corner.read(replace(as_member("ana"), impersonator="adam")) as ctx:
        notes.record(ctx, "read", "orders")
    assert notes.flush(corner.database) == 0


def test_many_at_once(corner: DemoPlatform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "_AT_ONCE", 5)
    notes = UsageRecorder()
    with corner.read(as_member("olga")) as ctx:
        tables = [item.uid for item in ctx.session.list("olga", "see", "lakehouse.table").items]
        for uid in tables:
            notes.record(ctx, "see", uid)
    assert notes.flush(corner.database) == len(tables) > 20
    with corner.read(as_member("olga")) as ctx:
        assert len(usage.list_for_member(ctx, "olga")) == len(tables)


def test_threads_share_it_and_lose_nothing(corner: DemoPlatform) -> None:
    notes = UsageRecorder()
    people = ("ana", "erik", "mona", "olga")

    def work_on(who: str) -> None:
        for uid in ("orders", "items", "stores"):
            used(corner, notes, who, "read", uid)
            notes.flush(corner.database)

    threads = [Thread(target=work_on, args=(who,)) for who in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    notes.flush(corner.database)
    with corner.read(as_member("olga")) as ctx:
        found = {
            (use.member.uid, uid) for uid in ("orders", "items", "stores") for use in usage.list_for_resource(ctx, uid)
        }
    assert found == {(who, uid) for who in people for uid in ("orders", "items", "stores")}
