"""When something runs: as a form says it, as a schedule, and on the clocks of its zone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lakehold.kit.clock import to_moment
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.web.runs import TRIGGERS
from lakehold.web.schedules import schedule_form
from lakehold.web.schedules.schedule_form import ScheduleForm
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send
from tests.web.lakehouse.recorded_runs import as_member

HERE = "/resources/make_orders/triggers"


@pytest.mark.parametrize(
    ("filled", "cron"),
    [
        (ScheduleForm("hour"), "0 * * * *"),
        (ScheduleForm("day", "06:30"), "30 6 * * *"),
        (ScheduleForm("weekday", "23:05"), "5 23 * * 1-5"),
        (ScheduleForm("week", "00:00"), "0 0 * * 1"),
        (ScheduleForm("own", cron="*/5 8 1 * *"), "*/5 8 1 * *"),
    ],
)
def test_what_is_filled_in_is_a_schedule_and_back(filled: ScheduleForm, cron: str) -> None:
    assert filled.errors() == {}
    assert filled.to_schedule() == TriggerSchedule(cron, "UTC")
    again = schedule_form.schedule_form_from(TriggerSchedule(cron, "UTC"))
    assert (again.every, again.to_schedule()) == (filled.every, filled.to_schedule())


@pytest.mark.parametrize(
    ("filled", "field"),
    [
        (ScheduleForm("day", "25:00"), "at"),
        (ScheduleForm("own"), "cron"),
        (ScheduleForm("own", cron="often"), "cron"),
        (ScheduleForm("day", "06:00", zone="Mars"), "zone"),
        (ScheduleForm("hand"), "every"),
        (ScheduleForm("sometimes"), "every"),
    ],
)
def test_what_is_no_time_is_told_at_its_field(filled: ScheduleForm, field: str) -> None:
    assert list(filled.errors()) == [field]


def test_the_next_times_follow_the_clocks_of_the_zone() -> None:
    before = to_moment(datetime(2026, 3, 27, 12, tzinfo=UTC))
    found = schedule_form.next_times(TriggerSchedule("30 6 * * *", "Europe/Berlin"), before)
    assert found[0] == "Saturday, 28 March 2026, 06:30"
    # The night in which the clocks are set forward has no half past two.
    assert [each[-5:] for each in found] == ["06:30"] * 5
    assert schedule_form.next_times(TriggerSchedule("0 0 30 2 *"), before) == []


@pytest.fixture
def trigger(shop: Shop) -> str:
    """Every day at six."""
    with shop.platform.write(as_member("erik")) as ctx:
        return TRIGGERS.save(ctx, "make_orders", TriggerSchedule("0 6 * * *", "Europe/Berlin")).id


def when(shop: Shop, trigger: str) -> TriggerSchedule:
    with shop.platform.read(as_member("erik")) as ctx:
        return TRIGGERS.get(ctx, trigger).when


def test_a_schedule_is_changed_in_its_place(shop: Shop, trigger: str) -> None:
    client = shop.client("erik")
    assert "Next five runs" in client.get(HERE).text
    assert 'value="06:00"' in client.get(f"{HERE}?change={trigger}").text
    looked = send(client, HERE, f"{HERE}/change", trigger=trigger, every="week", at="07:15", zone="UTC", do="times")
    assert "Monday," in looked.text
    assert "07:15" in looked.text
    assert when(shop, trigger).cron == "0 6 * * *"
    wrong = send(client, HERE, f"{HERE}/change", trigger=trigger, every="own", cron="never", zone="Asia/Tokyo")
    assert wrong.status_code == 422
    assert "is not a cron schedule" in wrong.text
    assert 'value="Asia/Tokyo"' in wrong.text
    sent = {"trigger": trigger, "every": "week", "at": "07:15", "zone": "Asia/Tokyo"}
    assert send(client, HERE, f"{HERE}/change", **sent, do="save").status_code == 303
    assert when(shop, trigger) == TriggerSchedule("15 7 * * 1", "Asia/Tokyo")


def test_one_that_pauses_stays_so_and_only_who_may_changes_it(shop: Shop, trigger: str) -> None:
    sent = {"trigger": trigger, "every": "hour", "zone": "UTC", "do": "save"}
    with shop.platform.write(as_member("erik")) as ctx:
        TRIGGERS.set_active(ctx, trigger, active=False)
        after = TRIGGERS.save(ctx, "make_orders", TriggerSchedule(after=("make_lines",))).id
    client = shop.client("erik")
    assert send(client, HERE, f"{HERE}/change", **sent).status_code == 303
    with shop.platform.read(as_member("erik")) as ctx:
        assert not TRIGGERS.get(ctx, trigger).active
    assert send(client, HERE, f"{HERE}/change", **{**sent, "trigger": after}).status_code == 422
    elsewhere = "/resources/make_lines/triggers"
    assert send(client, elsewhere, f"{elsewhere}/change", **sent).status_code == 404
    assert send(shop.client("tim"), "/", f"{HERE}/change", **sent).status_code in {403, 404}


def test_axe_finds_nothing_wrong_with_a_schedule_that_is_changed(
    open_as: Open, violations: Violations, trigger: str
) -> None:
    assert violations(open_as("erik", f"{HERE}?change={trigger}")) == []
