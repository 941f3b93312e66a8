"""Resources that were found, without writing all of them down: those that lie behind others are known by those."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, filterfalse
from typing import Protocol


class Found(Protocol):
    """Some resources."""

    most: int
    """There are no more than this."""

    def __contains__(self, here: int, /) -> bool:
        """Whether the resource is one of them."""

    def __iter__(self) -> Iterator[int]:
        """Each once."""


class Written:
    """Written down."""

    def __init__(self, resources: set[int] | Mapping[int, object]) -> None:
        self.most = len(resources)
        self._resources = resources

    def __contains__(self, here: int) -> bool:
        return here in self._resources

    def __iter__(self) -> Iterator[int]:
        return iter(self._resources)


class Behind:
    """The resources of a kind with an edge, of which each has one, to one of the ends. Others have such edges too."""

    def __init__(
        self,
        ends: Found,
        ahead: Callable[[int], Sequence[int] | None],
        back: Callable[[int], Mapping[int, None] | None],
        others: Sequence[Mapping[int, None]],
    ) -> None:
        self._ends = set(ends)
        self._ahead = ahead
        self._others = others
        self._sources = [sources for end in self._ends if (sources := back(end))]
        self.most = sum(map(len, self._sources))

    def __contains__(self, here: int) -> bool:
        ahead = self._ahead(here)
        if ahead is None or ahead[0] not in self._ends:
            return False
        return not self._others or not any(here in other for other in self._others)

    def __iter__(self) -> Iterator[int]:
        found: Iterable[int] = chain.from_iterable(self._sources)
        for other in self._others:
            found = filterfalse(other.__contains__, found)
        return iter(found)


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
        for n, part in enumerate(self.parts):
            found: Iterable[int] = part
            for before in self.parts[:n]:
                found = filterfalse(before.__contains__, found)
            yield from found


def either(parts: Iterable[Found]) -> Found:
    """Those of several, the largest part first."""
    flat = (inner for part in parts for inner in (part.parts if isinstance(part, Either) else (part,)))
    ordered = sorted((part for part in flat if part.most), key=lambda part: -part.most)
    return ordered[0] if len(ordered) == 1 else Either(ordered)
