"""Decodes messages of PostgreSQL's `pgoutput` plugin, version 1 of its protocol, with values as text."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from lakehold.lake.errors import SourceError


class UnchangedValue(Enum):
    """The value of a column that an update has left as it was, and that the log does not repeat (TOAST)."""

    VALUE = 0


UNCHANGED = UnchangedValue.VALUE
ColumnValue = bytes | UnchangedValue | None
"""A value as text; None for NULL."""


class ChangedColumn(NamedTuple):
    """A column of a table at the time of a change."""

    name: str
    in_key: bool
    type_id: int
    type_modifier: int


@dataclass(frozen=True, slots=True)
class TableRelation:
    """A table as it is from here on in the log."""

    id: int
    schema: str
    name: str
    columns: tuple[ChangedColumn, ...]

    @property
    def stream(self) -> str:
        """The name of the table as a stream."""
        return f"{self.schema}.{self.name}"


class TransactionStart(NamedTuple):
    """The beginning of a transaction. The log has transactions one after another, in the order of their commits."""

    commit_lsn: int


class TransactionEnd(NamedTuple):
    """The commit of a transaction, and the position behind it."""

    commit_lsn: int
    end_lsn: int


class RowChange(NamedTuple):
    """An insert (without an old row), an update, or a delete (without a new row)."""

    relation: int
    old: tuple[ColumnValue, ...] | None
    """The key before, or the whole row; None if the key was not changed by an update."""
    new: tuple[ColumnValue, ...] | None
    is_insert: bool = False


class TableTruncation(NamedTuple):
    """A TRUNCATE of tables."""

    relations: tuple[int, ...]


PgMessage = TransactionStart | TransactionEnd | TableRelation | RowChange | TableTruncation

_NULL, _UNCHANGED, _TEXT = b"nut"
_NEW = b"N"[0]
_COUNT = struct.Struct("!H")
_LENGTH = struct.Struct("!I")
_LSNS = struct.Struct("!BQQ")
_ROW = struct.Struct("!IB")
_COLUMN = struct.Struct("!Ii")
_TABLES = struct.Struct("!IB")


def decode_message(data: bytes) -> PgMessage | None:
    """Decode a message; None for one that says nothing of rows. A damaged one is refused."""
    try:
        return _decode(data)
    except (struct.error, IndexError, ValueError, TypeError) as error:
        raise SourceError("The database's log of changes cannot be read.", "Reload the task.") from error


def _decode(data: bytes) -> PgMessage | None:
    match data[:1]:
        case b"I":
            return RowChange(_LENGTH.unpack_from(data, 1)[0], None, _row(data, 6)[0], is_insert=True)
        case b"U":
            return _update(data)
        case b"D":
            return RowChange(_LENGTH.unpack_from(data, 1)[0], _row(data, 6)[0], None)
        case b"B":
            return TransactionStart(int.from_bytes(data[1:9]))
        case b"C":
            _, commit, end = _LSNS.unpack_from(data, 1)
            return TransactionEnd(commit, end)
        case b"R":
            return _relation(data)
        case b"T":
            count, _ = _TABLES.unpack_from(data, 1)
            return TableTruncation(struct.unpack_from(f"!{count}I", data, 6))
        case b"Y" | b"O" | b"M":
            return None
    raise ValueError(data[:1])


def _update(data: bytes) -> RowChange:
    relation, kind = _ROW.unpack_from(data, 1)
    if kind == _NEW:
        return RowChange(relation, None, _row(data, 6)[0])
    old, at = _row(data, 6)
    if data[at] != _NEW:
        raise ValueError(at)
    return RowChange(relation, old, _row(data, at + 1)[0])


def _row(data: bytes, at: int) -> tuple[tuple[ColumnValue, ...], int]:
    """Return the values of a row, and where it ends."""
    (count,) = _COUNT.unpack_from(data, at)
    at += 2
    found: list[ColumnValue] = []
    for _ in range(count):
        kind = data[at]
        if kind == _TEXT:
            start = at + 5
            at = start + _LENGTH.unpack_from(data, at + 1)[0]
            if at > len(data):
                raise ValueError(at)
            found.append(data[start:at])
            continue
        if kind not in {_NULL, _UNCHANGED}:
            raise ValueError(kind)
        found.append(None if kind == _NULL else UNCHANGED)
        at += 1
    return tuple(found), at


def _relation(data: bytes) -> TableRelation:
    (number,) = _LENGTH.unpack_from(data, 1)
    schema, at = _name(data, 5)
    name, at = _name(data, at)
    (count,) = _COUNT.unpack_from(data, at + 1)
    at += 3
    columns = []
    for _ in range(count):
        column, end = _name(data, at + 1)
        columns.append(ChangedColumn(column, bool(data[at] & 1), *_COLUMN.unpack_from(data, end)))
        at = end + _COLUMN.size
    # The catalog's own schema has an empty name.
    return TableRelation(number, schema or "pg_catalog", name, tuple(columns))


def _name(data: bytes, at: int) -> tuple[str, int]:
    end = data.index(0, at)
    return data[at:end].decode(), end + 1


def parse_lsn(text: str) -> int:
    """Return a position in the log as a number."""
    high, _, low = text.partition("/")
    return (int(high, 16) << 32) | int(low, 16)


def format_lsn(lsn: int) -> str:
    """Return a position in the log as the database writes it."""
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"
