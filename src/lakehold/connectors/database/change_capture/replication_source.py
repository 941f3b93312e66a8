"""A PostgreSQL database whose changes are captured: its slot and publication, what they need, and exported snapshots.

Changes are read by SQL functions on an ordinary connection. `peek` leaves the slot where it is; `advance` moves it.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from threading import Timer
from typing import Any

import psycopg
from psycopg import sql

from lakehold.connectors.database.change_capture.messages import format_lsn, parse_lsn
from lakehold.connectors.database.copy_output import CopyOutput
from lakehold.connectors.database.jdbc import JdbcDatabase
from lakehold.connectors.error_translation import shorten, source_error_of_state
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError, NotFoundError, UnavailableError
from lakehold.kit.jdbc_address import parse_address

_LABEL = "The database"
_TIMEOUT = 10
_OLDEST = 130_000
"""The first version whose publications have the changes of partitions as those of their table."""
_SESSION = {"bytea_output": "hex", "datestyle": "ISO", "timezone": "UTC", "intervalstyle": "postgres"}
"""How the plugin writes values: as JDBC reads them."""
_IN_USE, _UNKNOWN_OBJECT = "55006", "42704"

_TABLES = """
SELECT n.nspname || '.' || c.relname, c.oid::bigint, n.nspname, c.relname, c.relkind, c.relpersistence, c.relreplident,
  ARRAY(
    SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid
    WHERE i.indrelid = c.oid AND a.attnum = ANY((i.indkey::int2[])[0:i.indnkeyatts - 1])
      AND CASE c.relreplident WHEN 'i' THEN i.indisreplident ELSE i.indisprimary END ORDER BY a.attnum),
  (SELECT md5(string_agg(concat_ws(' ', a.attname, a.atttypid, a.atttypmod), ',' ORDER BY a.attnum))
    FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
  (SELECT min(a.attname::text) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attgenerated <> '')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname || '.' || c.relname = ANY(%s)
"""
_SLOT = """
SELECT confirmed_flush_lsn::text, coalesce(wal_status, ''),
  database = current_database() AND plugin = 'pgoutput',
  pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint, safe_wal_size
FROM pg_replication_slots WHERE slot_name = %s
"""
_PUBLISHED = "SELECT schemaname::text, tablename::text FROM pg_publication_tables WHERE pubname = %s"
_PUBLICATION = """
SELECT pubinsert AND pubupdate AND pubdelete AND pubtruncate AND pubviaroot AND NOT EXISTS (
  SELECT FROM pg_publication_rel r WHERE r.prpubid = p.oid
  -- Filters of rows and lists of columns; those came with version 15.
  AND coalesce(to_jsonb(r) ->> 'prqual', to_jsonb(r) ->> 'prattrs') IS NOT NULL)
FROM pg_publication p WHERE pubname = %s
"""
_IDENTITY = """
SELECT system_identifier || '/' || oid
FROM pg_control_system(), pg_database WHERE datname = current_database()
"""
_DROP_SLOT = "SELECT count(pg_drop_replication_slot(slot_name)) FROM pg_replication_slots WHERE slot_name = %s"
_PEEK = """
COPY (SELECT data FROM pg_logical_slot_peek_binary_changes(
  %s, %s::pg_lsn, %s, 'proto_version', '1', 'publication_names', %s)) TO STDOUT (FORMAT binary)
"""
_COPY_HEADER, _FIELD = 19, 6
"""The bytes before the first row, and those before the value of a row."""
_PEEK_BYTES = 1_000_000
_MAY_REPLICATE = """
SELECT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = current_user AND (r.rolsuper OR r.rolreplication))
  OR EXISTS (SELECT FROM pg_roles r WHERE r.rolname = 'rds_replication' AND pg_has_role(r.oid, 'MEMBER'))
