"""Tables of the steps, described as text: `tenant_id number key, id exact key, error text, ended_at number null`."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

_TYPES: dict[str, sa.types.TypeEngine[Any]] = {
    "number": sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
    "exact": sa.Text().with_variant(TEXT(collation="C"), "postgresql"),
    "text": sa.Text(),
    "int": sa.Integer(),
    "bool": sa.Boolean(),
}
_OPTIONS: dict[str, dict[str, Any]] = {
    "": {"nullable": False},
    "null": {"nullable": True},
    "key": {"primary_key": True},
    "serial": {"primary_key": True, "autoincrement": True},
}


def create_table(name: str, columns: str) -> None:
    """Create a table. Its columns are not null, but those marked as `null`, `key` or `serial` (a key that counts)."""
    op.create_table(name, *(_column(*column.split()) for column in columns.split(",")))


def add_column(table: str, column: str, default: str | None = None) -> None:
    """Add a column, with the value that it has in the rows that are there."""
    added = _column(*column.split())
    added.server_default = None if default is None else sa.DefaultClause(default)
    op.add_column(table, added)


def create_index(name: str, table: str, columns: str, *, unique: bool = False) -> None:
    """Create an index on the columns, which are separated by blanks."""
    op.create_index(name, table, columns.split(), unique=unique)


def _column(name: str, kind: str, option: str = "") -> sa.Column[Any]:
    return sa.Column(name, _TYPES[kind], **_OPTIONS[option])
