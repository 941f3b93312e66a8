"""Stored responses by Idempotency-Key."""

from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, TEXT, keys, required

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "idempotency",
        *keys(NUMBER, "tenant_id"),
        *keys(EXACT, "member", "token", "key"),
        *required(NUMBER, "made_at"),
        *required(TEXT, "request", "answer"),
    )
    op.create_index("idempotency_by_time", "idempotency", ["tenant_id", "made_at"])