"""


@dataclass(frozen=True, slots=True)
class CapturedTable:
    """A table of the database, as far as its changes are concerned."""

    stream: str
    id: int
    schema: str
    name: str
    identity: tuple[str, ...]
    """The columns by which the log names a row that is changed."""
    digest: str
    """Differs after each change of the columns."""


@dataclass(frozen=True, slots=True)
class SlotState:
    """The state of a replication slot."""

    confirmed: int
    """Up to where changes have been taken: those behind it are read next."""
    is_lost: bool
    """Whether the database has removed changes that were not read yet."""
    is_ours: bool
    """Whether it is of this database and plugin."""
    retained: int
    """The bytes of the log that the database keeps for it."""
    left: int | None
    """The bytes that can be written before the slot may be lost; None if it is kept whatever it takes."""


@dataclass(frozen=True)
class ReplicationSource:
    """An open connection to the database."""

    database: JdbcDatabase = field(repr=False)
    connection: psycopg.Connection = field(repr=False)

    def check(self) -> None:
        """Refuse a database or a user that changes cannot be captured with."""
        version = self.connection.info.server_version
        if version < _OLDEST:
            message = f"Changes are captured from PostgreSQL 13 and later; this one is {version // 10_000}."
            raise ConflictError(message, "Use another mode, or upgrade the database.", code="no_change_capture")
        level = self._value("SELECT current_setting('wal_level')")
        if level != "logical":
            message = f"The database does not log changes for logical decoding: its wal_level is {level}."
            hint = "Set wal_level = logical there and restart it, or use another mode."
            raise ConflictError(message, hint, code="no_change_capture")
        if not self._value(_MAY_REPLICATE):
            message = "The user of the connection may not read the log of changes."
            hint = "Give it there: ALTER ROLE … REPLICATION."
            raise ConflictError(message, hint, field="user", code="no_change_capture")

    def tables(self, keys: Mapping[str, Sequence[str]]) -> dict[str, CapturedTable]:
        """Return the tables by stream, or refuse one whose changes cannot be captured by its keys."""
        found: dict[str, CapturedTable] = {}
        for row in self._rows(_TABLES, list(keys)):
            stream, number, schema, name, kind, persistence, replica, identity, digest, generated = row
            _need_logged(stream, kind, persistence, generated)
            _need_identity(stream, replica, identity, keys[stream])
            found[stream] = CapturedTable(stream, number, schema, name, tuple(identity), digest or "")
        missing = next((each for each in keys if each not in found), None)
        if missing is not None:
            hint = "Correct the stream, or take the dataset out of the task."
            raise NotFoundError(f"The database has no table {missing}.", hint, field="datasets")
        return found

    @cached_property
    def identity(self) -> str:
        """The server and the database, whatever address leads to them."""
        return str(self._value(_IDENTITY))

    def published(self, name: str) -> set[tuple[str, str]] | None:
        """Return schema and name of the tables of a publication, or refuse one that leaves out some of their changes.

        None if there is none.
        """
        is_whole = self._value(_PUBLICATION, name)
        if is_whole is None:
            return None
        if not is_whole:
            message = f"The publication {name} of the database leaves out changes."
            options = "(publish = 'insert, update, delete, truncate', publish_via_partition_root = true)"
            hint = (
                f"ALTER PUBLICATION {name} SET {options}, without filters and lists of columns; then reload the task."
            )
            raise ConflictError(message, hint, code="slot_lost")
        return {(schema, table) for schema, table in self._rows(_PUBLISHED, name)}

    def publish(self, name: str, tables: Sequence[CapturedTable]) -> None:
        """Make the publication of these tables and no others, or alter it to be."""
        there = self.published(name)
        known = there is not None
        if there == {(each.schema, each.name) for each in tables}:
            return
        named = sql.SQL(", ").join(sql.Identifier(each.schema, each.name) for each in tables)
        verb = (
            "ALTER PUBLICATION {} SET TABLE {}"
            if known
            else "CREATE PUBLICATION {} FOR TABLE {} WITH (publish_via_partition_root = true)"
        )
        try:
            self.connection.execute(sql.SQL(verb).format(sql.Identifier(name), named))
        except psycopg.errors.InsufficientPrivilege as error:
            message = "The user of the connection may not publish the changes of the tables."
            hint = f"Let it own them and create in the database, or make the publication {name} of these tables there."
            raise ConflictError(message, hint, field="user", code="no_change_capture") from error
        except psycopg.Error as error:
            raise _error(error, self.database) from error

    def slot(self, name: str) -> SlotState | None:
        """Return the state of a slot; None if there is none."""
        row = next(iter(self._rows(_SLOT, name)), None)
        if row is None:
            return None
        confirmed, status, is_ours, retained, left = row
        lost = status == "lost" or confirmed is None
        return SlotState(parse_lsn(confirmed or "0/0"), lost, bool(is_ours), int(retained or 0), left)

    def create_slot(self, name: str) -> int:
        """Make a slot, and return from where on it has the changes."""
        text = self._value("SELECT lsn::text FROM pg_create_logical_replication_slot(%s, 'pgoutput')", name)
        return parse_lsn(text)

    def drop_slot(self, name: str) -> None:
        """Drop a slot, if there is one."""
        self._value(_DROP_SLOT, name)

    def drop_publication(self, name: str) -> None:
        """Drop a publication, if there is one."""
        with _translated(self.database):
            self.connection.execute(sql.SQL("DROP PUBLICATION IF EXISTS {}").format(sql.Identifier(name)))

    def end_of_log(self) -> int:
        """Return the end of the log, up to which it is safe on the server's disk."""
        return parse_lsn(self._value("SELECT pg_current_wal_flush_lsn()::text"))

    def peek(self, slot: str, publication: str, until: int, most: int) -> Iterator[bytes]:
        """Yield the messages of whole transactions up to a position, until there are that many."""
        values = (slot, format_lsn(until), most, publication)
        statement = psycopg.ClientCursor(self.connection).mogrify(_PEEK, values)
        with _translated(self.database):
            output = CopyOutput(self.connection, statement.encode())
            at = _COPY_HEADER
            while rows := output.read(_PEEK_BYTES):
                for row in rows:
                    # A row has one field, behind the number of fields and the length; the last one has none.
                    if len(row) > at + _FIELD:
                        yield row[at + _FIELD :]
                    at = 0

    def advance(self, slot: str, to: int) -> None:
        """Move a slot on: the database may forget the changes before."""
        self._value("SELECT end_lsn::text FROM pg_replication_slot_advance(%s, %s::pg_lsn)", slot, format_lsn(to))

    @contextmanager
    def export_snapshot(self, name: str) -> Iterator[tuple[str, int]]:
        """Yield the name of a snapshot that is there meanwhile, and its position: all changes behind it are in the log.

        A temporary slot exports it, which is gone afterwards.
        """
        query = sql.SQL("CREATE_REPLICATION_SLOT {} TEMPORARY LOGICAL pgoutput EXPORT_SNAPSHOT")
        with _connect(self.database, replication="database") as other, _translated(self.database):
            row = other.execute(query.format(sql.Identifier(name))).fetchone()
            assert row is not None  # noqa: S101 - the server answers so
            yield str(row[2]), parse_lsn(str(row[1]))

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with _translated(self.database):
            return self.connection.execute(query.encode(), values).fetchall()

    def _value(self, query: str, *values: object) -> Any:  # noqa: ANN401 - as the database has it
        row = next(iter(self._rows(query, *values)), None)
        return row[0] if row else None


