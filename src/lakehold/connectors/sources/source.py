"""The base of source connectors, and the types that they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, TypeVar

from pyspark.sql import DataFrame, SparkSession

from lakehold.connectors.sources.field_types import StreamField
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote

if TYPE_CHECKING:
    from lakehold.connectors.database.settings import TablePartitioning
    from lakehold.connectors.files.settings import FileFormat

Item = TypeVar("Item")
Value = str | int | float | bool | None
"""A value of a sample, as JSON has it; what is nested is text."""


@dataclass(frozen=True, slots=True)
class SourceStream:
    """A part of a source that can be read by itself: a table, a file, a sheet, an endpoint."""

    name: str
    fields: tuple[StreamField, ...] | None = None
    """None if only reading tells."""
    incremental: bool = False
    """Whether the source itself leaves out what was read before."""
    keys: tuple[str, ...] = ()
    """The fields that tell its rows apart, as far as the source says so."""


@dataclass(frozen=True, slots=True)
class StreamSample:
    """Fields and first rows of a stream."""

    fields: tuple[StreamField, ...]
    rows: tuple[tuple[Value, ...], ...]
    notes: tuple[str, ...] = ()
    """What was made of it that a person should know, such as a field that was renamed."""


@dataclass(frozen=True, slots=True)
class ReadSpan:
    """Which part of a stream to read: what follows the cursor of the last sync, or a span that is read again."""

    field: str
    value: str
    """As `cursors.highest` gives it; empty for a span that has no beginning."""
    including: bool = False
    """Whether rows with exactly this value are read again: safe with keys, and no late row is missed."""
    until: str = ""
    """The first value that is not included; empty for no upper bound."""
    again: bool = False
    """Whether it is a span that somebody chose, and not how far the stream was read."""


@dataclass(frozen=True, slots=True)
class IncomingRows:
    """Rows that were read, to be closed when they have been written."""

    rows: DataFrame
    bad: DataFrame | None = None
    """What is no row: `reason`, `raw` (its text, shortened if it is very long) and `place` (where it stands)."""
    total: Callable[[], int] | None = None
    """How many there are, good and bad, found at little cost; None if only reading all of them tells."""
    kept: tuple[DataFrame, ...] = ()
    """Rows that are cached on disk, so that the source is read once."""
    notes: tuple[str, ...] = ()

    def close(self) -> None:
        """Release what was cached."""
        for each in self.kept:
            each.unpersist()


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How one stream of a source is read, beside what the source's own settings say."""

    name: str
    """As the source calls it; one with a star is all files that match it."""
    format: FileFormat | None = None
    """Of a file."""
    parts: TablePartitioning | None = None
    """Of a table of a database."""


class SourceConnector:
    """A source of rows. What a source has no use for stays as it is here."""

    @property
    def redactions(self) -> tuple[str, ...]:
        """Texts to redact from its errors."""
        return ()

    def streams(self) -> list[SourceStream]:
        """Return the streams of the source."""
        return []

    def check(self) -> None:
        """Refuse with the reason if the source cannot be read."""

    def sample(self, stream: str, limit: int) -> StreamSample:
        """Return a sample of a stream, without reading all of it."""
        raise NotFoundError(f"There is no sample of {quote(stream)}.", f"Ask for {limit} rows in SQL.")

    def read(self, spark: SparkSession, stream: str, since: ReadSpan | None = None) -> IncomingRows:
        """Read the rows of a stream."""
        raise NotImplementedError


def union_rows(parts: Sequence[IncomingRows]) -> IncomingRows:
    """Union several results by the names of their fields."""
    if len(parts) == 1:
        return parts[0]
    bad = [each.bad for each in parts if each.bad is not None]
    totals = [each.total for each in parts]
    return IncomingRows(
        reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), (each.rows for each in parts)),
        reduce(DataFrame.unionByName, bad) if bad else None,
        None if None in totals else lambda: sum(total() for total in totals if total is not None),
        tuple(each for part in parts for each in part.kept),
        tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )


def get_stream(names: Mapping[str, Item], stream: str) -> Item:
    """Return the item of this stream name, or refuse and list those that exist."""
    if stream not in names:
        there = ", ".join(sorted(names)[:20]) or "none"
        raise NotFoundError(f"There is no {quote(stream)} there.", f"It has: {there}.", field="stream")
    return names[stream]
