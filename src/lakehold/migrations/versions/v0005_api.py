"""Stored responses by Idempotency-Key."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "idempotency",
        sa.Column("tenant_id", NUMBER, primary_key=True),
        sa.Column("member", EXACT, primary_key=True),
        sa.Column("token", EXACT, primary_key=True),
        sa.Column("key", EXACT, primary_key=True),
        sa.Column("made_at", NUMBER, nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
    )
    op.create_index("idempotency_by_time", "idempotency", ["tenant_id", "made_at"])
