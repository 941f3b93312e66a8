"""Combines streams of a connector into one, by name, by a pattern or as a query, with chosen fields and types."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from lakehold.connectors.sources import source
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake.row_formats import quote_identifier

SELECTION_STREAM = "drawn"
"""The name of the one stream of a selection."""


@dataclass(frozen=True, slots=True)
class LakeSource(source.SourceConnector):
    """Source connector over tables of the lake, read with the rights of one member."""

    run_query: Callable[[str], DataFrame]
    """The rows of a query."""
    list_tables: Callable[[], Sequence[str]]
    """The tables that they may read there, as SQL calls them."""

    def streams(self) -> list[source.SourceStream]:
        """Return the tables."""
        return [source.SourceStream(name) for name in self.list_tables()]

    def read(self, spark: SparkSession, stream: str, since: source.ReadSpan | None = None) -> source.IncomingRows:
        """Read a table or a query."""
        del spark
        return source.IncomingRows(source.filter_span(self.run_query(stream), since))


@dataclass(frozen=True, slots=True)
class StreamSelection(source.SourceConnector):
    """Source connector that combines streams of another one."""

    connector: source.SourceConnector
    stream: str
    """The name of the stream to read, or a pattern of names."""
    hidden: tuple[str, ...] = ()
    """Fields that are left out."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Fields that are to be of another type than they come with."""
    is_pattern: bool = False
    """Whether the stream is a pattern."""

    @property
    def redactions(self) -> tuple[str, ...]:
        """Redactions of the underlying connector."""
        return self.connector.redactions

    def read(self, spark: SparkSession, stream: str, since: source.ReadSpan | None = None) -> source.IncomingRows:
        """Read all selected streams and apply fields and types."""
        del stream
        together = source.union_rows([self.connector.read(spark, name, since) for name in self._stream_names()])
        return replace(together, rows=self._apply_fields(together.rows))

    def _stream_names(self) -> list[str]:
        """Return the names of the selected streams."""
        if not self.is_pattern:
            return [self.stream]
        found = sorted(each.name for each in self.connector.streams() if fnmatchcase(each.name, self.stream))
        if not found:
            raise NotFoundError(f"Nothing matches {quote(self.stream)}.", "Use * for any characters.")
        return found

    def _apply_fields(self, rows: DataFrame) -> DataFrame:
        """Drop the hidden fields and cast the others."""
        unknown = next((name for name in (*self.hidden, *self.types) if name not in rows.columns), "")
        if unknown:
            there = ", ".join(rows.columns[:20])
            raise InvalidInputError(f"There is no field {quote(unknown)}.", f"There are: {there}.")
        typed = {name: f.col(quote_identifier(name)).cast(kind) for name, kind in self.types.items()}
        return rows.withColumns(typed).drop(*self.hidden)
