"""Source connector for databases behind JDBC: each table or view is a stream.

The database itself filters by the cursor if that is a number, a date or a timestamp. Texts are compared in Spark: a
database sorts them by rules of its own, and rows would be missed. Large tables can be read in partitions, by a column
whose lowest and highest values the database reports.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from functools import cache, reduce
from itertools import pairwise

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, TimestampNTZType

from lakehold.connectors.database.jdbc import JdbcConnection, JdbcDatabase, open_database
from lakehold.connectors.database.settings import DatabaseSourceSettings, TablePartitioning
from lakehold.connectors.error_translation import translate_source_errors
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.connectors.sources import row_parsing, source
from lakehold.connectors.sources.field_types import StreamField
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake.errors import DataError

_MAX_LENGTH, _MAX_DEPTH = 100_000, 200
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_BACKSLASH = re.compile(r"\\['\"]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# PostgreSQL takes every letter beyond ASCII, and signs there too, for a part of a name.
_LETTER, _NAME = r"A-Za-z_\x80-\U0010ffff", r"A-Za-z0-9_\x80-\U0010ffff"
_DOLLARS = rf"\$(?P<tag>(?:[{_LETTER}][{_NAME}]*)?)\$"
_Q_QUOTE = r"(?<![\w$])[nN]?[qQ]'"
_LINE_COMMENT = r"(?P<line>--[^\n]*)"
_OWN = {
    "postgresql": rf"(?P<escaped>(?<![{_NAME}$])[eE]'(?:[^'\\]|\\.|'')*+')"
    rf"|(?P<dollars>(?<![{_NAME}$]){_DOLLARS}.*?\$(?P=tag)\$)|(?P<special>\$(?:[{_LETTER}][{_NAME}]*)?\$)|{_LINE_COMMENT}",
    # Two dashes without a space are two minus signs there.
    **dict.fromkeys(("mysql", "mariadb"), r"(?P<special>/\*M?!)|(?P<line>#[^\n]*|--(?:[ \t][^\n]*|(?=\n)|\Z))"),
    **dict.fromkeys(("sqlserver", "sqlite"), rf"(?P<name>\[(?:[^\]]|\]\])*+\])|{_LINE_COMMENT}"),
    "oracle": rf"(?P<special>{_Q_QUOTE})|{_LINE_COMMENT}",
}
# Of a product that is not known here, all that some other product reads in its own way.
_UNKNOWN = (
    rf"(?P<special>#|\$[{_NAME}]*\$|{_Q_QUOTE}|\[[^\]'\"`]*['\"`]|/\*M?!|(?<![\w$])[eE]'|--(?![ \n]))|{_LINE_COMMENT}"
)
_COMMON = (
    r"(?P<text>'(?:[^']|'')*+')"
    r'|(?P<quoted>"(?:[^"]|"")*+")'
    # Only some products quote names by it: it must not hide anything from the others.
    r"|(?P<backtick>`[^`'\"()\[\]{}/#-]*`)"
    r"|(?P<block>/\*.*?\*/)"
    r"|(?P<bracket>[()\[\]{}])"
    r"|(?P<open>['\"`]|/\*)"
)


def parenthesize(text: str, product: str) -> str:
    """Return a query in parentheses, or refuse one that would end them or has more than one statement."""
    # A line ends alike for us and for the database.
    query = text.replace("\r\n", "\n").replace("\r", "\n").strip().rstrip("; \n\t")
    if len(query) > _MAX_LENGTH:
        raise InvalidInputError(f"The query has more than {_MAX_LENGTH:,} characters.", "Shorten it.")
    if found := _CONTROL.search(query):
        raise InvalidInputError(f"The query has {quote(found[0])} in it.", "Leave out control characters.")
    if ";" in query:
        raise InvalidInputError("The query has a semicolon in it.", "Write one query; in a text, use chr(59).")
    expected: list[str] = []
    for token in _tokens(product).finditer(query):
        _check_token(token, expected)
    if expected:
        raise _unbalanced(f"There is no {expected[-1]!r} for the last one that is open")
    return f"({query}\n)"


@cache
def _tokens(product: str) -> re.Pattern[str]:
    return re.compile(f"{_OWN.get(product, _UNKNOWN)}|{_COMMON}", re.DOTALL)


def _check_token(found: re.Match[str], expected: list[str]) -> None:
    token = found[0]
    match found.lastgroup:
        case "bracket" if token in _CLOSING:
            expected.append(_CLOSING[token])
            if len(expected) > _MAX_DEPTH:
                raise InvalidInputError(f"The query is more than {_MAX_DEPTH} parentheses deep.", "Simplify it.")
        case "bracket":
            if not expected or expected.pop() != token:
                raise _unbalanced(f"A {token!r} closes nothing")
        case "open":
            raise _unbalanced(f"What begins with {quote(token)} has no end")
        case "special":
            raise InvalidInputError(f"The query has {quote(token)} in it.", "Write it without.")
        case "block" if "/*" in token[2:]:
            raise InvalidInputError("A comment in the query has another one in it.", "Write it without.")
        case "text" | "quoted" if _BACKSLASH.search(token):
            hint = "Write a quote within a text as two."
            raise InvalidInputError("The query has a backslash before a quote, which databases read differently.", hint)


def _unbalanced(what: str) -> InvalidInputError:
    return InvalidInputError(f"The query is not whole. {what}.", "Check its parentheses, quotes and comments.")


def read_partitioned(
    spark: SparkSession,
    options: Mapping[str, str],
    parts: TablePartitioning,
    quoted: str,
    since: source.ReadSpan | None,
) -> DataFrame:
    """Read the rows in partitions; in one if the column has no values."""
    bounds_query = f"(SELECT MIN({quoted}) AS low, MAX({quoted}) AS high FROM {options['dbtable']}) bounds"  # noqa: S608 - quoted
    bounds = spark.read.format("jdbc").options(**{**options, "dbtable": bounds_query}).load()
    row = bounds.first()
    reader = spark.read.format("jdbc").options(**options)
    if row is None or row[0] is None or row[1] is None:
        return reader.load()
    if isinstance(bounds.schema["low"].dataType, TimestampNTZType):
        # Not by predicates of the reader: options would reach the driver in lower case, and so be unknown to it.
        tables = [
            f"(SELECT * FROM {options['dbtable']} WHERE {predicate}) lakehold_part"  # noqa: S608 - quoted
            for predicate in _timestamp_predicates(quoted, row[0], row[1], parts.count)
        ]
        return reduce(DataFrame.unionAll, (reader.option("dbtable", each).load() for each in tables))
    low, high = _partition_bound(row[0], parts.column, math.floor), _partition_bound(row[1], parts.column, math.ceil)
    if since is not None and not since.again and since.field.lower() == parts.column.lower():
        # Only what is new is read, so only that is cut into parts.
        low = since.value
    cut = {"partitionColumn": parts.column, "lowerBound": low, "upperBound": high, "numPartitions": str(parts.count)}
    return reader.options(**cut).load()


def _timestamp_predicates(quoted: str, low: datetime, high: datetime, count: int) -> list[str]:
    """Return the predicates of the partitions, as Spark itself does not split by a timestamp without zone."""
    times = [low + (high - low) * number / count for number in range(1, count)]
    words = [f"TIMESTAMP '{each:%Y-%m-%d %H:%M:%S.%f}'" for each in times]
    if not words:
        return ["1 = 1"]
    between = [f"{quoted} >= {one} AND {quoted} < {other}" for one, other in pairwise(words)]
    return [f"({quoted} < {words[0]} OR {quoted} IS NULL)", *between, f"{quoted} >= {words[-1]}"]


def _partition_bound(value: object, column: str, rounded: Callable[[float | Decimal], int]) -> str:
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return str(rounded(value))
    if isinstance(value, datetime | date):
        return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
    message = f"{column} is not a number, date or timestamp, so the table cannot be partitioned by it."
    raise DataError(message, "Choose another column, or read it in one part.")


_MAX_KEY_LOOKUPS = 200
_FETCH_SIZE = "10000"
_LABEL = "The database"


@dataclass(frozen=True, slots=True)
class JdbcSource(source.SourceConnector):
    """A database as a source, and how it is read."""

    database: JdbcDatabase
    schemas: tuple[str, ...] = ()
    """Whose tables are streams; those of the connection's own schema if none is chosen."""
    parts: Mapping[str, TablePartitioning] = field(default_factory=dict)
    """The streams that are read in parts, several at a time."""
    queries: Mapping[str, str] = field(default_factory=dict)
    """Streams that are queries instead of tables, in the database's own SQL."""

    @property
    def redactions(self) -> tuple[str, ...]:
        """The redactions of the database."""
        return self.database.redactions

    def streams(self) -> list[source.SourceStream]:
        """Return its tables and views, with primary keys unless there are very many."""
        with translate_source_errors(_LABEL, *self.redactions), self._connect(SparkSession.active()) as about:
            tables = about.tables(self.schemas)
            few = len(tables) <= _MAX_KEY_LOOKUPS
            return [
                source.SourceStream(name, None, True, about.primary_key(*table) if few else ())
                for name, table in tables.items()
            ]

    def check(self) -> None:
        """Connect and list the tables."""
        with translate_source_errors(_LABEL, *self.redactions), self._connect(SparkSession.active()) as about:
            about.tables(self.schemas)

    def sample(self, stream: str, limit: int) -> source.StreamSample:
        """Return the fields and first rows that the database returns."""
        spark = SparkSession.active()
        with translate_source_errors(self._label(stream), *self.redactions):
            options, _ = self._read_options(spark, stream)
            # Whoever waits for a sample leaves then, and nothing else would end it.
            options |= {"fetchsize": str(limit), "queryTimeout": str(self.database.sample_seconds)}
            rows = spark.read.format("jdbc").options(**options).load()
            fields = tuple(StreamField(each.name, each.dataType.simpleString()) for each in rows.schema.fields)
            some = rows.limit(limit).collect()
            return source.StreamSample(fields, tuple(tuple(map(row_parsing.sample_value, row)) for row in some))

    def read(self, spark: SparkSession, stream: str, since: source.ReadSpan | None = None) -> source.IncomingRows:
        """Read the rows of a table, view or query."""
        with translate_source_errors(self._label(stream), *self.redactions):
            options, quoted = self._read_options(spark, stream)
            rows = spark.read.format("jdbc").options(**options).load()
            if since is not None and isinstance(source.orderable_field(rows, since.field)[1], StringType):
                options = {**options, "pushDownPredicate": "false"}
            if stream in self.parts:
                parts = self.parts[stream].validated(rows.columns)
                rows = read_partitioned(spark, options, parts, quoted, since)
            else:
                rows = spark.read.format("jdbc").options(**options).load()
            return source.IncomingRows(source.filter_span(rows, since))

    @property
    def _read_only(self) -> JdbcDatabase:
        return replace(self.database, read_only=True)

    @contextmanager
    def _connect(self, spark: SparkSession) -> Iterator[JdbcConnection]:
        self.database.check()
        with closing(JdbcConnection(spark, self._read_only)) as connection:
            # Before Spark asks for the fields of a query, on a connection that it does not ask about.
            connection.need_read_only()
            yield connection

    def _read_options(self, spark: SparkSession, stream: str) -> tuple[dict[str, str], str]:
        """Return the options for Spark, and the quoted partition column."""
        name = self._subquery(stream)
        with self._connect(spark) as about:
            if not name:
                name = about.quote_name(*source.get_stream(about.tables(self.schemas), stream))
            column = about.quote_name(self.parts[stream].column) if stream in self.parts else ""
        fetched = {"dbtable": name, "fetchsize": _FETCH_SIZE, "preferTimestampNTZ": "true"}
        return {**self._read_only.options, **fetched}, column

    def _label(self, stream: str) -> str:
        """Return the label for error messages: a query has no name of its own."""
        return _LABEL if stream in self.queries else stream

    def _subquery(self, stream: str) -> str:
        """Return the stream's query as a subquery, so that nothing but a query can be run."""
        text = self.queries.get(stream, "")
        if not text.strip():
            return ""
        if not self.database.takes_queries:
            message = "Nothing makes sure that a query in SQL only reads this database."
            hint = (
                "Choose tables or views, or ask whoever keeps the installation to list a user of it that can only read:"
            )
            raise InvalidInputError(message, f"{hint} readOnlyUsers in LAKEHOLD_DATABASES.")
        return f"{parenthesize(text, self.database.product)} lakehold_query"


def open_source(
    environment: ConnectorEnvironment, settings: DatabaseSourceSettings, stream: source.StreamOptions | None
) -> JdbcSource:
    """Open the database that the settings name."""
    parts = {stream.name: stream.parts} if stream is not None and stream.parts is not None else {}
    return JdbcSource(open_database(environment, settings), settings.schemas, parts)
