"""Reads tables of PostgreSQL as Arrow record batches, in one consistent snapshot.

Rows come by `COPY … TO STDOUT`, and Arrow parses them. A table with a primary key is read in its order, so that a
process which was killed goes on behind the last row that has arrived; any other one is begun anew.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

import psycopg
import pyarrow as pa
import pyarrow.csv as pa_csv
from psycopg import sql

from lakehold.connectors.database.copy_output import CopyOutput
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.kit.jdbc_address import parse_address
from lakehold.workspaces.spaces.gateways.agent.streams import OpenStream, StreamPart, group_batches

_BLOCK_BYTES = 4_000_000
_CONNECT_SECONDS, _SAMPLE_SECONDS = 10, 30
_DECIMAL = (38, 18)
"""The precision and scale of numbers that have none of their own, as by JDBC."""
_TYPES: Mapping[str, tuple[pa.DataType, str]] = {
    "int2": (pa.int16(), "smallint"),
    "int4": (pa.int32(), "int"),
    "int8": (pa.int64(), "bigint"),
    "float4": (pa.float32(), "float"),
    "float8": (pa.float64(), "double"),
    "bool": (pa.bool_(), "boolean"),
    "date": (pa.date32(), "date"),
    "timestamp": (pa.timestamp("us"), "timestamp_ntz"),
    "timestamptz": (pa.timestamp("us", tz="UTC"), "timestamp"),
    "bytea": (pa.binary(), "binary"),
}
_TEXT = (pa.string(), "string")
_COMPARED = {"int2", "int4", "int8", "float4", "float8", "numeric", "date", "timestamp", "timestamptz"}
"""The types of cursors by which the database itself leaves out rows: texts are sorted by rules of its own."""
_TABLES = """
SELECT n.nspname || '.' || c.relname, c.oid, n.nspname, c.relname
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
AND (n.nspname = ANY(%(schemas)s) OR (cardinality(%(schemas)s::text[]) = 0 AND n.nspname = current_schema()))
ORDER BY 1
"""
_COLUMNS = """
SELECT a.attrelid, a.attname, b.typname, CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END,
format_type(a.atttypid, a.atttypmod)
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
WHERE a.attrelid = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum
"""
_KEYS = """
SELECT i.indrelid, a.attname FROM pg_index i, unnest(i.indkey) WITH ORDINALITY AS k(n, place), pg_attribute a
WHERE i.indisprimary AND i.indrelid = ANY(%s) AND a.attrelid = i.indrelid AND a.attnum = k.n
ORDER BY i.indrelid, k.place
"""


@dataclass(frozen=True, slots=True)
class PostgresColumn:
    """A column of a table."""

    name: str
    type: str
    """The name of its type among those of the catalog, such as `int4`."""
    modifier: int
    declared: str
    """Its type as SQL writes it."""

    @property
    def types(self) -> tuple[pa.DataType, str]:
        """The type of Arrow and that of Spark."""
        if self.type == "numeric":
            precision, scale = self._digits()
            return pa.decimal128(precision, scale), f"decimal({precision},{scale})"
        return _TYPES.get(self.type, _TEXT)

    @property
    def expression(self) -> sql.Composable:
        """The expression that is selected, so that Arrow can parse it."""
        name = sql.Identifier(self.name)
        if self.type == "bytea":
            return sql.SQL("encode({}, 'hex')").format(name)
        if self.type == "numeric" and self._digits() == _DECIMAL:
            return sql.SQL("{}::numeric(38, 18)").format(name)
        return name if self.type in {*_TYPES, "numeric"} else sql.SQL("{}::text").format(name)

    def literal(self, text: str) -> sql.Composable:
        """Return a value of it in SQL."""
        return sql.SQL("{}::{}").format(sql.Literal(text), sql.SQL(self.declared))

    def _digits(self) -> tuple[int, int]:
        packed = self.modifier - 4
        precision, scale = packed >> 16 & 0xFFFF, packed & 0x7FF
        return (precision, scale) if self.modifier > 0 and scale <= precision <= _DECIMAL[0] else _DECIMAL


@dataclass(frozen=True, slots=True)
class PostgresTable:
    """A table or view."""

    schema: str
    name: str
    columns: tuple[PostgresColumn, ...]
    keys: tuple[str, ...]

    def column(self, name: str) -> PostgresColumn | None:
        """Return the column of this name, however it is capitalised."""
        return next((each for each in self.columns if each.name.lower() == name.lower()), None)

    def query(self, since: Mapping[str, Any], offset: Sequence[str], limit: int | None = None) -> sql.Composable:
        """Return the query of the rows behind an offset, within a span."""
        conditions = [*self._span(since)]
        keys = [sql.Identifier(key) for key in self.keys]
        if offset and keys:
            literals = [self._key_column(key).literal(text) for key, text in zip(self.keys, offset, strict=True)]
            row, values = sql.SQL(", ").join(keys), sql.SQL(", ").join(literals)
            conditions.append(sql.SQL("({}) > ({})").format(row, values))
        parts: list[sql.Composable] = [
            sql.SQL("SELECT {} FROM {}").format(
                sql.SQL(", ").join(each.expression for each in self.columns), sql.Identifier(self.schema, self.name)
            )
        ]
        if conditions:
            parts.append(sql.SQL("WHERE {}").format(sql.SQL(" AND ").join(conditions)))
        if keys and limit is None:
            parts.append(sql.SQL("ORDER BY {}").format(sql.SQL(", ").join(keys)))
        if limit is not None:
            parts.append(sql.SQL("LIMIT {}").format(sql.Literal(limit)))
        return sql.SQL(" ").join(parts)

    def _span(self, since: Mapping[str, Any]) -> Iterator[sql.Composable]:
        column = self.column(str(since.get("field", "")))
        if column is None or column.type not in _COMPARED:
            return
        name = sql.Identifier(column.name)
        if since.get("value"):
            sign = sql.SQL(">=" if since.get("including") else ">")
            yield sql.SQL("{} {} {}").format(name, sign, column.literal(str(since["value"])))
        if since.get("until"):
            yield sql.SQL("{} < {}").format(name, column.literal(str(since["until"])))

    def _key_column(self, key: str) -> PostgresColumn:
        return next(each for each in self.columns if each.name == key)


@dataclass(frozen=True, slots=True)
class PostgresSource:
    """A database that a connection leads to."""

    settings: Mapping[str, Any]
    password: str = field(default="", repr=False)

    def streams(self) -> list[dict[str, Any]]:
        """Return its tables and views with their fields and keys."""
        with self.connect() as connection:
            return [_stream_json(name, table) for name, table in self._tables(connection).items()]

    def sample(self, stream: str, limit: int) -> dict[str, Any]:
        """Return fields and first rows of a table."""
        with self.connect(_SAMPLE_SECONDS) as connection:
            table = self.need_table(connection, stream)
            found = pa.Table.from_batches(_batches(connection, table, table.query({}, (), limit)), _schema(table))
        rows = [[_sample_value(value) for value in row.values()] for row in found.to_pylist()]
        return {**_stream_json(stream, table), "rows": rows}

    def need_table(self, connection: psycopg.Connection, stream: str) -> PostgresTable:
        """Return the table of a stream, or refuse if there is none."""
        tables = self._tables(connection)
        if stream not in tables:
            there = ", ".join(sorted(tables)[:20]) or "none"
            raise NotFoundError(f"There is no {quote(stream)} there.", f"It has: {there}.", field="stream")
        return tables[stream]

    def parts(
        self, connection: psycopg.Connection, table: PostgresTable, since: Mapping[str, Any], offset: Sequence[str]
    ) -> Iterator[StreamPart]:
        """Yield the parts of a table behind an offset; at least one, also if there is no row."""
        batches, schema = _batches(connection, table, table.query(since, offset)), _schema(table)
        for group in group_batches(batches, schema, may_be_empty=bool(offset)):
            yield StreamPart(group, _offset(table, group))

    @contextmanager
    def open(self, stream: str, since: Mapping[str, Any]) -> Iterator[OpenStream]:
        """Open a table in one snapshot."""
        with self.connect() as connection:
            table = self.need_table(connection, stream)
            yield OpenStream(bool(table.keys), partial(self.parts, connection, table, since))

    @contextmanager
    def connect(self, seconds: int = 0) -> Iterator[psycopg.Connection]:
        """Open a read-only transaction that sees one snapshot; with a limit for its statements, if one is given."""
        options = f"-c TimeZone=UTC -c DateStyle=ISO -c statement_timeout={seconds * 1000}"
        with closing(
            psycopg.connect(**self._parameters(), password=self.password, options=options, autocommit=True)
        ) as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield connection

    def _parameters(self) -> dict[str, Any]:
        address = str(self.settings["address"])
        parsed = parse_address(address)
        given = {**dict(parse_qsl(address.partition("?")[2])), **self.settings.get("properties", {})}
        values: dict[str, Any] = {
            "host": ",".join(host for host, _ in parsed.hosts),
            "port": ",".join(str(port or 5432) for _, port in parsed.hosts),
            "dbname": parsed.database,
            "user": self.settings.get("user") or None,
            "connect_timeout": _CONNECT_SECONDS,
            "application_name": given.get("ApplicationName", "lakehold gateway"),
            "client_encoding": "UTF8",
            # As JDBC has it: who asks for TLS gets a server whose certificate is verified.
            "sslmode": given.get("sslmode") or ("verify-full" if given.get("ssl", "false") != "false" else "prefer"),
            "gssencmode": "disable",
            # Passwords and keys of the gateway's machine are not for those who choose the address.
            "passfile": f"{os.devnull}/none",
            "sslcert": f"{os.devnull}/none",
        }
        return values

    def _tables(self, connection: psycopg.Connection) -> dict[str, PostgresTable]:
        found = connection.execute(_TABLES, {"schemas": list(self.settings.get("schemas", ()))}).fetchall()
        oids = [oid for _, oid, _, _ in found]
        columns: dict[int, list[PostgresColumn]] = {oid: [] for oid in oids}
        keys: dict[int, list[str]] = {oid: [] for oid in oids}
        for oid, *column in connection.execute(_COLUMNS, (oids,)):
            columns[oid].append(PostgresColumn(*column))
        for oid, name in connection.execute(_KEYS, (oids,)):
            keys[oid].append(name)
        return {
            stream: PostgresTable(schema, name, tuple(columns[oid]), tuple(keys[oid]))
            for stream, oid, schema, name in found
            if columns[oid]
        }


def _schema(table: PostgresTable) -> pa.Schema:
    return pa.schema([(each.name, each.types[0]) for each in table.columns])


def _batches(connection: psycopg.Connection, table: PostgresTable, query: sql.Composable) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a query in blocks, the next of which is read while one is parsed."""
    statement = sql.SQL("COPY ({}) TO STDOUT (FORMAT csv)").format(query).as_string(connection)
    output = CopyOutput(connection, statement.encode(connection.info.encoding))
    with ThreadPoolExecutor(1) as parser:
        before: Future[list[pa.RecordBatch]] | None = None
        while block := b"".join(output.read(_BLOCK_BYTES)):
            parsed = parser.submit(_parse_block, table, block)
            if before:
                yield from before.result()
            before = parsed
        if before:
            yield from before.result()


