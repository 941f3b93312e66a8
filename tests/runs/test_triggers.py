"""Schedules with their time zones, and runs that come after others: each started once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Thread
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa

from lakehold import workspaces
from lakehold.access import Add, Edge, Grant, Remove
from lakehold.catalog import resources
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, SECOND
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.runs import run_table as states
from lakehold.runs.cause import RunCause
from lakehold.runs.run_table import load_cause, run_table
from lakehold.runs.runnable import RunOptions
from lakehold.runs.scheduler.due import DueTriggers
from lakehold.runs.scheduler.schedule import TriggerSchedule, trigger_table
from lakehold.runs.scheduler.service import Triggers
from lakehold.runs.service import Runs
from tests.platform import ADA, ANN, BOB

RUNS = Runs(workspaces.runnables())
TRIGGERS, FIRING = Triggers(RUNS), DueTriggers(RUNS)


def query(platform: Platform, name: str) -> str:
    """A query over Acme's orders, into a table of its own."""
    with platform.write(ADA) as ctx:
        edges = {"lakehouse": "lh", "reads": ["orders"], "writes": ["bronze"], "into": "bronze"}
        settings = {"sql": "SELECT 1 AS one", "table": name}
        return resources.create(ctx, "lakehouse.query", name, uid=name, edges=edges, settings=settings)


def causes(platform: Platform) -> list[str]:
    with platform.database.read() as transaction:
        found = transaction.connection.execute(sa.select(run_table).order_by(run_table.c.n))
        return [load_cause(row).text for row in found]


def succeeded(platform: Platform, uid: str) -> int:
    """The number of a run that has."""
    with platform.write(ADA) as ctx:
        run = RUNS.start(ctx, uid).id
    with platform.database.write() as transaction:
        mine = run_table.c.id == run
        transaction.connection.execute(run_table.update().where(mine).values(state=states.SUCCEEDED))
        return int(transaction.connection.execute(sa.select(run_table.c.n).where(mine)).scalar_one())


@pytest.mark.parametrize(
    ("zone", "behind", "due"),
    [
        # Half past two is not there on this day: as soon as there is time.
        ("Europe/Berlin", "2026-03-28 03:00", "2026-03-29 03:00"),
        ("Europe/Berlin", "2026-03-29 12:00", "2026-03-30 02:30"),
        ("America/New_York", "2026-03-07 03:00", "2026-03-08 03:00"),
        ("America/New_York", "2026-03-08 12:00", "2026-03-09 02:30"),
        # And here twice: the first of them. In New York it is half past one that is.
        ("Europe/Berlin", "2026-10-24 12:00", "2026-10-25 02:30"),
        ("Europe/Berlin", "2026-10-25 02:30", "2026-10-26 02:30"),
        ("America/New_York", "2026-10-31 12:00", "2026-11-01 02:30"),
    ],
)
def test_on_the_days_when_clocks_change_it_runs_once(zone: str, behind: str, due: str) -> None:
    start = datetime.fromisoformat(behind).replace(tzinfo=ZoneInfo(zone))
    found = TriggerSchedule("30 2 * * *", zone).next_time(start)
    assert found.strftime("%Y-%m-%d %H:%M") == due


@pytest.mark.parametrize(
    ("zone", "cron", "day"),
    [
        ("Europe/Berlin", "30 2 * * *", "2026-03-29"),
        ("Europe/Berlin", "30 2 * * *", "2026-10-25"),
        ("America/New_York", "30 2 * * *", "2026-03-08"),
        ("America/New_York", "30 1 * * *", "2026-11-01"),
    ],
)
def test_from_noon_to_noon_over_a_change_of_clocks_one_run_is_started(
    platform: Platform, zone: str, cron: str, day: str
) -> None:
    uid = query(platform, "nightly")
    noon = datetime.fromisoformat(f"{day} 12:00").replace(tzinfo=ZoneInfo(zone))
    with platform.write(ADA) as ctx:
        made = TRIGGERS.save(ctx, uid, TriggerSchedule(cron, zone))
    before = noon - timedelta(days=1)
    first = int(TriggerSchedule(cron, zone).next_time(before).timestamp()) * SECOND
    with platform.database.write() as transaction:
        mine = trigger_table.c.id == made.id
        transaction.connection.execute(trigger_table.update().where(mine).values(next_at=first))
    # Every quarter of an hour somebody looks whether it is due.
    looks = range(int(before.timestamp()) * SECOND, int(noon.timestamp()) * SECOND, 900 * SECOND)
    assert sum(FIRING.start_due(platform, at) for at in looks) == 1


