"""Stored responses by Idempotency-Key."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0005"
down_revision = "0004"

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_exact = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "idempotency",
        sa.Column("tenant_id", _number, primary_key=True),
        sa.Column("member", _exact, primary_key=True),
        sa.Column("token", _exact, primary_key=True),
        sa.Column("key", _exact, primary_key=True),
        sa.Column("made_at", _number, nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
    )
    op.create_index("idempotency_by_time", "idempotency", ["tenant_id", "made_at"])
