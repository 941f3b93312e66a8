"""Spark is shared: a query that holds all of it while another person's waits is stopped, a task of a run that does so
is put back, and what does not stop when it is told to ends the worker.

Whenever a task ends, Spark gives the next turn to whoever has had the least. A task that does not end leaves no turn to
anybody; and when it is told to stop, a loop over the pairs of a join does not listen. Only a new JVM is rid of it.

A run is never stopped for a query. Of its tasks the one that was begun last is taken from it, and begun anew when there
is room again; the one that was begun first stays, so that every run comes to its end however much is asked meanwhile.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, Thread
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

POOL, GROUP = "spark.scheduler.pool", "spark.jobGroup.id"
"""What tasks are told of whose they are, and which query's."""
_ONCE = "lakehold.once"
"""What tasks are told that are not to be begun twice."""

_log = logging.getLogger("lakehold.spark")
_PAUSE = 1.0
_OF_RUNS = 0.2
"""For how much of their patience people wait for a run: to put a task back is no loss but of time."""
_WAITED_FOR, _AT_ALL = 2, 20
"""How many times the patience something may take to stop: while somebody waits for it, and while nobody does."""

Owner = tuple[str, str]


@dataclass(slots=True)
class Running:
    """A query that runs here."""

    owner: Owner
    """Tenant and member."""
    group: str = field(default_factory=lambda: uuid4().hex)
    """What Spark calls all that it does for the query."""
    stopped: str = ""
    """Why, once it was told to stop."""

    @property
    def pool(self) -> str:
        """What Spark calls all that it does for the person."""
        return " ".join(self.owner)


@dataclass(frozen=True, slots=True)
class Tasks:
    """Tasks that Spark knows of: of a query, or of a run, which has no group."""

    pool: str
    group: str | None
    name: str
    running: int
    is_left: bool
    """Whether nobody wants them any more."""
    ids: tuple[int, ...] = ()
    """Those of them that may be put back, by the numbers that Spark gave them as they began."""


@contextmanager
def undisturbed(spark: SparkSession) -> Iterator[None]:
    """Let no task of this thread be put back: what it has done elsewhere would be done twice."""
    spark.sparkContext.setLocalProperty(_ONCE, "true")
    try:
        yield
    finally:
        spark.sparkContext.setLocalProperty(_ONCE, None)  # type: ignore[arg-type]


class Sharing:
    """Looks once in a second, as long as there is something to see."""

    def __init__(
        self,
        spark: SparkSession,
        patience: int,
        stop: Callable[[Running, str], None],
        end: Callable[[str], object] | None = None,
        put_back: Callable[[int], object] | None = None,
    ) -> None:
        self._spark = spark
        self._patience = patience
        self._stop = stop
        self._end = end
        """What is done about work that does not stop; where there is nobody to begin anew, nothing."""
        self._put_back = put_back or self._interrupt
        self._told: set[int] = set()
        """The tasks that were to be put back."""
        self._running: list[Running] = []
        self._since: dict[str, float] = {}
        self._lock = Lock()
        self._looks = False

    def begin(self, running: Running) -> None:
        """A query begins."""
        with self._lock:
            self._running.append(running)
            if not self._looks:
                self._looks = True
                Thread(target=self._look_on, daemon=True, name="sharing").start()

    def over(self, running: Running) -> None:
        """It has ended; of its tasks there may be some that have not."""
        with self._lock:
            self._running.remove(running)

    def _look_on(self) -> None:
        left = False
        while True:
            time.sleep(_PAUSE)
            with self._lock:
                running = list(self._running)
                if not running and not left:
                    self._looks = False
                    return
            try:
                left = self.look(running, list(self._tasks(running)))
            except Py4JError:
                # Spark has ended, or is just doing so.
                left = False

    def look(self, running: list[Running], tasks: list[Tasks]) -> bool:
        """Do what has to be done about these. Whether there is something left that nobody wants."""
        for each in running:
            if each.stopped:
                # A stage that had not begun when it was told so does not know of it.
                self._stop(each, each.stopped)
        left = {each.name for each in tasks if each.is_left and each.running}
        left |= {each.group for each in running if each.stopped}
        wanted = [each for each in tasks if not each.is_left]
        waiting = {each.pool for each in wanted} - {each.pool for each in wanted if each.running}
        self._since = {key: self._since.get(key, time.monotonic()) for key in (*waiting, *left)}
        if self._long(left, _WAITED_FOR if self._long(waiting, 1) else _AT_ALL) and self._end is not None:
            self._end("Spark does not stop what it was told to")
        asking = {each.pool for each in running}
        for pool in self._long(waiting & asking, _OF_RUNS):
            if not self._put_one_back(wanted) and self._long([pool], 1):
                self._make_room(pool, running, wanted)
        return bool(left)

    def _put_one_back(self, wanted: list[Tasks]) -> bool:
        """Take a task from a run, unless it is the only one, or was told so already and does not listen."""
        ids = sorted(number for each in wanted if each.group is None for number in each.ids)
        self._told &= set(ids)
        if not ids[1:] or ids[-1] in self._told:
            return False
        self._told.add(ids[-1])
        self._put_back(ids[-1])
        return True

    def _long(self, keys: Iterable[str], times: float) -> list[str]:
        """Those that have been there for so many times the patience."""
        since = time.monotonic() - times * self._patience
        return [key for key in keys if self._since[key] <= since]

    def _make_room(self, pool: str, running: list[Running], wanted: list[Tasks]) -> None:
        """Stop the query that has the most, for whoever waits in this pool."""
        known = {each.group: each for each in running}
        held = [each for each in wanted if each.pool != pool and each.running and each.group in known]
        if held:
            found = known[str(max(held, key=lambda each: each.running).group)]
            _log.warning("a query of %s is stopped: others wait for it", found.owner[1])
            self._stop(found, "The query left nothing for others, who were waiting.")

    def _tasks(self, running: list[Running]) -> Iterator[Tasks]:
        """What Spark has to do, whether anybody wants it still or not."""
        wanted = {each.group for each in running if not each.stopped}
        context = self._spark.sparkContext._jsc  # noqa: SLF001 - Python does not know of pools
        if context is None:
            return  # Spark was ended.
        pools = context.sc().getAllPools()
        for n in range(pools.size()):
            pool = pools.apply(n)
            for tasks in pool.schedulableQueue().toArray():
                group = tasks.taskSet().properties().getProperty(GROUP)
                is_left = tasks.isZombie() or (group is not None and group not in wanted)
                ids = tuple(int(number) for number in tasks.runningTasksSet().mkString(" ").split())
                once = tasks.taskSet().properties().getProperty(_ONCE) is not None
                yield Tasks(pool.name(), group, tasks.name(), len(ids), is_left, () if once else ids)

    def _interrupt(self, task: int) -> None:
        _log.info("a task of a run is put back: a query waits")
        self._spark.sparkContext._jsc.sc().killTaskAttempt(task, True, "a query waits")  # noqa: SLF001 - as above
