"""Rows into a table of a database, exactly once.

Spark writes them in parallel into a staging table beside it. One transaction then moves them over and notes the mark in
`lakehold_deliveries` (mark, target, at, rows): whoever reads sees all of it or nothing, and a step that is run again
finds the mark and does nothing. A table that is missing is made, empty at first, before that transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StringType, StructType, TimestampType

from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import valid_name
from lakehold.pipeline.connectors.outward import staging
from lakehold.pipeline.connectors.outward.database import Connection, Database, connected
from lakehold.pipeline.connectors.outward.delivered import Delivered, digest
from lakehold.pipeline.connectors.outward.fitting import columns_of, fitted
from lakehold.pipeline.connectors.outward.plain import checked, plain
from lakehold.pipeline.connectors.outward.target import RECEIPTS, Target, qualified
from lakehold.pipeline.connectors.outward.trouble import sql_state, told
from lakehold.pipeline.errors import DataError

_NO_INDEX = "42P10"
_LONGEST = 255
_OURS = "ours"
"""The mark of a table that was made here."""


class Into(StrEnum):
    """What becomes of the rows that are there."""

    APPEND = "append"
    OVERWRITE = "overwrite"
    UPSERT = "upsert"
    """Those with the same keys are changed."""


@dataclass(frozen=True, slots=True)
class Jdbc:
    """Where the rows go."""

    database: Database
    table: str
    schema: str = ""
    """Without one: the schema that the database takes by itself."""
    into: Into = Into.APPEND
    keys: tuple[str, ...] = ()
    ours: bool = False
    """Whether a table that is there and was not made so is left as it is."""
    at_once: int = 4
    """How many connections write into the staging table."""

    @property
    def name(self) -> str:
        """The table as people say it."""
        return ".".join(filter(None, (self.schema, self.table)))

    def check(self) -> None:
        """Refuse what cannot be delivered."""
        self.database.check()
        valid_name(self.table, "name of a table")
        if self.schema:
            valid_name(self.schema, "name of a schema")
        if self.into is Into.UPSERT and not self.keys:
            raise InvalidInputError(
                "To change rows, their keys must be known.", "Name the fields that tell them apart."
            )
        if self.at_once < 1:
            raise InvalidInputError("At least one connection is needed.")


def try_out(how: Jdbc) -> None:
    """Connect, and leave it at that."""
    how.check()
    with connected(SparkSession.active(), how.database):
        pass


def deliver(rows: DataFrame, how: Jdbc, mark: str) -> Delivered:
    """Put the rows into the table, once for each mark."""
    how.check()
    key = mark if len(mark) <= _LONGEST else digest(mark)
    flat = plain(checked(rows), binary=True)
    with connected(rows.sparkSession, how.database) as connection, told(f"The table {how.name}", how.database.password):
        if not connection.has_transactions:
            raise ConflictError("This database has no transactions.", "Deliver a file instead.")
        receipts = _receipts(connection, how)
        own = qualified(connection, how.schema, f"lakehold_{digest(mark, how.name)}")
        done = _done(connection, receipts, key, how.name)
        if done is not None:
            # Who died behind the transaction has left it.
            staging.drop(connection, own)
            return Delivered(done, 0, (how.name,), again=True)
        if how.ours:
            _claim(connection, receipts, how)
        target = _target(connection, flat, how, receipts, own)
        try:
            staging.fill(connection, flat, target, how.database, how.at_once)
            if how.into is Into.UPSERT:
                staging.refuse_doubles(connection, target, how.keys)
            count = _moved(connection, target, how, key)
        finally:
            staging.drop(connection, own)
    return Delivered(count, 0, (how.name,))


def _receipts(connection: Connection, how: Jdbc) -> str:
    """The table of what has arrived, made if it is not there."""
    full = qualified(connection, how.schema, RECEIPTS)
    if columns_of(connection, full) is None:
        mark, target, at, rows = (connection.quoted(name) for name in ("mark", "target", "at", "rows"))
        text = f"VARCHAR({_LONGEST}) NOT NULL"
        staging.make(
            connection,
            full,
            f"CREATE TABLE {full} ({mark} {text}, {target} {text}, {at} {connection.type_of(TimestampType())},"
            f" {rows} {connection.type_of(LongType())}, PRIMARY KEY ({mark}, {target}))",
        )
    return full


def _claim(connection: Connection, receipts: str, how: Jdbc) -> None:
    """A table that is there and was not made here is left alone. Noted before it is made: whoever dies in between
    finds it again as ours.
    """
    if _done(connection, receipts, _OURS, how.name) is not None:
        return
    if columns_of(connection, qualified(connection, how.schema, how.table)) is not None:
        raise ConflictError(
            f"There is a table {how.name} already, and it is not ours to replace.", "Choose another name."
        )
    _note(connection, receipts, _OURS, how.name, 0)


def _note(connection: Connection, receipts: str, mark: str, target: str, rows: int) -> None:
    connection.run(f"INSERT INTO {receipts} VALUES (?, ?, CURRENT_TIMESTAMP, ?)", mark, target, rows)  # noqa: S608 - quoted


def _done(connection: Connection, receipts: str, mark: str, target: str) -> int | None:
    """How many rows this delivery has brought already."""
    rows, where = connection.quoted("rows"), f"{connection.quoted('mark')} = ? AND {connection.quoted('target')} = ?"
    with connection.asked(f"SELECT {rows} FROM {receipts} WHERE {where}", mark, target) as answer:  # noqa: S608 - quoted
        return int(answer.getLong(1)) if answer.next() else None


def _target(connection: Connection, rows: DataFrame, how: Jdbc, receipts: str, own: str) -> Target:
    """The table, made if it is not there; its columns are those of the fields."""
    full = qualified(connection, how.schema, how.table)
    columns = columns_of(connection, full)
    if columns is None:
        staging.make(connection, full, _create(connection, rows.schema, how, full))
        names = tuple(rows.columns)
    else:
        names = fitted(rows.schema, columns, how.name)
    by_field = {field.lower(): name for field, name in zip(rows.columns, names, strict=True)}
    return Target(
        connection.quoted(how.table),
        full,
        own,
        receipts,
        tuple(connection.quoted(name) for name in names),
        tuple(connection.quoted(by_field[field.lower()]) for field in _keys(rows, how)),
    )


def _keys(rows: DataFrame, how: Jdbc) -> tuple[str, ...]:
    there = {name.lower() for name in rows.columns}
    for key in how.keys:
        if key.lower() not in there:
            raise DataError(f"The key {key!r} is no field of the rows.", f"They have: {', '.join(rows.columns)}.")
    return how.keys


def _create(connection: Connection, fields: StructType, how: Jdbc, full: str) -> str:
    keys = {key.lower() for key in _keys_of(how)}
    parts = [
        f"{connection.quoted(field.name)} {connection.type_of(field.dataType)}"
        + (" NOT NULL" if field.name.lower() in keys else "")
        for field in fields.fields
    ]
    named = [field for field in fields.fields if field.name.lower() in keys]
    # Not every database can have a text of any length as a key.
    if named and (how.database.is_postgresql or not any(isinstance(field.dataType, StringType) for field in named)):
        parts.append(f"PRIMARY KEY ({', '.join(connection.quoted(field.name) for field in named)})")
    return f"CREATE TABLE {full} ({', '.join(parts)})"


def _keys_of(how: Jdbc) -> tuple[str, ...]:
    return how.keys if how.into is Into.UPSERT else ()


def _moved(connection: Connection, target: Target, how: Jdbc, mark: str) -> int:
    """Move the rows over, and note that it was done."""
    count = staging.count(connection, target)
    try:
        with connection.transaction():
            # First of all: of two that do the same at once, the second one fails here.
            _note(connection, target.receipts, mark, how.name, count)
            for statement in _statements(target, how):
                connection.run(statement)
    except Py4JError as error:
        if sql_state(error) == _NO_INDEX:
            raise DataError(
                f"The table {how.name} has no unique index over {', '.join(how.keys)}.",
                "Make one there, or choose the keys that it has.",
            ) from error
        raise
    return count


def _statements(target: Target, how: Jdbc) -> Iterator[str]:
    match how.into:
        case Into.APPEND:
            return target.appending()
        case Into.OVERWRITE:
            return target.overwriting()
        case Into.UPSERT if how.database.is_postgresql:
            return target.upserting_by_conflict()
        case Into.UPSERT:
            return target.upserting()
