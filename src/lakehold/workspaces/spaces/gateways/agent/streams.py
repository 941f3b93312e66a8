"""The protocol of the readers of a gateway: a stream that is open, and the parts in which it is sent."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

_PART_ROWS, _PART_BYTES = 250_000, 32_000_000


@dataclass(frozen=True, slots=True)
class StreamPart:
    """A part of a stream: its batches, and the key of its last row."""

    batches: Sequence[pa.RecordBatch]
    offset: Sequence[str] = ()

    @property
    def rows(self) -> int:
        """The number of its rows."""
        return sum(batch.num_rows for batch in self.batches)


@dataclass(frozen=True, slots=True)
class OpenStream:
    """A stream that is open."""

    has_keys: bool
    """Whether it can be gone on with behind an offset."""
    parts: Callable[[Sequence[str]], Iterator[StreamPart]]
    """Yields its parts behind an offset; at least one, also if there is no row."""


class StreamReader(Protocol):
    """Reads what a connection leads to."""

    def streams(self) -> list[dict[str, Any]]:
        """Return its streams with their fields and keys."""
        ...

    def sample(self, stream: str, limit: int) -> dict[str, Any]:
        """Return the first rows of a stream."""
        ...

    def open(self, stream: str, since: Mapping[str, Any]) -> AbstractContextManager[OpenStream]:
        """Open a stream to read the rows of a span."""
        ...


def group_batches(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, *, may_be_empty: bool = False
) -> Iterator[list[pa.RecordBatch]]:
    """Yield batches in groups of the size of a part; one without a row if there is none, unless it may be empty."""
    found: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        found.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= _PART_ROWS or size >= _PART_BYTES:
            yield found
            may_be_empty, found, rows, size = True, [], 0, 0
    if rows or not may_be_empty:
        yield found or [pa.RecordBatch.from_pylist([], schema)]
