"""One stream drawn from others: a table, all that fit a pattern, what a query gives; with the fields one wants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.pipeline.connectors.inward import cursors
from lakehold.pipeline.connectors.inward.connector import Connector, Incoming, Sample, Since, Stream
from lakehold.pipeline.quoting import quoted

DRAWN = "drawn"
"""What it is called itself."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Tables of the lake, read as the person whom it is for."""

    ask: Callable[[str], DataFrame]
    """The rows of a query."""
    listed: Callable[[], Sequence[str]]
    """The tables that they may read there, as SQL calls them."""

    @property
    def veil(self) -> tuple[str, ...]:
        """Nothing: they read what is theirs to read."""
        return ()

    def streams(self) -> list[Stream]:
        """The tables."""
        return [Stream(name) for name in self.listed()]

    def check(self) -> None:
        """Nothing can be wrong but what is asked."""

    def sample(self, stream: str, limit: int) -> Sample:
        """Not looked at: the lake has pages of its own."""
        raise NotFoundError(f"There is no sample of {quote(stream)}.", f"Ask for {limit} rows in SQL.")

    def read(self, spark: SparkSession, stream: str, since: Since | None = None) -> Incoming:
        """A table, or a query."""
        del spark
        return Incoming(cursors.after(self.ask(stream), since))


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn from a connector."""

    connector: Connector
    stream: str
    """The one that it is drawn from, or a pattern that all that are wanted fit."""
    hidden: tuple[str, ...] = ()
    """Fields that are left out."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Fields that are to be of another type than they come with."""
    fits: bool = False
    """Whether the stream is a pattern."""

    @property
    def veil(self) -> tuple[str, ...]:
        """That of what it is drawn from."""
        return self.connector.veil

    def streams(self) -> list[Stream]:
        """One."""
        return [Stream(DRAWN)]

    def check(self) -> None:
        """Whether the storage can be read."""
        self.connector.check()

    def sample(self, stream: str, limit: int) -> Sample:
        """That of what it is drawn from."""
        return self.connector.sample(stream, limit)

    def read(self, spark: SparkSession, stream: str, since: Since | None = None) -> Incoming:
        """All of them together, shaped."""
        del stream
        parts = [self.connector.read(spark, name, since) for name in self._names()]
        together = parts[0] if len(parts) == 1 else _together(parts)
        return replace(together, rows=self._shaped(together.rows))

    def _names(self) -> list[str]:
        """The streams behind it."""
        if not self.fits:
            return [self.stream]
        found = sorted(each.name for each in self.connector.streams() if fnmatchcase(each.name, self.stream))
        if not found:
            raise NotFoundError(f"Nothing fits {quote(self.stream)}.", "Write it with * for any letters.")
        return found

    def _shaped(self, rows: DataFrame) -> DataFrame:
        """With the fields that are wanted, of the types that they are to have."""
        unknown = next((name for name in (*self.hidden, *self.types) if name not in rows.columns), "")
        if unknown:
            there = ", ".join(rows.columns[:20])
            raise InvalidInputError(f"There is no field {quote(unknown)}.", f"There are: {there}.")
        typed = {name: f.col(quoted(name)).cast(kind) for name, kind in self.types.items()}
        return rows.withColumns(typed).drop(*self.hidden)


def _together(parts: Sequence[Incoming]) -> Incoming:
    rows = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), (part.rows for part in parts))
    bad = [part.bad for part in parts if part.bad is not None]
    return Incoming(
        rows,
        reduce(DataFrame.unionByName, bad) if bad else None,
        kept=tuple(each for part in parts for each in part.kept),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )
