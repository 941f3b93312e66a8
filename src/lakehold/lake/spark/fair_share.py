"""Shares Spark fairly between users: cancels a query that holds all of it while others wait, and restarts tasks of
runs.

Whenever a task ends, Spark gives the next slot to the pool that has had the least. A task that does not end frees no
slot; and a loop over the pairs of a join ignores cancellation. Only a new JVM is rid of it, so the worker exits then.

A process that answers queries only is expendable: it exits as soon as Spark does not answer, or has not stopped what it
was told to for a few seconds. The queries of others are sent to another process then.

A run is never stopped for a query. The task of it that was started last is killed and retried when there is room again;
the one that was started first stays, so that every run comes to its end however many queries there are.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, Thread, Timer
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

POOL, GROUP = "spark.scheduler.pool", "spark.jobGroup.id"
"""Task properties that name the member and the query."""
_NOT_RETRYABLE = "lakehold.once"
"""The task property of tasks that must not be retried."""

_log = logging.getLogger("lakehold.spark")
_PAUSE = 1.0
_RUN_PATIENCE = 0.2
"""For how much of their patience people wait for a run: to put a task back is no loss but of time."""
_STOP_PATIENCE_IF_WAITING, _STOP_PATIENCE = 2, 20
"""How many times the patience something may take to stop: while somebody waits for it, and while nobody does."""
_EXPENDABLE_STOP_SECONDS, _EXPENDABLE_ANSWER_SECONDS = 5, 15
"""How long something may take to stop, and Spark to say what it does, in a process that executes no runs."""

Owner = tuple[str, str]


@dataclass(slots=True)
class RunningQuery:
    """A query that runs in this worker."""

    owner: Owner
    """Tenant and member."""
    group: str = field(default_factory=lambda: uuid4().hex)
    """The id of Spark's job group of the query."""
    since: float = field(default_factory=time.monotonic)
    is_suspect: bool = False
    """Whether it, or another query of its owner, may have ended a process before."""
    waits_elsewhere: bool = False
    """Whether its thread waits for another system: that may not stop, but costs Spark nothing. Its tasks do."""
    stop_reason: str = ""
    """Why it is cancelled; empty while it is not."""

    @property
    def pool(self) -> str:
        """Name of the user's scheduler pool."""
        return " ".join(self.owner)

    @property
    def has_left(self) -> bool:
        """Whether it was stopped, and Spark is rid of it but for tasks that do not stop."""
        return self.waits_elsewhere and bool(self.stop_reason)


@dataclass(frozen=True, slots=True)
class TaskSet:
    """Tasks that Spark knows of, of a query or of a run; those of a run have no group."""

    pool: str
    group: str | None
    name: str
    running: int
    is_orphaned: bool
    """Whether nobody wants them any more."""
    ids: tuple[int, ...] = ()
    """Those of them that may be put back, by the numbers that Spark gave them as they began."""


@contextmanager
def without_task_retries(spark: SparkSession) -> Iterator[None]:
    """Exempt the tasks of this thread from being restarted, as their effects elsewhere would happen twice."""
    spark.sparkContext.setLocalProperty(_NOT_RETRYABLE, "true")
    try:
        yield
    finally:
        spark.sparkContext.setLocalProperty(_NOT_RETRYABLE, None)  # type: ignore[arg-type]


class FairShare:
    """Checks the running tasks once a second while there are queries."""

    def __init__(
        self,
        spark: SparkSession,
        patience: int,
        stop: Callable[[RunningQuery, str], None],
        end: Callable[[str], object] | None = None,
        put_back: Callable[[int], object] | None = None,
        *,
        is_expendable: bool = False,
    ) -> None:
        self._spark = spark
        self._patience = patience
        self._stop = stop
        self._end = end
        """What is done about work that does not stop; where there is nobody to begin anew, nothing."""
        self._put_back = put_back or self._kill_task
        self._is_expendable = is_expendable and end is not None
        self._killed_tasks: set[int] = set()
        """The tasks that were to be put back."""
        self._running: list[RunningQuery] = []
        self._since: dict[str, float] = {}
        self._lock = Lock()
        self._is_watching = False

    def start(self, running: RunningQuery) -> None:
        """Register a query that starts."""
        with self._lock:
            self._running.append(running)
            if not self._is_watching:
                self._is_watching = True
                Thread(target=self._watch, daemon=True, name="sharing").start()

    def finish(self, running: RunningQuery) -> None:
        """Unregister a query; some of its tasks may still run."""
        with self._lock:
            self._running.remove(running)

    def _watch(self) -> None:
        left = False
        while True:
            time.sleep(_PAUSE)
            with self._lock:
                running = list(self._running)
                if not running and not left:
                    self._is_watching = False
                    return
            try:
                with self._answer_timeout():
                    left = self.check(running, list(self._task_sets(running)))
            except Py4JError:
                # Spark has stopped, or is stopping.
                left = False

    @contextmanager
    def _answer_timeout(self) -> Iterator[None]:
        """End this process if Spark takes too long to answer, and nothing is lost by that."""
        if not self._is_expendable or self._end is None:
            yield
            return
        timer = Timer(_EXPENDABLE_ANSWER_SECONDS, self._end, ("Spark does not answer",))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def check(self, running: list[RunningQuery], tasks: list[TaskSet]) -> bool:
        """Act on these queries and tasks; return whether orphaned tasks remain."""
        for each in running:
            if each.stop_reason:
                # A stage that had not begun when the query was cancelled was not cancelled with it.
                self._stop(each, each.stop_reason)
        left = {each.name for each in tasks if each.is_orphaned and each.running}
        left |= {each.group for each in running if each.stop_reason and not each.has_left}
        active = [each for each in tasks if not each.is_orphaned]
        waiting = {each.pool for each in active} - {each.pool for each in active if each.running}
        self._since = {key: self._since.get(key, time.monotonic()) for key in (*waiting, *left)}
        if self._end is not None and self._overdue_since(left, self._stop_seconds(waiting)):
            self._end("Spark does not stop what it was told to")
        asking = {each.pool for each in running}
        for pool in self._overdue(waiting & asking, _RUN_PATIENCE):
            if not self._restart_one_task(active) and self._overdue([pool], 1):
                self._make_room(pool, running, active)
        return bool(left)

    def _restart_one_task(self, active: list[TaskSet]) -> bool:
        """Kill a task of a run, unless it is the only one or ignores that it was killed before."""
        ids = sorted(number for each in active if each.group is None for number in each.ids)
        self._killed_tasks &= set(ids)
        if not ids[1:] or ids[-1] in self._killed_tasks:
            return False
        self._killed_tasks.add(ids[-1])
        self._put_back(ids[-1])
        return True

    def _stop_seconds(self, waiting: set[str]) -> float:
        """Return how long something may take to stop."""
        times = _STOP_PATIENCE_IF_WAITING if self._overdue(waiting, 1) else _STOP_PATIENCE
        seconds = times * self._patience
        return min(seconds, _EXPENDABLE_STOP_SECONDS) if self._is_expendable else seconds

    def _overdue(self, keys: Iterable[str], times: float) -> list[str]:
        """Return the keys that have waited for so many times the patience."""
        return self._overdue_since(keys, times * self._patience)

    def _overdue_since(self, keys: Iterable[str], seconds: float) -> list[str]:
        since = time.monotonic() - seconds
        return [key for key in keys if self._since[key] <= since]

    def _make_room(self, pool: str, running: list[RunningQuery], active: list[TaskSet]) -> None:
        """Stop the query that has the most tasks, for the benefit of this pool."""
        known = {each.group: each for each in running}
        held = [each for each in active if each.pool != pool and each.running and each.group in known]
        if held:
            found = known[str(max(held, key=lambda each: each.running).group)]
            _log.warning("a query of %s is stopped: others wait for it", found.owner[1])
            self._stop(found, "The query blocked others, who were waiting.")

    def _task_sets(self, running: list[RunningQuery]) -> Iterator[TaskSet]:
        """Yield all task sets of Spark, orphaned or not."""
        active_groups = {each.group for each in running if not each.stop_reason}
        context = self._spark.sparkContext._jsc  # noqa: SLF001 - Python does not know of pools
        if context is None:
            return  # Spark was ended.
        if context.sc().isStopped() and self._end is not None:
            # An error in one of its own threads did that, and the JVM goes on without it.
            self._end("Spark has stopped")
            return
        pools = context.sc().getAllPools()
        for n in range(pools.size()):
            pool = pools.apply(n)
            for tasks in pool.schedulableQueue().toArray():
                group = tasks.taskSet().properties().getProperty(GROUP)
                is_left = tasks.isZombie() or (group is not None and group not in active_groups)
                ids = tuple(int(number) for number in tasks.runningTasksSet().mkString(" ").split())
                once = tasks.taskSet().properties().getProperty(_NOT_RETRYABLE) is not None
                yield TaskSet(pool.name(), group, tasks.name(), len(ids), is_left, () if once else ids)

    def _kill_task(self, task: int) -> None:
        _log.info("a task of a run is put back: a query waits")
        self._spark.sparkContext._jsc.sc().killTaskAttempt(task, True, "a query waits")  # noqa: SLF001 - as above
