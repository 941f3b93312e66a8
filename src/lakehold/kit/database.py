"""SQLite or PostgreSQL behind one URL. One request or one run step is one transaction, committed at the edge.

Inside a transaction everything is read from one snapshot: PostgreSQL runs repeatable read, SQLite reads its
write-ahead log. A SQLite writer begins immediate, so that it waits for its turn instead of failing half-way. On
PostgreSQL a writer may take a named advisory lock: it is held before the snapshot is taken, so that the writer sees
what the previous holder of the lock wrote.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.resources import as_file, files
from typing import Any, Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TEXT
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from lakehold.kit.errors import BusyError, InvalidInputError

metadata = sa.MetaData()
T = TypeVar("T")

# Compared and sorted byte by byte, in both databases alike.
ExactText = sa.Text().with_variant(TEXT(collation="C"), "postgresql")
IdType = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

_RETRY = {"40001", "40P01", "55P03", "23505"}
_PRIMARY_CODE = 0xFF
_DUPLICATES = {
    sqlite3.SQLITE_CONSTRAINT_UNIQUE,
    sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
    sqlite3.SQLITE_CONSTRAINT_ROWID,
}
_DRIVERS = {"sqlite": "sqlite+pysqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}


@dataclass(slots=True)
class Transaction:
    """The transaction of one request or run step. Stores never commit; the edge does."""

    connection: sa.Connection
    writes: bool
    lock_name: str | None = None
    """The lock that this writer holds: until it ends, no other writer gets the same lock."""
    before_commit: list[Callable[[], object]] = field(default_factory=list)
    after_commit: list[Callable[[], object]] = field(default_factory=list)
    """Hooks for what cannot be rolled back, such as removing a file. They run after the commit."""

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self.connection.dialect.name


@dataclass(frozen=True, slots=True)
class CursorPage(Generic[T]):
    """A page of a list, with the cursor of the next page; None after the last."""

    items: list[T]
    after: str | None


@dataclass(frozen=True, slots=True)
class TenantRows:
    """The rows of a table that belong to one tenant: no statement is without its number."""

    transaction: Transaction
    tenant: int
    table: sa.Table

    def select(
        self,
        *which: sa.ColumnElement[bool],
        columns: Sequence[sa.ColumnElement[Any]] = (),
        order_by: Sequence[sa.ColumnElement[Any]] = (),
        limit: int | None = None,
    ) -> sa.CursorResult[*tuple[Any, ...]]:
        """Return the matching rows, with some of their columns or all."""
        query = sa.select(*columns or self.table.columns).where(self.table.c.tenant_id == self.tenant, *which)
        return self.transaction.connection.execute(query.order_by(*order_by).limit(limit))

    def insert(self, **values: object) -> int | str:
        """Insert a row, and return the first column of its key."""
        statement = self.table.insert().values(tenant_id=self.tenant, **values)
        key = self.transaction.connection.execute(statement).inserted_primary_key
        assert key is not None  # noqa: S101 - every table has a key
        return key[0]  # type: ignore[no-any-return]

    def update(self, *which: sa.ColumnElement[bool], **values: object) -> int:
        """Update the matching rows, and return their number."""
        statement = self.table.update().where(self.table.c.tenant_id == self.tenant, *which).values(**values)
        return self.transaction.connection.execute(statement).rowcount

    def delete(self, *which: sa.ColumnElement[bool]) -> int:
        """Delete the matching rows, and return their number."""
        statement = self.table.delete().where(self.table.c.tenant_id == self.tenant, *which)
        return self.transaction.connection.execute(statement).rowcount


class Database:
    """A database by its URL: `sqlite:///lakehold.sqlite` or `postgresql://user@host/name`."""

    def __init__(self, url: str) -> None:
        self.url = _with_driver(url)
        if self.url.get_backend_name() == "sqlite":
            self._engine = sa.create_engine(self.url, connect_args={"timeout": 30, "check_same_thread": False})
            sa.event.listen(self._engine, "connect", _prepare_sqlite)
            sa.event.listen(self._engine, "begin", _begin_sqlite)
        else:
            self._engine = sa.create_engine(self.url, isolation_level="REPEATABLE READ")

    def migrate(self, to: str = "head") -> None:
        """Upgrade the tables to the head or to a revision. Of several processes that start at once, one does it."""
        import alembic.command  # noqa: PLC0415 - a third of a second, of which most commands need nothing
        import alembic.config  # noqa: PLC0415

        with as_file(files("lakehold") / "migrations") as folder:
            config = alembic.config.Config()
            config.set_main_option("script_location", str(folder).replace("%", "%%"))
            writing = self._engine.connect().execution_options(lakehold_writes=True)
            with writing as connection, self._advisory_lock(connection, "migrate"), connection.begin():
                config.attributes["connection"] = connection
                alembic.command.upgrade(config, to)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Open a read-only transaction."""
        options = {"postgresql_readonly": True} if self._engine.dialect.name == "postgresql" else {}
        with self._engine.connect().execution_options(**options) as connection, connection.begin():
            yield Transaction(connection, writes=False)

    @contextmanager
    def write(self, lock_name: str | None = None) -> Iterator[Transaction]:
        """Open a transaction that is committed at the end, or rolled back on an error."""
        with self._engine.connect().execution_options(lakehold_writes=True) as connection:
            try:
                with self._advisory_lock(connection, lock_name), connection.begin():
                    transaction = Transaction(connection, writes=True, lock_name=lock_name)
                    yield transaction
                    for hook in transaction.before_commit:
                        hook()
            except sa.exc.DBAPIError as error:
                if _is_conflict(error):
                    raise BusyError(
                        "Somebody else changed the same thing at the same moment; nothing was written.", "Try again."
                    ) from error
                raise
        for hook in transaction.after_commit:
            hook()

    @contextmanager
    def _advisory_lock(self, connection: sa.Connection, lock_name: str | None) -> Iterator[None]:
        if lock_name is None or connection.dialect.name == "sqlite":
            yield
            return
        lock = int.from_bytes(sha256(lock_name.encode()).digest()[:8], signed=True)
        _execute_outside_transaction(connection, "SELECT pg_advisory_lock(%(lock)s)", lock)
        try:
            yield
        finally:
            if not connection.invalidated:
                _execute_outside_transaction(connection, "SELECT pg_advisory_unlock(%(lock)s)", lock)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def _execute_outside_transaction(connection: sa.Connection, statement: str, lock: int) -> None:
    """Execute a statement outside of the transaction, whose snapshot would be older than the lock."""
    driver = connection.connection.driver_connection
    assert driver is not None  # noqa: S101 - the connection is open
    driver.autocommit = True
    try:
        driver.execute(statement.encode(), {"lock": lock})
    finally:
        driver.autocommit = False


def _with_driver(text: str) -> sa.URL:
    try:
        url = sa.make_url(text)
    except sa.exc.ArgumentError as error:
        raise InvalidInputError(
            "The database URL cannot be read.", "Write sqlite:///file or postgresql://user@host/name."
        ) from error
    if url.get_backend_name() not in _DRIVERS:
        raise InvalidInputError(f"{url.get_backend_name()} is not supported.", "Use sqlite or postgresql.")
    return url.set(drivername=_DRIVERS[url.get_backend_name()])


def _is_conflict(error: sa.exc.DBAPIError) -> bool:
    """Return whether another transaction was in the way: by the SQLSTATE, or by SQLite's result code."""
    if getattr(error.orig, "sqlstate", None) in _RETRY:
        return True
    code = getattr(error.orig, "sqlite_errorcode", sqlite3.SQLITE_OK)
    # Why it is busy (a snapshot that is too old, a recovery) is in the higher bits.
    return code & _PRIMARY_CODE == sqlite3.SQLITE_BUSY or code in _DUPLICATES


def _prepare_sqlite(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    # The driver's own transactions begin too late and too weak; ours are begun below.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "cache_size=-65536", "temp_store=2"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("lakehold_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
