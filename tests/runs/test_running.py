"""How often a step is begun again: as often as workers end for reasons of their own, and three times if it may be the
step that ends them.
"""

from __future__ import annotations

import pytest

from lakehold import workspaces
from lakehold.directory.platform import Platform
from lakehold.runs import heartbeat, queue
from lakehold.runs.runnable import StepResult
from lakehold.worker import process
from lakehold.worker.process import Worker
from lakehold.worker.run_executor import RunExecutor
from lakehold.worker.spark_session import SparkRuntime
from tests.platform import ADA
from tests.runs.test_triggers import RUNS, query


class KilledError(BaseException):
    """What no step can catch."""


@pytest.fixture
def number(platform: Platform) -> int:
    """A run that has begun."""
    uid = query(platform, "daily")
    with platform.write(ADA) as ctx:
        RUNS.start(ctx, uid)
    with platform.database.write(queue.QUEUE_LOCK) as transaction:
        ((found, _),) = queue.claim_runs(transaction, platform.clock(), most=1, at_once=1)
    return found


def lost(platform: Platform, number: int, monkeypatch: pytest.MonkeyPatch, *, leaves: bool) -> str:
    """What is said of the step, or nothing if a worker was lost over it."""
    running = RunExecutor(platform, workspaces.runnables(), dict, SparkRuntime(platform, ""))
    worker = Worker.__new__(Worker)
    worker.id, worker._platform, worker._run_executor = "it", platform, running

    def ends(*_: object) -> tuple[str, StepResult]:
        if leaves:
            worker.exit_for_restart("Spark does not stop what it was told to")
        raise KilledError

    def dies(_code: int) -> None:
        raise KilledError

    monkeypatch.setattr(process, "exit_process", dies)
    monkeypatch.setattr(running, "_execute", ends)
    running.begin(number)
    try:
        return running.execute_step(number, 0)
    except KilledError:
        return ""


def test_a_step_at_which_workers_die_is_given_up(
    platform: Platform, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = [lost(platform, number, monkeypatch, leaves=False) for _ in range(4)]
    assert outcomes[:3] == ["", "", ""]
    assert "not tried again" in outcomes[3]


def test_a_worker_that_leaves_is_not_counted(platform: Platform, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with platform.database.write() as transaction:
        heartbeat.register_worker(transaction, "it")
    assert [lost(platform, number, monkeypatch, leaves=True) for _ in range(5)] == [""] * 5
    with platform.database.read() as transaction:
        assert heartbeat.heartbeat_counts(transaction) == {}
    assert [lost(platform, number, monkeypatch, leaves=False) for _ in range(3)] == [""] * 3
    assert "not tried again" in lost(platform, number, monkeypatch, leaves=False)
