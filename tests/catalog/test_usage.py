"""Last use per member × resource × action, by day, written in the background."""

from __future__ import annotations

from dataclasses import replace
from threading import Event, Thread

import pytest

from lakehold.catalog import usage
from lakehold.catalog.usage import Background, Usage
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.clock import DAY
from tests.corner import Corner, by


def used(corner: Corner, notes: Usage, who: str, action: str, uid: str) -> None:
    with corner.read(by(who)) as work:
        notes.note(work, action, uid)


def test_the_last_day_counts(corner: Corner) -> None:
    notes = Usage()
    for _ in range(3):
        used(corner, notes, "ana", "read", "orders")
    assert notes.write(corner.database) == 1
    corner.hand.pass_by(2)
    used(corner, notes, "ana", "read", "orders")
    used(corner, notes, "ana", "edit", "customer_value")
    assert notes.write(corner.database) == 2
    with corner.read(by("ana")) as work:
        today = work.at // DAY * DAY
        found = [(use.resource.uid, use.action, use.at) for use in usage.of_member(work, "ana")]
        assert sorted(found) == [("customer_value", "edit", today), ("orders", "read", today)]


def test_an_older_day_never_takes_the_place_of_a_newer_one(corner: Corner) -> None:
    early, late = Usage(), Usage()
    used(corner, early, "ana", "read", "orders")
    corner.hand.pass_by(1)
    used(corner, late, "ana", "read", "orders")
    assert (late.write(corner.database), early.write(corner.database)) == (1, 1)
    with corner.read(by("ana")) as work:
        (use,) = usage.of_resource(work, "orders")
        assert use.at == work.at // DAY * DAY


def test_the_same_on_the_same_day_is_written_once(corner: Corner) -> None:
    notes = Usage()
    used(corner, notes, "ana", "read", "orders")
    assert notes.write(corner.database) == 1
    used(corner, notes, "ana", "read", "orders")
    assert notes.write(corner.database) == 0


def test_who_may_see_it(corner: Corner) -> None:
    notes = Usage()
    for who in ("ana", "erik"):
        used(corner, notes, who, "read", "orders")
    notes.write(corner.database)
    seen = {}
    for who in ("ana", "mona", "adam"):
        with corner.read(by(who)) as work:
            seen[who] = {use.member.uid for use in usage.of_resource(work, "orders")}
    assert seen == {"ana": {"ana"}, "mona": {"ana", "erik"}, "adam": {"ana", "erik"}}
    with pytest.raises(HiddenError), corner.read(by("nils")) as work:
        usage.of_resource(work, "orders")
    with pytest.raises(DeniedError), corner.read(by("ana")) as work:
        usage.of_member(work, "erik")
    with corner.read(by("adam")) as work:
        assert [use.resource.uid for use in usage.of_member(work, "erik")] == ["orders"]


def test_what_is_out_of_sight_by_now_is_not_named(corner: Corner) -> None:
    notes = Usage()
    used(corner, notes, "carla", "read", "salaries")
    notes.write(corner.database)
    with corner.write(by("adam")) as work:
        (grant,) = [held for held in work.grants("salaries") if held.subject == "carla"]
        work.session.store.remove(grant)
    with corner.read(by("carla")) as work:
        assert usage.of_member(work, "carla") == []


def test_who_views_as_somebody_uses_nothing(corner: Corner) -> None:
    notes = Usage()
    with corner.read(replace(by("ana"), behind="adam")) as work:
        notes.note(work, "read", "orders")
    assert notes.write(corner.database) == 0


def test_many_at_once(corner: Corner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "_AT_ONCE", 5)
    notes = Usage()
    with corner.read(by("olga")) as work:
        tables = [item.uid for item in work.session.list("olga", "see", "lakehouse.table").items]
        for uid in tables:
            notes.note(work, "see", uid)
    assert notes.write(corner.database) == len(tables) > 20
    with corner.read(by("olga")) as work:
        assert len(usage.of_member(work, "olga")) == len(tables)


def test_threads_share_it_and_lose_nothing(corner: Corner) -> None:
    notes = Usage()
    people = ("ana", "erik", "mona", "olga")

    def work_on(who: str) -> None:
        for uid in ("orders", "items", "stores"):
            used(corner, notes, who, "read", uid)
            notes.write(corner.database)

    threads = [Thread(target=work_on, args=(who,)) for who in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    notes.write(corner.database)
    with corner.read(by("olga")) as work:
        found = {(use.member.uid, uid) for uid in ("orders", "items", "stores") for use in usage.of_resource(work, uid)}
    assert found == {(who, uid) for who in people for uid in ("orders", "items", "stores")}


def test_it_is_written_in_the_background_and_once_more_at_the_end(corner: Corner) -> None:
    notes, written = Usage(), Event()

    def write() -> None:
        if notes.write(corner.database):
            written.set()

    used(corner, notes, "ana", "read", "orders")
    background = Background(write, every=0.01)
    background.start()
    assert written.wait(30)
    used(corner, notes, "ana", "read", "items")
    background.stop()
    with corner.read(by("ana")) as work:
        assert {use.resource.uid for use in usage.of_member(work, "ana")} == {"orders", "items"}
