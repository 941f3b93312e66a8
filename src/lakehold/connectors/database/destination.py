"""Delivers rows into a table of a database, exactly once.

Spark writes them in parallel into a staging table. One transaction then moves them over and stores the mark in
`lakehold_deliveries` (mark, target, at, rows): readers see all of it or nothing, and a repeated step finds the mark and
does nothing. A missing table is created, empty at first, before that transaction.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StringType, StructType, TimestampType

from lakehold.connectors.database import target_table
from lakehold.connectors.database.jdbc import JdbcConnection, JdbcDatabase, connect, open_database
from lakehold.connectors.database.settings import DatabaseDestinationSettings, DeliveryMode
from lakehold.connectors.database.target_table import TargetTable, table_columns
from lakehold.connectors.destinations.delivery import DeliveryRequest, DeliveryResult, Destination, mark_digest
from lakehold.connectors.destinations.file_formats import refuse_invalid_fields, to_flat_types
from lakehold.connectors.error_translation import sql_state, translate_delivery_errors
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.kit.errors import ConflictError, InvalidInputError, at_field
from lakehold.kit.ids import valid_name
from lakehold.lake.errors import DataError

_NO_INDEX = "42P10"
_MAX_MARK_LENGTH = 255
_OWN_TABLE_MARK = "ours"
"""The mark of a table that was made here."""


@dataclass(frozen=True, slots=True)
class JdbcDestination:
    """The table that rows are delivered to, and how."""

    database: JdbcDatabase
    table: str
    schema: str = ""
    """Without one: the schema that the database takes by itself."""
    mode: DeliveryMode = DeliveryMode.APPEND
    keys: tuple[str, ...] = ()
    only_own: bool = False
    """Whether a table that is there and was not made so is left as it is."""
    at_once: int = 4
    """How many connections write into the staging table."""

    @property
    def name(self) -> str:
        """Name of the table for messages."""
        return ".".join(filter(None, (self.schema, self.table)))

    def check(self) -> None:
        """Refuse options that cannot be delivered."""
        self.database.check()
        with at_field("table"):
            valid_name(self.table, "name of a table")
        if self.schema:
            with at_field("schema"):
                valid_name(self.schema, "name of a schema")
        if self.mode is DeliveryMode.UPSERT and not self.keys:
            hint = "Name the key fields."
            raise InvalidInputError("To upsert rows, keys are needed.", hint, field="keys")


def deliver_rows(rows: DataFrame, how: JdbcDestination, mark: str) -> DeliveryResult:
    """Deliver the rows into the table, once for each mark."""
    how.check()
    key = mark if len(mark) <= _MAX_MARK_LENGTH else mark_digest(mark)
    flat = to_flat_types(refuse_invalid_fields(rows), binary=True)
    with (
        connect(rows.sparkSession, how.database) as connection,
        translate_delivery_errors(f"The table {how.name}", how.database.password),
    ):
        if not connection.java.getMetaData().supportsTransactions():
            raise ConflictError("This database has no transactions.", "Deliver a file instead.")
        receipts = _receipts_table(connection, how)
        own = connection.quote_identifier(how.schema, f"lakehold_{mark_digest(mark, how.name)}")
        done = _delivered_rows(connection, receipts, key, how.name)
        if done is not None:
            # Who died behind the transaction has left it.
            target_table.drop_staging(connection, own)
            return DeliveryResult(done, 0, (how.name,), again=True)
        if how.only_own:
            _claim_table(connection, receipts, how)
        target = _target_table(connection, flat, how, receipts, own)
        try:
            target_table.fill_staging(connection, flat, target, how.database, how.at_once)
            if how.mode is DeliveryMode.UPSERT:
                target_table.refuse_staged_duplicates(connection, target, how.keys)
            count = _move_rows(connection, target, how, key)
        finally:
            target_table.drop_staging(connection, own)
    return DeliveryResult(count, 0, (how.name,))


def _receipts_table(connection: JdbcConnection, how: JdbcDestination) -> str:
    """Return the table of receipts, created if it does not exist."""
    full = connection.quote_identifier(how.schema, target_table.RECEIPTS_TABLE)
    if table_columns(connection, full) is None:
        mark, target, at, rows = (connection.quote_identifier(name) for name in ("mark", "target", "at", "rows"))
        text = f"VARCHAR({_MAX_MARK_LENGTH}) NOT NULL"
        columns = f"{at} {connection.sql_type(TimestampType())}, {rows} {connection.sql_type(LongType())}"
        statement = f"CREATE TABLE {full} ({mark} {text}, {target} {text}, {columns}, PRIMARY KEY ({mark}, {target}))"
        target_table.create_table(connection, full, statement)
    return full


def _claim_table(connection: JdbcConnection, receipts: str, how: JdbcDestination) -> None:
    """Refuse to replace a table that was not made here. The claim is stored first, to be found again after a crash."""
    if _delivered_rows(connection, receipts, _OWN_TABLE_MARK, how.name) is not None:
        return
    if table_columns(connection, connection.quote_identifier(how.schema, how.table)) is not None:
        message = f"There is a table {how.name} already, which was not created by Lakehold."
        raise ConflictError(message, "Choose another name.")
    _insert_receipt(connection, receipts, _OWN_TABLE_MARK, how.name, 0)


def _insert_receipt(connection: JdbcConnection, receipts: str, mark: str, target: str, rows: int) -> None:
    connection.execute(f"INSERT INTO {receipts} VALUES (?, ?, CURRENT_TIMESTAMP, ?)", mark, target, rows)  # noqa: S608 - quoted


def _delivered_rows(connection: JdbcConnection, receipts: str, mark: str, target: str) -> int | None:
    """Return how many rows this delivery has delivered already; None if it has not been done."""
    rows, at, to = (connection.quote_identifier(name) for name in ("rows", "mark", "target"))
    statement = f"SELECT {rows} FROM {receipts} WHERE {at} = ? AND {to} = ?"  # noqa: S608 - quoted
    with connection.query(statement, mark, target) as answer:
        return int(answer.getLong(1)) if answer.next() else None


def _target_table(
    connection: JdbcConnection, rows: DataFrame, how: JdbcDestination, receipts: str, own: str
) -> TargetTable:
    """Return the table, created if it does not exist, with the columns of the fields."""
    full = connection.quote_identifier(how.schema, how.table)
    columns = table_columns(connection, full)
    if columns is None:
        target_table.create_table(connection, full, _create_statement(connection, rows.schema, how, full))
        names = tuple(rows.columns)
    else:
        names = target_table.match_columns(rows.schema, columns, how.name)
    by_field = {field.lower(): name for field, name in zip(rows.columns, names, strict=True)}
    for key in how.keys:
        if key.lower() not in by_field:
            there = f"They have: {', '.join(rows.columns)}."
            raise DataError(f"The key {key!r} is not a field of the rows.", there, field="keys")
    return TargetTable(
        connection.quote_identifier(how.table),
        full,
        own,
        receipts,
        tuple(connection.quote_identifier(name) for name in names),
        tuple(connection.quote_identifier(by_field[field.lower()]) for field in how.keys),
    )


def _create_statement(connection: JdbcConnection, fields: StructType, how: JdbcDestination, full: str) -> str:
    keys = {key.lower() for key in how.keys} if how.mode is DeliveryMode.UPSERT else set()
    parts = [
        f"{connection.quote_identifier(field.name)} {connection.sql_type(field.dataType)}"
        + (" NOT NULL" if field.name.lower() in keys else "")
        for field in fields.fields
    ]
    named = [field for field in fields.fields if field.name.lower() in keys]
    # Not every database can have a text of any length as a key.
    if named and (how.database.is_postgresql or not any(isinstance(field.dataType, StringType) for field in named)):
        parts.append(f"PRIMARY KEY ({', '.join(connection.quote_identifier(field.name) for field in named)})")
    return f"CREATE TABLE {full} ({', '.join(parts)})"


def _move_rows(connection: JdbcConnection, target: TargetTable, how: JdbcDestination, mark: str) -> int:
    """Move the rows over and store the receipt, in one transaction."""
    count = target_table.query_number(connection, f"SELECT COUNT(*) FROM {target.staging}")  # noqa: S608 - quoted
    try:
        with connection.transaction():
            # First of all: of two that do the same at once, the second one fails here.
            _insert_receipt(connection, target.receipts, mark, how.name, count)
            for statement in _statements(target, how):
                connection.execute(statement)
    except Py4JError as error:
        if sql_state(error) == _NO_INDEX:
            message = f"The table {how.name} has no unique index over {', '.join(how.keys)}."
            raise DataError(message, "Make one there, or choose the keys that it has.") from error
        raise
    return count


def _statements(target: TargetTable, how: JdbcDestination) -> Iterator[str]:
    return target.statements(how.mode, postgresql=how.database.is_postgresql)


def open_destination(
    environment: ConnectorEnvironment, settings: DatabaseDestinationSettings, request: DeliveryRequest
) -> Destination:
    """Open the database for one table."""
    table = "_".join(filter(None, (settings.table, request.table))) or "rows"
    database = open_database(environment, settings)
    to = JdbcDestination(database, table, settings.schema_name, settings.mode, settings.keys)

    def check() -> str:
        to.check()
        with connect(SparkSession.active(), to.database):
            return "Connection successful."

    return Destination(check, lambda rows: deliver_rows(rows, to, request.mark))
