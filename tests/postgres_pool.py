"""PostgreSQL databases that one test uses after another: to put rows back takes a fraction of a new copy's time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg
from psycopg import sql

from tests.postgres import Server

_TABLES = """SELECT schemaname, tablename FROM pg_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"""
_SEQUENCES = "SELECT seqrelid::regclass::text FROM pg_sequence ORDER BY 1"
_SHAPE = """SELECT md5(concat(
    (SELECT array_agg((oid, relname, relnatts, relnamespace) ORDER BY oid) FROM pg_class WHERE oid >= 16384),
    (SELECT array_agg(nspname ORDER BY oid) FROM pg_namespace),
    (SELECT array_agg(conname ORDER BY oid) FROM pg_constraint),
    (SELECT count(*) FROM pg_proc), (SELECT count(*) FROM pg_trigger)))"""

Connection = psycopg.Connection[tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class TemplateContent:
    """What is in a template: its shape, rows and sequences."""

    shape: object
    tables: list[sql.Identifier]
    rows: list[tuple[sql.Identifier, bytes]]
    """Of the tables that have any, as COPY writes them."""
    sequences: list[tuple[object, ...]]

    @classmethod
    def read(cls, connection: Connection) -> TemplateContent:
        """Read it from the template."""
        tables = [sql.Identifier(*map(str, row)) for row in connection.execute(_TABLES)]
        sequences = []
        for (name,) in connection.execute(_SEQUENCES).fetchall():
            state = connection.execute(f"SELECT last_value, is_called FROM {name}".encode()).fetchone()
            sequences.append((name, *(state or ())))
        rows = [(table, _read_rows(connection, table)) for table in tables if _has_rows(connection, table)]
        return cls(_shape(connection), tables, rows, sequences)

    def restore(self, connection: Connection) -> bool:
        """Put it in place of what a test has left; return False if the test has rebuilt the database."""
        if _shape(connection) != self.shape:
            return False
        with connection.transaction():
            connection.execute("SET LOCAL session_replication_role = replica")
            connection.execute(sql.SQL(";").join(sql.SQL("DELETE FROM {}").format(table) for table in self.tables))
            for table, rows in self.rows:
                with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN (FORMAT binary)").format(table)) as copy:
                    copy.write(rows)
            for sequence in self.sequences:
                connection.execute("SELECT setval(%s, %s, %s)", sequence)
        return True


def _shape(connection: Connection) -> object:
    return connection.execute(_SHAPE).fetchone()


def _has_rows(connection: Connection, table: sql.Identifier) -> bool:
    return connection.execute(sql.SQL("SELECT FROM {} LIMIT 1").format(table)).fetchone() is not None


def _read_rows(connection: Connection, table: sql.Identifier) -> bytes:
    with connection.cursor().copy(sql.SQL("COPY {} TO STDOUT (FORMAT binary)").format(table)) as copy:
        return b"".join(bytes(part) for part in copy)


@dataclass(slots=True)
class DatabasePool:
    """Databases like a template, each for one test at a time."""

    server: Server
    template: str
    _content: TemplateContent | None = None
    _idle: list[str] = field(default_factory=list)

    @contextmanager
    def lend(self) -> Iterator[str]:
        """Yield the URL of a database."""
        content = self._template_content()
        name = self._idle.pop() if self._idle else self.server.create(self.template)
        yield self.server.url(name)
        name = self.server.rename(name)
        with self._connect(name) as connection:
            is_restored = content.restore(connection)
        if is_restored:
            self._idle.append(name)
        else:
            self.server.drop(name)

    def _template_content(self) -> TemplateContent:
        if self._content is None:
            # The connection is closed again: nobody may use a template while it is copied.
            with self._connect(self.template) as connection:
                self._content = TemplateContent.read(connection)
        return self._content

    def _connect(self, name: str) -> Connection:
        return psycopg.connect(self.server.url(name), autocommit=True)
