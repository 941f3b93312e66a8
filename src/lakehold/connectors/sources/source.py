"""The base of source connectors, the types that they return, and cursors: how far a stream has been read.

A cursor is the highest value of a growing field, as text. The text has one form for each type, so that values of
different syncs can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, TypeVar

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

from lakehold.connectors.sources import field_types
from lakehold.connectors.sources.field_types import StreamField
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake.errors import DataError
from lakehold.lake.row_formats import quote_identifier

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
    """The part of a stream to read: the rows after the cursor of the last sync, or a span that is read again."""

    field: str
    value: str
    """As `highest_cursor` gives it; empty for a span that has no beginning."""
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
    on_close: Callable[[], object] | None = None
    """Releases what the rows were read from."""

    def close(self) -> None:
        """Release what was cached."""
        for each in self.kept:
            each.unpersist()
        if self.on_close is not None:
            self.on_close()


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """The options of one stream, in addition to the settings of its source."""

    name: str
    """As the source calls it; one with a star is all files that match it."""
    format: FileFormat | None = None
    """Of a file."""
    parts: TablePartitioning | None = None
    """Of a table of a database."""


class SourceConnector:
    """Base class of source connectors. Methods that a connector does not need have defaults."""

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
        raise NotFoundError(f"There is no sample of {quote(stream)}.", f"Query {limit} rows in SQL.")

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


_ORDERED = (t.NumericType, t.DateType, t.TimestampType, t.TimestampNTZType, t.StringType)
_FORMS: dict[type[t.DataType], str] = {
    t.TimestampType: "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'",
    t.TimestampNTZType: "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def highest_cursor(rows: DataFrame, field: str) -> str | None:
    """Return the highest value of the field in the rows; None if it has none."""
    name, kind = orderable_field(rows, field)
    top = f.max(f.col(quote_identifier(name)))
    form = _FORMS.get(type(kind))
    # All our sessions use UTC, so timestamps are formatted in it.
    row = rows.agg((f.date_format(top, form) if form else top.cast("string")).alias("top")).first()
    return None if row is None else row["top"]


def filter_span(rows: DataFrame, since: ReadSpan | None) -> DataFrame:
    """Return the rows that follow the cursor, or lie in the span; rows without a value are left out."""
    if since is None:
        return rows
    name, kind = orderable_field(rows, since.field)
    column = f.col(quote_identifier(name))
    if since.value:
        value = _cursor_literal(since.field, since.value, kind)
        rows = rows.filter(column >= value if since.including else column > value)
    return rows.filter(column < _cursor_literal(since.field, since.until, kind)) if since.until else rows


def _cursor_literal(field: str, text: str, kind: t.DataType) -> Column:
    """Return the value of a cursor as a literal of its type."""
    match kind:
        case t.StringType():
            name = field_types.STRING
        case t.IntegralType() | t.DateType():
            name = kind.simpleString()
        case t.TimestampType() | t.TimestampNTZType():
            name = field_types.TIMESTAMP
        case _:
            name = field_types.DOUBLE
    if not field_types.fits(text, name):
        message = f"{text!r} is not a valid value of {field}, which is {kind.simpleString()}."
        raise InvalidInputError(message, "Correct the cursor, or read the stream in full.")
    return f.lit(text).cast(kind)


def orderable_field(rows: DataFrame, field: str) -> tuple[str, t.DataType]:
    """Return the name and type of the field; refuse it if it does not exist or has no order."""
    found = next((each for each in rows.schema.fields if each.name.lower() == field.lower()), None)
    if found is None:
        raise DataError(f"The cursor {field!r} is not a field of the rows.", f"They have: {', '.join(rows.columns)}.")
    if not isinstance(found.dataType, _ORDERED):
        message = f"The cursor {field!r} is {found.dataType.simpleString()}, which has no order."
        raise DataError(message, "Choose a number, a date, a timestamp or a text that only increases.")
    return found.name, found.dataType
