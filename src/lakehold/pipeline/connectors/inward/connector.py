"""What all connectors can do, and what they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from pyspark.sql import DataFrame, SparkSession

from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote

Each = TypeVar("Each")
Value = str | int | float | bool | None
"""A value of a sample, as JSON has it; what is nested is text."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a stream."""

    name: str
    type: str = "string"
    """As Spark calls it: `bigint`, `decimal(10,2)`, `timestamp_ntz`."""


@dataclass(frozen=True, slots=True)
class Stream:
    """What can be read by itself: a table, a file, a sheet, an endpoint."""

    name: str
    fields: tuple[Field, ...] | None = None
    """None if only reading tells."""
    incremental: bool = False
    """Whether the source itself leaves out what was read before."""
    keys: tuple[str, ...] = ()
    """The fields that tell its rows apart, as far as the source says so."""


@dataclass(frozen=True, slots=True)
class Sample:
    """How a stream looks: its fields and some rows from its beginning."""

    fields: tuple[Field, ...]
    rows: tuple[tuple[Value, ...], ...]
    notes: tuple[str, ...] = ()
    """What was made of it that a person should know, such as a field that was renamed."""


@dataclass(frozen=True, slots=True)
class Since:
    """How far a stream was read before: only what comes after is wanted. Or a span of it that is wanted again."""

    field: str
    value: str
    """As `cursors.highest` gives it; empty for a span that has no beginning."""
    including: bool = False
    """Whether rows of this very value are wanted again: safe with keys, and then none that came late is missed."""
    until: str = ""
    """The first value that is no longer wanted; empty if all that follow are."""
    again: bool = False
    """Whether it is a span that somebody chose, and not how far the stream was read."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """What was read, to be closed when it has been written."""

    rows: DataFrame
    bad: DataFrame | None = None
    """What is no row: `reason`, `raw` (its text, shortened if it is very long) and `place` (where it stands)."""
    total: Callable[[], int] | None = None
    """How many there are, good and bad, found at little cost; None if only reading all of them tells."""
    kept: tuple[DataFrame, ...] = ()
    """What is kept on disk meanwhile, so that a source is asked once."""
    notes: tuple[str, ...] = field(default=())

    def close(self) -> None:
        """Let go of what was kept."""
        for each in self.kept:
            each.unpersist()


class Connector(Protocol):
    """A source of rows."""

    @property
    def veil(self) -> tuple[str, ...]:
        """What no error of it may tell."""

    def streams(self) -> list[Stream]:
        """What can be read."""

    def check(self) -> None:
        """Refuse, and say why, if it cannot be read."""

    def sample(self, stream: str, limit: int) -> Sample:
        """How a stream looks, without reading all of it."""

    def read(self, spark: SparkSession, stream: str, since: Since | None = None) -> Incoming:
        """The rows of a stream."""


def fields_of(told: Any) -> tuple[Field, ...]:  # noqa: ANN401 - from JSON
    """Fields as JSON tells them."""
    return tuple(Field(str(each["name"]), str(each.get("type", "string"))) for each in told or ())


def chosen(names: Mapping[str, Each], stream: str) -> Each:
    """The one of this name, or a refusal that says which there are."""
    if stream not in names:
        there = ", ".join(sorted(names)[:20]) or "none"
        raise NotFoundError(f"There is no {quote(stream)} there.", f"It has: {there}.")
    return names[stream]