def _parse_block(table: PostgresTable, block: bytes) -> list[pa.RecordBatch]:
    """Return the rows of a block. It has whole rows, however long they are."""
    kinds = {str(n): pa.string() if each.type == "bytea" else each.types[0] for n, each in enumerate(table.columns)}
    convert = pa_csv.ConvertOptions(
        column_types=kinds,
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        true_values=["t"],
        false_values=["f"],
    )
    found = pa_csv.read_csv(
        pa.BufferReader(block),
        read_options=pa_csv.ReadOptions(column_names=list(kinds), block_size=len(block) + 1),
        # The row of a table with one column is an empty line, if that is NULL.
        parse_options=pa_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=convert,
    )
    return [
        pa.RecordBatch.from_arrays(
            [
                _bytes(values) if each.type == "bytea" else values
                for each, values in zip(table.columns, batch.columns, strict=True)
            ],
            schema=_schema(table),
        )
        for batch in found.to_batches()
    ]


def _bytes(values: pa.Array) -> pa.Array:
    return pa.array([None if each is None else bytes.fromhex(each) for each in values.to_pylist()], pa.binary())


def _offset(table: PostgresTable, batches: Sequence[pa.RecordBatch]) -> list[str]:
    """Return the key of the last row as texts; empty if there is no key or no row."""
    last = next((batch for batch in reversed(batches) if batch.num_rows), None)
    if last is None:
        return []
    return [_key_text(last.column(last.schema.get_field_index(key))[-1].as_py()) for key in table.keys]


def _key_text(value: object) -> str:
    match value:
        case datetime() | date():
            return value.isoformat()
        case bytes():
            return rf"\x{value.hex()}"
        case float():
            return repr(value)
        case _:
            return str(value)


def _sample_value(value: object) -> str | int | float | bool | None:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return value.hex() if isinstance(value, bytes) else str(value)


def _stream_json(name: str, table: PostgresTable) -> dict[str, Any]:
    fields = [{"name": each.name, "type": each.types[1]} for each in table.columns]
    return {"name": name, "fields": fields, "keys": list(table.keys)}
