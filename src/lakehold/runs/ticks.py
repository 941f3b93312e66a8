"""What is done again and again. A room gives a function; the worker calls it, once in each span of time, however many
workers there are.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from lakehold.directory.platform import Platform
from lakehold.kit.clock import SECOND, Moment

_log = logging.getLogger("lakehold.runs")


@dataclass(frozen=True, slots=True)
class Tick:
    """Something to do about every so many seconds. It must not matter if it is done twice."""

    name: str
    every: int
    do: Callable[[Platform], object]

    def slot(self, at: Moment) -> int:
        """Which span of time this is: the same number for every worker."""
        return at // (self.every * SECOND)

    def run(self, platform: Platform) -> None:
        """Do it; what goes wrong is told in the log, and tried again in the next span."""
        try:
            self.do(platform)
        except Exception:  # noqa: BLE001 - the edge: the worker has other things to do
            _log.exception("tick %s failed", self.name)


class Due:
    """Which ticks have come into a new span since they were last looked at."""

    def __init__(self, ticks: Iterable[Tick]) -> None:
        self._ticks = tuple(ticks)
        self._slots: dict[str, int] = {}

    def at(self, at: Moment) -> Iterator[tuple[Tick, int]]:
        """Those to do now, each with its span."""
        for tick in self._ticks:
            slot = tick.slot(at)
            if self._slots.get(tick.name) != slot:
                self._slots[tick.name] = slot
                yield tick, slot