def _need_logged(stream: str, kind: str, persistence: str, generated: str | None) -> None:
    if generated is not None:
        message = f"{stream} has the generated column {generated}, whose values are not in the log of changes."
        raise ConflictError(message, "Use another mode for it.", field="datasets", code="no_change_capture")
    if kind not in {"r", "p"}:
        message = f"{stream} is no table, so the database logs no changes of it."
        raise ConflictError(message, "Use another mode for it.", field="datasets", code="no_change_capture")
    if persistence != "p":
        message = f"{stream} is an unlogged or temporary table, so the database logs no changes of it."
        raise ConflictError(message, "Use another mode for it.", field="datasets", code="no_change_capture")


def _need_identity(stream: str, replica: str, identity: Sequence[str], keys: Sequence[str]) -> None:
    """Refuse a table whose rows the log does not name by these keys."""
    if not identity or replica == "n":
        message = f"{stream} has no primary key or replica identity, so the log does not say which row is changed."
        hint = "Add a primary key there, or ALTER TABLE … REPLICA IDENTITY USING INDEX …; or use another mode."
        raise ConflictError(message, hint, field="datasets", code="no_change_capture")
    if set(identity) != set(keys):
        message = f"The log names the rows of {stream} by {', '.join(identity)}, and not by {', '.join(keys)}."
        hint = f"Set its keys to {', '.join(identity)}."
        raise ConflictError(message, hint, field="datasets", code="no_change_capture")


