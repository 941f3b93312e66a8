"""How often a step is begun again: as often as workers end for reasons of their own, and three times if it may be the
step that ends them.
"""

from __future__ import annotations

import pytest

from lakehold import workspaces
from lakehold.directory.platform import Platform
from lakehold.runs import beats, turns
from lakehold.runs import worker as working
from lakehold.runs.runnable import Done
from lakehold.runs.running import Running
from lakehold.runs.warm import Warm
from lakehold.runs.worker import Worker
from tests.house import ADA
from tests.runs.test_triggers import RUNS, query


class KilledError(BaseException):
    """What no step can catch."""


@pytest.fixture
def number(platform: Platform) -> int:
    """A run that has begun."""
    uid = query(platform, "daily")
    with platform.write(ADA) as ctx:
        RUNS.start(ctx, uid)
    with platform.database.write(turns.TURN) as transaction:
        ((found, _),) = turns.claim(transaction, platform.clock(), most=1, at_once=1)
    return found


def lost(platform: Platform, number: int, monkeypatch: pytest.MonkeyPatch, *, leaves: bool) -> str:
    """What is said of the step, or nothing if a worker was lost over it."""
    running = Running(platform, workspaces.runnables(), dict, Warm(platform, ""))
    worker = Worker.__new__(Worker)
    worker.id, worker._platform, worker._running = "it", platform, running

    def ends(*_: object) -> tuple[str, Done]:
        if leaves:
            worker.leave("Spark does not stop what it was told to")
        raise KilledError

    def dies(_code: int) -> None:
        raise KilledError

    monkeypatch.setattr(working, "now", dies)
    monkeypatch.setattr(running, "_done", ends)
    running.begin(number)
    try:
        return running.step(number, 0)
    except KilledError:
        return ""


def test_a_step_at_which_workers_die_is_given_up(
    platform: Platform, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = [lost(platform, number, monkeypatch, leaves=False) for _ in range(4)]
    assert told[:3] == ["", "", ""]
    assert "not tried again" in told[3]


def test_a_worker_that_leaves_is_not_counted(platform: Platform, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with platform.database.write() as transaction:
        beats.begin(transaction, "it")
    assert [lost(platform, number, monkeypatch, leaves=True) for _ in range(5)] == [""] * 5
    with platform.database.read() as transaction:
        assert beats.counted(transaction) == {}
    assert [lost(platform, number, monkeypatch, leaves=False) for _ in range(3)] == [""] * 3
    assert "not tried again" in lost(platform, number, monkeypatch, leaves=False)
