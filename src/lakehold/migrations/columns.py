"""Columns as the versions of the database declare them. Versions never change, so neither does this."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TEXT

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
EXACT = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def required(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    """Return a column that is never null."""
    return sa.Column(name, kind, nullable=False)
