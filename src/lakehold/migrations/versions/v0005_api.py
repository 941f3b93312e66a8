"""Stored responses by Idempotency-Key."""

from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, TEXT, keys, required

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "idempotency",
        *keys(tenant_id=NUMBER, member=EXACT, token=EXACT, key=EXACT),
        *required(made_at=NUMBER, request=TEXT, answer=TEXT),
    )
    op.create_index("idempotency_by_time", "idempotency", ["tenant_id", "made_at"])