@contextmanager
def open_replication_source(database: JdbcDatabase, seconds: float = 0) -> Iterator[ReplicationSource]:
    """Connect to the database; for so many seconds at most, if they are given."""
    if not database.is_postgresql:
        message = "Changes are captured from PostgreSQL only."
        raise InvalidInputError(message, "Use another mode for other databases.", field="datasets")
    with _connect(database) as connection, _cut_after(connection, seconds):
        with _translated(database):
            for name, value in _SESSION.items():
                connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        yield ReplicationSource(database, connection)


@contextmanager
def _cut_after(connection: psycopg.Connection, seconds: float) -> Iterator[None]:
    """Cut a connection after some time, whatever its server does or leaves undone."""

    def cut() -> None:
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as end:
            end.shutdown(socket.SHUT_RDWR)

    timer = Timer(seconds, cut)
    timer.daemon = True
    if seconds:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def _connect(database: JdbcDatabase, **more: str) -> Iterator[psycopg.Connection]:
    address = parse_address(database.url)
    given = {**database.properties, **database.fixed}
    mode = given.get("sslmode") or ("verify-full" if given.get("ssl", "false") != "false" else "prefer")
    options: dict[str, Any] = {
        "host": ",".join(host for host, _ in address.hosts),
        "port": ",".join(str(port) for _, port in address.hosts),
        "dbname": address.database,
        "connect_timeout": str(_TIMEOUT),
        "application_name": "lakehold",
        "client_encoding": "UTF8",
        "sslmode": mode,
        "gssencmode": "disable",
        # Secrets of the machine are not for those who choose the address.
        "passfile": f"{os.devnull}/none",
    }
    options |= {name: value for name, value in (("user", database.user), ("password", database.password)) if value}
    with _translated(database):
        connection = psycopg.connect(**{**options, **more}, autocommit=True)
    with connection:
        yield connection


@contextmanager
def _translated(database: JdbcDatabase) -> Iterator[None]:
    """Translate errors of the database, with its secrets redacted."""
    try:
        yield
    except psycopg.Error as error:
        raise _error(error, database) from error


def _error(error: psycopg.Error, database: JdbcDatabase) -> LakeholdError:
    said = shorten(error.diag.message_primary or str(error), *database.redactions)
    state = error.sqlstate or ""
    if state == _UNKNOWN_OBJECT and not error.diag.statement_position:
        message = f"Changes cannot be captured any more: its publication or slot was dropped. {said}"
        return ConflictError(message, "Reload the task.", code="slot_lost", foreign=said)
    if state == _IN_USE:
        message = f"Another process is reading the changes: {said}"
        return UnavailableError(message, "Wait until it has ended, then run it again.", foreign=said)
    if not state and isinstance(error, psycopg.OperationalError):
        message, hint = f"{_LABEL} cannot be reached: {said}", "Check host, port, user and network."
        return UnavailableError(message, hint, field="address", foreign=said)
    return source_error_of_state(state, said, _LABEL)
