"""The workflows: a mail, a job, a run, a tick. Every step may be begun twice, and leaves the same behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock

from dbos import DBOS, StepOptions

from lakehold.directory.platform import Platform
from lakehold.runs import doing, sending
from lakehold.runs.running import Running
from lakehold.runs.ticks import Tick

# What only reads and writes our own database may meet somebody who was first, and is then begun again.
_AGAIN: StepOptions = {"retries_allowed": True, "max_attempts": 5, "interval_seconds": 0.2}
_ONCE: StepOptions = {"retries_allowed": False}


class Workflows:
    """The workflows of this process, over its installation."""

    def __init__(self, platform: Platform, ticks: Iterable[Tick], running: Running) -> None:
        self.running = 0
        """How many of them run here."""
        self._lock = Lock()
        self.mail = self._mail(platform)
        self.job = self._job(platform)
        self.run = self._run(running)
        self.tick = self._tick(platform, {tick.name: tick for tick in ticks})

    def _mail(self, platform: Platform) -> Callable[[int, int], None]:
        @DBOS.workflow(name="mail")
        def mail(number: int, tries: int) -> None:
            with self._counted():
                problem = DBOS.run_step(_ONCE, sending.send, platform, number, tries)
                DBOS.run_step(_AGAIN, sending.write_down, platform, number, tries, problem)

        return mail

    def _job(self, platform: Platform) -> Callable[[str], None]:
        @DBOS.workflow(name="job")
        def job(uid: str) -> None:
            with self._counted():
                outcome = DBOS.run_step(_AGAIN, doing.begin, platform, uid)
                if not outcome:
                    outcome = DBOS.run_step(_ONCE, doing.do, platform, uid)
                DBOS.run_step(_AGAIN, doing.end, platform, uid, outcome)

        return job

    def _run(self, running: Running) -> Callable[[int, int], None]:
        @DBOS.workflow(name="run")
        def run(number: int, _tries: int) -> None:
            with self._counted():
                problem, count = DBOS.run_step(_AGAIN, running.begin, number)
                for place in range(count):
                    problem = problem or DBOS.run_step(_ONCE, running.step, number, place)
                DBOS.run_step(_AGAIN, running.end, number, problem)
                DBOS.run_step(_AGAIN, running.follow, number)

        return run

    def _tick(self, platform: Platform, ticks: dict[str, Tick]) -> Callable[[str], None]:
        @DBOS.workflow(name="tick")
        def tick(name: str) -> None:
            with self._counted():
                if name in ticks:
                    DBOS.run_step(_ONCE, ticks[name].run, platform)

        return tick

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self.running += 1
        try:
            yield
        finally:
            with self._lock:
                self.running -= 1
