"""The cause of a run as a label for people, and as the text that clients know."""

from __future__ import annotations

import pytest

from lakehold.directory.platform import Platform
from lakehold.runs.cause import CauseKind, RunCause
from lakehold.runs.runnable import RunOptions
from tests.platform import ADA
from tests.runs.test_triggers import RUNS, query

CAUSES = {
    RunCause(CauseKind.MANUAL): ("by hand", "Manual"),
    RunCause(CauseKind.SCHEDULE, cron="0 6 * * *", zone="UTC"): (
        "by schedule 0 6 * * * UTC",
        "Schedule: 0 6 * * * (UTC)",
    ),
    RunCause(CauseKind.DEPENDENCY, "run_1"): ("after run_1", "After another run"),
    RunCause(CauseKind.RETRY, "run_1"): ("again after run_1", "Retry of another run"),
    RunCause(CauseKind.MAINTENANCE): ("for upkeep", "Maintenance"),
    RunCause(CauseKind.BACKFILL): ("by hand", "Backfill"),
}


def test_every_kind_is_here() -> None:
    assert {cause.kind for cause in CAUSES} == set(CauseKind)


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.kind)
def test_text_and_label(platform: Platform, cause: RunCause) -> None:
    uid = query(platform, "daily")
    with platform.write(ADA) as ctx:
        assert RUNS.get(ctx, RUNS.insert(ctx, uid, RunOptions(), cause=cause)).cause == cause
    assert (cause.text, cause.label()) == CAUSES[cause]


def test_a_run_and_a_schedule_are_named_as_the_reader_knows_them() -> None:
    assert RunCause(CauseKind.RETRY, "run_1").label(run="run_1") == "Retry of run_1"
    daily = RunCause(CauseKind.SCHEDULE, cron="0 6 * * *", zone="Europe/Berlin")
    assert daily.label(schedule="at 06:00, every day") == "Schedule: at 06:00, every day (Europe/Berlin)"
