"""Columns as the versions of the database declare them. Versions never change, so neither does this."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

Kind = sa.types.TypeEngine[Any]

TEXT, INTEGER, BOOLEAN = sa.Text(), sa.Integer(), sa.Boolean()
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
EXACT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def counter(name: str) -> sa.Column[Any]:
    """Return a primary key that the database counts up."""
    return sa.Column(name, NUMBER, primary_key=True, autoincrement=True)


def keys(**kinds: Kind) -> list[sa.Column[Any]]:
    """Return columns of the primary key."""
    return [sa.Column(name, kind, primary_key=True) for name, kind in kinds.items()]


def required(**kinds: Kind) -> list[sa.Column[Any]]:
    """Return columns that are never null."""
    return [sa.Column(name, kind, nullable=False) for name, kind in kinds.items()]


def optional(**kinds: Kind) -> list[sa.Column[Any]]:
    """Return columns that may be null."""
    return [sa.Column(name, kind) for name, kind in kinds.items()]
