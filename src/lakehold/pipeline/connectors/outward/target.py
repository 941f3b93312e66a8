"""The table that rows go into, and what is said to the database about it.

Rows lie in a staging table at first, whose columns are plain numbers, so that no name of a field is ever read as
anything else. From there they go into the table in one transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lakehold.pipeline.connectors.outward.database import Connection

RECEIPTS = "lakehold_deliveries"
"""The table beside it that says which deliveries have arrived."""


@dataclass(frozen=True, slots=True)
class Target:
    """A table of a database, by its quoted names."""

    table: str
    full: str
    """With its schema."""
    staging: str
    receipts: str
    columns: tuple[str, ...]
    """Those that rows are delivered to, in the order of the fields."""
    keys: tuple[str, ...]

    @property
    def staged(self) -> tuple[str, ...]:
        """What the same columns are called in the staging table."""
        return tuple(staged_as(number) for number in range(len(self.columns)))

    def appending(self) -> Iterator[str]:
        """All rows are added."""
        yield f"INSERT INTO {self.full} ({_list(self.columns)}) SELECT {_list(self.staged)} FROM {self.staging}"

    def overwriting(self) -> Iterator[str]:
        """All rows that are there go. Not by TRUNCATE, which in some databases is seen before it is kept."""
        yield f"DELETE FROM {self.full}"
        yield from self.appending()

    def upserting_by_conflict(self) -> Iterator[str]:
        """As PostgreSQL does it, which needs a unique index over the keys."""
        (insert,) = self.appending()
        others = [name for name in self.columns if name not in self.keys]
        then = f"UPDATE SET {_list([f'{name} = EXCLUDED.{name}' for name in others])}" if others else "NOTHING"
        yield f"{insert} ON CONFLICT ({_list(self.keys)}) DO {then}"

    def upserting(self) -> Iterator[str]:
        """As every database can do it: change those that are there, then add those that are not."""
        pairs = dict(zip(self.columns, self.staged, strict=True))
        same = " AND ".join(f"s.{pairs[key]} = {self.table}.{key}" for key in self.keys)
        found = f"FROM {self.staging} s WHERE {same}"
        changes = [f"{name} = (SELECT s.{pairs[name]} {found})" for name in self.columns if name not in self.keys]
        if changes:
            yield f"UPDATE {self.full} SET {_list(changes)} WHERE EXISTS (SELECT 1 {found})"
        yield (
            f"INSERT INTO {self.full} ({_list(self.columns)}) SELECT {_list([f's.{name}' for name in self.staged])}"
            f" FROM {self.staging} s WHERE NOT EXISTS (SELECT 1 FROM {self.full} WHERE {same})"
        )


def staged_as(number: int) -> str:
    """What a field is called in the staging table."""
    return f"lh_{number}"


def qualified(connection: Connection, schema: str, table: str) -> str:
    """A table with its schema, quoted."""
    return ".".join(connection.quoted(name) for name in (schema, table) if name)


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)
