"""How often a step is begun again: as often as workers end for reasons of their own, and three times if it may be the
step that ends them. And how a run has ended: stopped, or failed before somebody stopped it.
"""

from __future__ import annotations

import pytest

from lakehold import workspaces
from lakehold.directory.platform import Platform
from lakehold.kit.errors import ConflictError
from lakehold.runs import heartbeat, queue
from lakehold.runs import run_table as states
from lakehold.runs.run_table import run_table
from lakehold.runs.step_context import StepResult
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
    worker._spark_runtime = SparkRuntime(platform, "")

    def ends(*_: object) -> tuple[str, str, StepResult]:
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
    assert "no more retries" in outcomes[3]


def test_a_worker_that_leaves_is_not_counted(platform: Platform, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with platform.database.write() as transaction:
        heartbeat.register_worker(transaction, "it")
    assert [lost(platform, number, monkeypatch, leaves=True) for _ in range(5)] == [""] * 5
    with platform.database.read() as transaction:
        assert heartbeat.heartbeat_counts(transaction) == {}
    assert [lost(platform, number, monkeypatch, leaves=False) for _ in range(3)] == [""] * 3
    assert "no more retries" in lost(platform, number, monkeypatch, leaves=False)


class StoppedRun:
    """A run of one step, stopped by its member before, in or after the step."""

    def __init__(self, platform: Platform, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.platform, self.number = platform, number
        self.running = RunExecutor(platform, workspaces.runnables(), dict, SparkRuntime(platform, ""))
        self.stops = False
        monkeypatch.setattr(self.running, "_planned_step", self.break_off)
        assert self.running.begin(number) == ("", 1)

    @property
    def states(self) -> tuple[str, str]:
        """The states of the run and of its step."""
        return states.load_run(self.platform, self.number).state, states.load_step(self.platform, self.number, 0).state

    def break_off(self, *_: object) -> None:
        if self.stops:
            self.stop()
        raise ConflictError("It was stopped.")

    def stop(self) -> None:
        with self.platform.write(ADA) as ctx:
            RUNS.stop(ctx, states.load_run(self.platform, self.number).id)

    def end(self) -> None:
        self.running.end(self.number, self.running.execute_step(self.number, 0))


@pytest.fixture
def run(platform: Platform, number: int, monkeypatch: pytest.MonkeyPatch) -> StoppedRun:
    return StoppedRun(platform, number, monkeypatch)


def test_a_run_is_stopped_before_its_step_begins(run: StoppedRun) -> None:
    run.stop()
    run.end()
    assert run.states == (states.STOPPED, states.STOPPED)


def test_a_run_is_stopped_in_its_step_whatever_that_says(run: StoppedRun) -> None:
    run.stops = True
    run.end()
    assert run.states == (states.STOPPED, states.STOPPED)


def test_a_run_has_failed_whatever_its_error_says(run: StoppedRun) -> None:
    run.end()
    assert run.states == (states.FAILED, states.FAILED)


def test_a_run_that_had_failed_before_it_was_stopped_has_failed(run: StoppedRun) -> None:
    problem = run.running.execute_step(run.number, 0)
    run.stop()
    run.running.end(run.number, problem)
    assert run.states == (states.FAILED, states.FAILED)


def test_a_run_that_goes_on_and_is_stopped_at_once_is_stopped(run: StoppedRun) -> None:
    run.end()
    with run.platform.write(ADA) as ctx:
        RUNS.resume(ctx, states.load_run(run.platform, run.number).id)
    with run.platform.database.write() as transaction:
        transaction.connection.execute(run_table.update().values(state=states.RUNNING))
    run.stop()
    run.end()
    assert run.states == (states.STOPPED, states.STOPPED)
