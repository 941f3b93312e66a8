"""Periodic tasks: a function that is called once per interval, however many workers there are."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from lakehold.directory.platform import Platform
from lakehold.kit.clock import SECOND, Moment

_log = logging.getLogger("lakehold.runs")


@dataclass(frozen=True, slots=True)
class PeriodicTask:
    """A function to call about every so many seconds. Calling it twice must do no harm."""

    name: str
    interval: int
    action: Callable[[Platform], object]

    def slot(self, at: Moment) -> int:
        """Return the number of the current interval, which is the same for every worker."""
        return at // (self.interval * SECOND)

    def run(self, platform: Platform) -> None:
        """Call the function; log an error and try again in the next interval."""
        try:
            self.action(platform)
        except Exception:  # noqa: BLE001 - the edge: the worker has other things to do
            _log.exception("tick %s failed", self.name)


class DueTasks:
    """Finds the tasks that have entered a new interval since the last call."""

    def __init__(self, tasks: Iterable[PeriodicTask]) -> None:
        self._tasks = tuple(tasks)
        self._slots: dict[str, int] = {}

    def due(self, at: Moment) -> Iterator[tuple[PeriodicTask, int]]:
        """Yield the tasks to run now, each with its interval."""
        for task in self._tasks:
            slot = task.slot(at)
            if self._slots.get(task.name) != slot:
                self._slots[task.name] = slot
                yield task, slot
