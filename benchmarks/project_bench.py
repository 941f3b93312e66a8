"""A data project of 50 tasks in a real worker: the part of its time in which no thread is in a call of Spark's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import psycopg
from py4j.clientserver import JavaClient

from benchmarks import postgres
from benchmarks.figures import Figure, Result, measure
from benchmarks.task_space import ED, PROJECT, TaskSpace, task_space
from lakehold import workspaces
from lakehold.kit.clock import SECOND
from lakehold.runs.service import Runs
from lakehold.worker.process import Worker
from lakehold.worker.run_executor import RunExecutor, step_executors

_TASKS, _LANDINGS, _ROWS = 50, 5, 200_000
_MOST = 0.10
_PATIENCE = 900
_RUNS = Runs(workspaces.runnables())
_FILL = f"CREATE TABLE t{{0}} AS SELECT i AS id, i % 1000 AS part, i / 7.0 AS amount FROM generate_series(1, {_ROWS}) i"
_NOTE = (
    f"A data project of {_TASKS} tasks, {_LANDINGS} of which land {_ROWS:,} rows each and the others transform those of"
    " two tasks, run as a whole by a worker, from its start to its end; local[2], heap of 1 GiB."
)


def run(say: Callable[[str], None]) -> Iterator[list[Result]]:
    """Measure the part of its time that a project spends outside Spark."""
    with TemporaryDirectory(prefix="lakehold-bench-") as folder, _project(Path(folder), say) as here:
        yield measure([Figure("project of 50 tasks, outside Spark", partial(_outside, here, say), most=_MOST,
                              unit="×", note=_NOTE)], say, 3)  # fmt: skip


def _outside(here: TaskSpace, say: Callable[[str], None]) -> float:
    with _spark_calls() as calls:
        began, ended = _run_project(here)
    inside, took = calls.seconds(began, ended), ended - began
    say(f"{_TASKS} tasks in {took:.1f} s, {inside:.1f} s of them in Spark: {1 - inside / took:.1%} outside")
    return 1 - inside / took


@contextmanager
def _project(folder: Path, say: Callable[[str], None]) -> Iterator[TaskSpace]:
    with postgres.server() as url, task_space(folder) as here:
        with psycopg.connect(url, autocommit=True) as source:
            for number in range(_LANDINGS):
                source.execute(_FILL.format(number).encode())
        say(f"preparing {_TASKS} tasks")
        connection, made = here.connection("source", url), list[str]()
        for number in range(_TASKS):
            made.append(here.task(f"t{number}", _settings(number, made, connection)))
            if number < _LANDINGS or number % _LANDINGS == _LANDINGS - 1:
                here.run(made[-1])
        with _worker(here):
            yield here


def _settings(number: int, made: list[str], connection: str) -> dict[str, object]:
    if number < _LANDINGS:
        item = {"name": "x", "stream": f"public.t{number}", "mode": "reload"}
        return {"type": "landing", "connection": connection, "datasets": [item]}
    one, other = number - _LANDINGS, number - 1 - number % _LANDINGS
    text = f"SELECT id, part, amount FROM t{one}.x WHERE id NOT IN (SELECT max(id) FROM t{other}.x)"
    reads = sorted({made[one], made[other]})
    return {"type": "transform", "reads": reads, "datasets": [{"name": "x", "sql": text}]}


@contextmanager
def _worker(here: TaskSpace) -> Iterator[None]:
    """Run a worker while the block runs; it stops Spark when it ends."""
    executor = RunExecutor(here.platform, workspaces.runnables(), step_executors, here.runtime)
    worker, stop = Worker(here.platform, executor, here.runtime), Event()
    thread = Thread(target=worker.run, args=(stop,), name="worker")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _run_project(here: TaskSpace) -> tuple[float, float]:
    """Run the project; return when it was started and when it had ended."""
    with here.platform.write(ED) as ctx:
        run = _RUNS.start(ctx, PROJECT).id
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        with here.platform.read(ED) as ctx:
            found = _RUNS.get(ctx, run)
        if found.started_at and found.ended_at:
            assert found.state == "succeeded", found.error
            return found.started_at / SECOND, found.ended_at / SECOND
        time.sleep(0.5)
    raise TimeoutError(found.state)


@dataclass(slots=True)
class SparkCalls:
    """When some thread was in a call of Spark's, by the clock."""

    spans: list[tuple[float, float]] = field(default_factory=list)

    def seconds(self, began: float, ended: float) -> float:
        """Return for how many seconds of a span at least one thread was in a call."""
        total, behind = 0.0, began
        for start, end in sorted(self.spans):
            low, high = max(start, behind), min(end, ended)
            if high > low:
                total, behind = total + high - low, high
        return total


@contextmanager
def _spark_calls() -> Iterator[SparkCalls]:
    """Note the calls to the JVM while the block runs."""
    found, before = SparkCalls(), JavaClient.send_command

    def send_command(*given: Any, **more: Any) -> Any:  # noqa: ANN401 - as py4j has it
        start = time.time()
        try:
            return before(*given, **more)
        finally:
            found.spans.append((start, time.time()))

    JavaClient.send_command = send_command
    try:
        yield found
    finally:
        JavaClient.send_command = before
