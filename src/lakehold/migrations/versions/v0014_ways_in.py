"""Tokens that are the way in of something."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Say of what."""
    op.add_column("token", sa.Column("through_id", _number))