@pytest.mark.parametrize(
    ("when", "said"),
    [
        (TriggerSchedule("every day"), "not a cron schedule"),
        (TriggerSchedule("0 0 30 2 *"), "never due|not a cron schedule"),
        (TriggerSchedule("0 0 * * *", "Mars/Olympus"), "no time zone"),
        (TriggerSchedule("0 0 * * *", "../../etc/passwd"), "no time zone"),
        (TriggerSchedule(), "either a schedule or pipelines"),
        (TriggerSchedule("0 0 * * *", after=("a",)), "either a schedule or pipelines"),
    ],
)
def test_what_can_never_be_due_is_refused(when: TriggerSchedule, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        when.validate()


def test_what_is_due_is_started_once_however_many_ask(platform: Platform) -> None:
    uid = query(platform, "daily")
    with platform.write(ADA) as ctx:
        made = TRIGGERS.save(ctx, uid, TriggerSchedule("0 6 * * *", "Europe/Berlin"))
    assert made.next_at is not None
    assert FIRING.start_due(platform, made.next_at - SECOND) == 0
    found: list[int] = []
    principals = [Thread(target=lambda: found.append(FIRING.start_due(platform, made.next_at or 0))) for _ in range(4)]
    for principal in principals:
        principal.start()
    for principal in principals:
        principal.join()
    assert sum(found) == 1
    assert causes(platform) == ["by schedule 0 6 * * * Europe/Berlin"]
    with platform.read(ADA) as ctx:
        after = TRIGGERS.get(ctx, made.id)
    assert after.next_at is not None
    assert 20 * 3600 * SECOND < after.next_at - made.next_at < 2 * DAY


def test_runs_that_take_longer_than_their_schedule_do_not_pile_up(platform: Platform) -> None:
    uid = query(platform, "slow")
    with platform.write(ADA) as ctx:
        made = TRIGGERS.save(ctx, uid, TriggerSchedule("* * * * *"))
    assert made.next_at is not None
    assert [FIRING.start_due(platform, made.next_at + minute * 60 * SECOND) for minute in range(3)] == [1, 0, 0]
    with platform.database.write() as transaction:
        transaction.connection.execute(run_table.update().values(state=states.RUNNING))
    assert [FIRING.start_due(platform, made.next_at + minute * 60 * SECOND) for minute in (3, 4)] == [1, 0]
    with platform.write(ADA) as ctx:
        RUNS.start(ctx, uid)
    assert causes(platform) == ["by schedule * * * * * UTC"] * 2 + ["by hand"]


def test_one_that_cannot_be_started_leaves_the_others_alone(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [query(platform, name) for name in ("one", "two", "three")]
    with platform.write(ADA) as ctx:
        made = [TRIGGERS.save(ctx, uid, TriggerSchedule("0 6 * * *")) for uid in names]
    due = made[0].next_at
    assert due is not None
    plain = RUNS.insert

    def write(ctx: RequestContext, uid: str, asked: RunOptions, *, cause: RunCause) -> str:
        if uid == "two":
            raise ConflictError("It cannot be.", "Never mind.")
        return plain(ctx, uid, asked, cause=cause)

    monkeypatch.setattr(RUNS, "insert", write)
    assert FIRING.start_due(platform, due) == 2
    assert FIRING.start_due(platform, due) == 0
    monkeypatch.undo()
    assert FIRING.start_due(platform, due) == 1
    assert len(causes(platform)) == 3


def test_after_a_long_silence_it_is_started_once_and_not_for_every_day(platform: Platform) -> None:
    uid = query(platform, "daily")
    with platform.write(ADA) as ctx:
        made = TRIGGERS.save(ctx, uid, TriggerSchedule("0 6 * * *"))
    later = (made.next_at or 0) + 10 * DAY
    assert FIRING.start_due(platform, later) == 1
    assert FIRING.start_due(platform, later) == 0


@pytest.mark.parametrize(("every", "started"), [(False, [1, 1, 1]), (True, [0, 1, 0])])
def test_it_comes_after_any_or_after_all_of_others(platform: Platform, every: bool, started: list[int]) -> None:
    first, second, last = (query(platform, name) for name in ("first", "second", "last"))
    with platform.write(ADA) as ctx:
        TRIGGERS.save(ctx, last, TriggerSchedule(after=(first, second), every=every))
    found = []
    for uid in (first, second, first):
        number = succeeded(platform, uid)
        found.append(FIRING.start_dependents(platform, number))
        # A worker that died before it wrote down that it had told of the run is followed by one that tells it again.
        assert FIRING.start_dependents(platform, number) == 0
    assert found == started


def test_what_would_come_after_itself_is_refused(platform: Platform) -> None:
    first, second, last = (query(platform, name) for name in ("first", "second", "last"))
    with platform.write(ADA) as ctx:
        TRIGGERS.save(ctx, second, TriggerSchedule(after=(first,)))
        kept = TRIGGERS.save(ctx, last, TriggerSchedule(after=(second,)))
        for uid in (first, second, last):
            with pytest.raises(InvalidInputError, match="wait for itself"):
                TRIGGERS.save(ctx, first, TriggerSchedule(after=(uid,)))
        # Saved again, it is in nobody's way; nor is one that is gone.
        TRIGGERS.save(ctx, last, TriggerSchedule(after=(first,)), uid=kept.id)
        TRIGGERS.delete(ctx, kept.id)
        TRIGGERS.save(ctx, first, TriggerSchedule(after=(last,)))


def test_runs_that_end_at_once_are_both_heard_of(platform: Platform) -> None:
    first, second, last = (query(platform, name) for name in ("first", "second", "last"))
    with platform.write(ADA) as ctx:
        TRIGGERS.save(ctx, last, TriggerSchedule(after=(first, second), every=True))
    numbers = [succeeded(platform, uid) for uid in (first, second)]
    with ThreadPoolExecutor(2) as both:
        assert sum(both.map(lambda number: FIRING.start_dependents(platform, number), numbers)) == 1


def test_only_who_may_run_it_has_a_trigger_on_it(platform: Platform) -> None:
    uid = query(platform, "daily")
    with pytest.raises(HiddenError), platform.write(BOB) as ctx:
        TRIGGERS.save(ctx, uid, TriggerSchedule("0 6 * * *"))
    with platform.write(ADA) as ctx:
        made = TRIGGERS.save(ctx, uid, TriggerSchedule("0 6 * * *"))
        ctx.session.store.add(Grant("bob", "viewer", "bronze"))
    with platform.read(BOB) as ctx:
        assert [each.id for each in TRIGGERS.for_resource(ctx, uid)] == [made.id]
    with pytest.raises(DeniedError), platform.write(BOB) as ctx:
        TRIGGERS.delete(ctx, made.id)
    with platform.write(ADA) as ctx:
        ctx.make_unchecked(Remove(Grant("bob", "viewer", "bronze")))
    with pytest.raises(NotFoundError), platform.read(BOB) as ctx:
        TRIGGERS.get(ctx, made.id)


def test_whoever_saves_it_last_is_who_it_runs_as(platform: Platform) -> None:
    uid = query(platform, "daily")
    with platform.write(ADA) as ctx:
        made = TRIGGERS.save(ctx, uid, TriggerSchedule("0 6 * * *"))
        ctx.session.store.add(Grant("bob", "editor", "bronze"))
    with platform.write(BOB) as ctx:
        TRIGGERS.save(ctx, uid, TriggerSchedule("0 7 * * *"), uid=made.id)
    with platform.read(ADA) as ctx:
        assert TRIGGERS.get(ctx, made.id).saved_by == "bob"
    assert FIRING.start_due(platform, platform.clock() + 2 * DAY) == 1
    with platform.database.read() as transaction:
        assert transaction.connection.execute(sa.select(run_table.c.started_by)).scalar_one() == "bob"


def test_one_that_is_switched_off_starts_nothing(platform: Platform) -> None:
    uid = query(platform, "daily")
    with platform.write(ADA) as ctx:
        TRIGGERS.save(ctx, uid, TriggerSchedule("0 6 * * *"), active=False)
    assert FIRING.start_due(platform, platform.clock() + 2 * DAY) == 0


def test_one_is_paused_and_goes_on_as_whoever_lets_it(platform: Platform) -> None:
    uid, other = query(platform, "daily"), query(platform, "other")
    with platform.write(ADA) as ctx:
        ctx.session.store.create("lakehouse.layer", "Hidden", uid="hidden_layer", edges={"lakehouse": "lh"})
        made = TRIGGERS.save(ctx, uid, TriggerSchedule("0 6 * * *"))
        waits = TRIGGERS.save(ctx, uid, TriggerSchedule(after=(other,)))
        ctx.session.store.add(Grant("bob", "editor", "bronze"))
        ctx.make(Add(Edge("writes", other, "hidden_layer")))
    with platform.write(BOB) as ctx:
        assert TRIGGERS.get(ctx, waits.id).when.after == ()
        paused = TRIGGERS.set_active(ctx, made.id, active=False)
        assert (paused.active, paused.next_at, paused.saved_by) == (False, None, "ada")
        TRIGGERS.set_active(ctx, waits.id, active=False)
    assert FIRING.start_due(platform, platform.clock() + 2 * DAY) == 0
    with platform.write(BOB) as ctx:
        again = TRIGGERS.set_active(ctx, made.id, active=True)
        assert (again.active, again.next_at, again.saved_by) == (True, made.next_at, "bob")
    with platform.write(ADA) as ctx:
        assert TRIGGERS.get(ctx, waits.id).when.after == (other,)  # what Bob does not see has stayed
        ctx.make_unchecked(Remove(Grant("bob", "editor", "bronze")))
        ctx.session.store.add(Grant("bob", "viewer", "bronze"))
    with pytest.raises(DeniedError), platform.write(BOB) as ctx:
        TRIGGERS.set_active(ctx, made.id, active=False)


def test_a_pipeline_is_deactivated_and_activated_with_all_its_triggers(platform: Platform) -> None:
    uid = query(platform, "daily")
    with platform.write(ADA) as ctx:
        for hour in (1, 2):
            TRIGGERS.save(ctx, uid, TriggerSchedule(f"0 {hour} * * *"))
    with pytest.raises(HiddenError), platform.write(BOB) as ctx:
        TRIGGERS.set_all_active(ctx, uid, active=False)
    with platform.write(ADA) as ctx:
        assert [each.active for each in TRIGGERS.set_all_active(ctx, uid, active=False)] == [False, False]
        assert [each.next_at for each in TRIGGERS.for_resource(ctx, uid)] == [None, None]
    with platform.write(ANN) as ctx:
        found = TRIGGERS.set_all_active(ctx, uid, active=True)
    assert [(each.active, each.saved_by, each.next_at is not None) for each in found] == [(True, "ann", True)] * 2
