"""API tokens of integrations."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the column that references the integration."""
    op.add_column("token", sa.Column("through_id", _number))
