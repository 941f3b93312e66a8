"""A database as a source: each of its tables and views is a stream.

What was read before is left out by the database itself, if the cursor is a number, a date or a timestamp. Texts are
compared here: a database sorts them by rules of its own, and rows would be missed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import SparkSession
from pyspark.sql.types import StringType

from lakehold.kit.errors import InvalidInputError
from lakehold.pipeline.connectors.inward import records
from lakehold.pipeline.connectors.inward.connector import Field, Incoming, Sample, Since, Stream, chosen
from lakehold.pipeline.connectors.inward.cursors import after, ordered
from lakehold.pipeline.connectors.inward.jdbc.bounds import Parts, in_parts
from lakehold.pipeline.connectors.inward.jdbc.catalog import Catalog, Table, catalog
from lakehold.pipeline.connectors.inward.trouble import told
from lakehold.pipeline.connectors.outward.database import Database

_MOST_ASKED = 200
_WHAT = "The database"


@dataclass(frozen=True, slots=True)
class Jdbc:
    """A database, and how it is read."""

    database: Database
    schemas: tuple[str, ...] = ()
    """Whose tables are streams; those of the connection's own schema if none is chosen."""
    parts: Mapping[str, Parts] = field(default_factory=dict)
    """The streams that are read in parts, several at a time."""
    queries: Mapping[str, str] = field(default_factory=dict)
    """Streams that are no tables: what the database is asked instead, in its own SQL."""
    at_once: int = 10_000
    """How many rows the driver fetches at a time."""
    patience: int = 0
    """After how many seconds a question is given up; 0 waits."""

    @property
    def veil(self) -> tuple[str, ...]:
        """Where it is, and what it is shown."""
        return self.database.hidden

    def streams(self) -> list[Stream]:
        """Its tables and views, with their primary keys unless there are very many."""
        with told(_WHAT, *self.database.hidden), catalog(SparkSession.active(), self.database) as about:
            tables = about.tables(self.schemas)
            few = len(tables) <= _MOST_ASKED
            return [Stream(each.full, None, True, about.keys(each) if few else ()) for each in tables]

    def check(self) -> None:
        """Connect, and look for tables."""
        with told(_WHAT, *self.database.hidden), catalog(SparkSession.active(), self.database) as about:
            about.tables(self.schemas)

    def sample(self, stream: str, limit: int) -> Sample:
        """Fields and the first rows that the database gives."""
        spark = SparkSession.active()
        with told(self._called(stream), *self.database.hidden):
            options, _ = self._options(spark, stream)
            rows = spark.read.format("jdbc").options(**{**options, "fetchsize": str(limit)}).load()
            fields = tuple(Field(each.name, each.dataType.simpleString()) for each in rows.schema.fields)
            some = rows.limit(limit).collect()
            return Sample(fields, tuple(tuple(records.shown(value) for value in row) for row in some))

    def read(self, spark: SparkSession, stream: str, since: Since | None = None) -> Incoming:
        """The rows of a table or view."""
        with told(self._called(stream), *self.database.hidden):
            options, quoted = self._options(spark, stream)
            rows = spark.read.format("jdbc").options(**options).load()
            if since is not None and isinstance(ordered(rows, since.field)[1], StringType):
                options = {**options, "pushDownPredicate": "false"}
            if stream in self.parts:
                parts = self.parts[stream].checked(rows.columns)
                return Incoming(after(in_parts(spark, options, parts, quoted, since), since))
            return Incoming(after(spark.read.format("jdbc").options(**options).load(), since))

    def _options(self, spark: SparkSession, stream: str) -> tuple[dict[str, str], str]:
        """What Spark is told, and the name of the column by which the table is cut, quoted."""
        with catalog(spark, self.database) as about:
            name = self._query(stream) or self._table(about, stream)
            column = about.quoted(self.parts[stream].column) if stream in self.parts else ""
        options = {
            **self.database.options,
            "dbtable": name,
            "fetchsize": str(self.at_once),
            "queryTimeout": str(self.patience),
            "preferTimestampNTZ": "true",
        }
        if self.database.is_postgresql:
            # A moment that stands in a question has no zone there.
            options["sessionInitStatement"] = "SET TIME ZONE 'UTC'; SET default_transaction_read_only = on"
        return options, column

    def _called(self, stream: str) -> str:
        """What trouble is with: a query has no name of its own."""
        return _WHAT if stream in self.queries else stream

    def _query(self, stream: str) -> str:
        """A query stands in the place of a table, so that nothing but a query can stand there."""
        text = self.queries.get(stream, "").strip().rstrip(";")
        if ";" in text:
            raise InvalidInputError("The query has a semicolon in it.", "Write one query; in a text, use chr(59).")
        return f"({text}\n) lakehold_query" if text else ""

    def _table(self, about: Catalog, stream: str) -> str:
        table: Table = chosen({each.full: each for each in about.tables(self.schemas)}, stream)
        return about.quoted(table.schema, table.name)
