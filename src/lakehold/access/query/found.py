"""Resources that were found, without writing all of them down: those that lie behind others are known by those."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, filterfalse
from typing import Protocol

NUMBER = "q"
"""How a number lies in an array."""


class Found(Protocol):
    """Some resources."""

    most: int
    """There are no more than this."""

    def __contains__(self, here: int, /) -> bool:
        """Whether the resource is one of them."""

    def __iter__(self) -> Iterator[int]:
        """Each once."""

    def numbers(self) -> array[int]:
        """Each once, together: to hand out 90,000 takes no time for each of them."""


class Written:
    """Written down."""

    def __init__(self, resources: set[int] | Mapping[int, object]) -> None:
        self.most = len(resources)
        self._resources = resources

    def __contains__(self, here: int) -> bool:
        return here in self._resources

    def __iter__(self) -> Iterator[int]:
        return iter(self._resources)

    def numbers(self) -> array[int]:
        """All of them."""
        """All of them."""
        return array(NUMBER, self._resources)


class Behind:
    """The resources of a kind with an edge, of which each has one, to one of the ends. Others have such edges too."""

    def __init__(
        self,
        ends: Found,
        ahead: Callable[[int], Sequence[int] | None],
        behind: Callable[[int], array[int]],
        others: Sequence[Mapping[int, None]],
    ) -> None:
        self._ends = set(ends)
        self._ahead = ahead
        self._others = others
        self._sources = list(map(behind, self._ends))
        self.most = sum(map(len, self._sources))

    def __contains__(self, here: int) -> bool:
        ahead = self._ahead(here)
        if ahead is None or ahead[0] not in self._ends:
            return False
        return not self._others or not any(here in other for other in self._others)

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self._sources)

    def numbers(self) -> array[int]:
        """Those behind one end after those behind another."""
        """Those behind one end after those behind another."""
        found = array(NUMBER)
        for sources in self._sources:
            found += sources
        return found


class Either:
    """Those of several, each once."""

    def __init__(self, parts: Sequence[Found]) -> None:
        self.parts = parts
        self.most = sum(part.most for part in parts)

    def __contains__(self, here: int) -> bool:
        for part in self.parts:  # noqa: SIM110 - a generator here costs as much as the look-ups themselves
            if here in part:
                return True
        return False

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(map(self._new_in, range(len(self.parts))))

    def numbers(self) -> array[int]:
        """The largest part, and what is new in the others."""
        """The largest part, and what is new in the others."""
        found = self.parts[0].numbers() if self.parts else array(NUMBER)
        for n in range(1, len(self.parts)):
            found.extend(self._new_in(n))
        return found

    def _new_in(self, n: int) -> Iterable[int]:
        """Those of the part that are in none before it."""
        found: Iterable[int] = self.parts[n]
        for before in self.parts[:n]:
            found = filterfalse(before.__contains__, found)
        return found


def either(parts: Iterable[Found]) -> Found:
    """Those of several, the largest part first."""
    flat = (inner for part in parts for inner in (part.parts if isinstance(part, Either) else (part,)))
    ordered = sorted((part for part in flat if part.most), key=lambda part: -part.most)
    return ordered[0] if len(ordered) == 1 else Either(ordered)
