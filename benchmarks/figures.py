"""Figures: what is measured, beside what, and which bar must be held."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

ROUNDS = 5
_SLOW = 4.0
"""A rival whose sample takes longer, in seconds, is not sampled again."""

Sample = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that is measured. A sample is in seconds, or in bytes or as a plain number where `unit` says so."""

    name: str
    ours: Sample
    peers: Mapping[str, Sample] = field(default_factory=dict)
    floor: Mapping[str, Sample] = field(default_factory=dict)
    most: float | None = None
    """The bar: our best sample is not above it."""
    times: float | None = None
    """The bar: the fastest peer takes at least so many times as long."""
    unit: str = "s"
    note: str = ""

    def contenders(self) -> Iterator[tuple[str, Sample]]:
        """Ours first."""
        yield "", self.ours
        yield from (*self.peers.items(), *self.floor.items())


@dataclass(slots=True)
class Result:
    """The best sample of every contender."""

    figure: Figure
    samples: dict[str, list[float]] = field(default_factory=dict)

    def best(self, name: str = "") -> float:
        """The smallest sample of a contender; without a name, ours."""
        return min(self.samples[name])

    @property
    def fastest_peer(self) -> str | None:
        """The peer to beat."""
        return min(self.figure.peers, key=self.best, default=None)

    def ratio(self, rival: str) -> float:
        """How many times as long the rival takes."""
        return self.best(rival) / self.best()

    @property
    def held(self) -> bool | None:
        """Whether every bar is held; None if there is none."""
        figure, peer = self.figure, self.fastest_peer
        if figure.most is None and figure.times is None:
            return None
        within = figure.most is None or self.best() <= figure.most
        ahead = figure.times is None or (peer is not None and self.ratio(peer) >= figure.times)
        return within and ahead


def measure(figures: Iterable[Figure], say: Callable[[str], None], rounds: int = ROUNDS) -> list[Result]:
    """Sample everything in interleaved rounds: a noisy minute then spoils one sample of each, not all of one."""
    results = [Result(figure) for figure in figures]
    too_slow: set[tuple[int, str]] = set()
    gc.collect()
    gc.freeze()
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}")
        for place, result in enumerate(results):
            for name, sample in result.figure.contenders():
                if (place, name) in too_slow:
                    continue
                start = time.monotonic()
                result.samples.setdefault(name, []).append(sample())
                if name and time.monotonic() - start > _SLOW:
                    too_slow.add((place, name))
    gc.unfreeze()
    return results


def p50(
    ask: Callable[..., object],
    questions: Sequence[tuple[object, ...]],
    *,
    budget: float = 0.4,
    before: Callable[[], None] | None = None,
) -> float:
    """The median of single calls, in seconds. What is done before each of them is not counted; after the budget no
    further question is asked.
    """
    taken: list[int] = []
    clock = time.perf_counter_ns
    end = clock() + int(budget * 1e9)
    for question in questions:
        if before is not None:
            before()
        start = clock()
        ask(*question)
        stop = clock()
        taken.append(stop - start)
        if stop > end:
            break
    return median_of(taken)


def median_of(taken: Sequence[int]) -> float:
    """The median of times in nanoseconds, in seconds."""
    return median(taken) / 1e9
