"""Answers that are kept under an Idempotency-Key."""

from lakehold.migrations.schema import create_index, create_table

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make the table."""
    create_table(
        "idempotency",
        "tenant_id number key, member exact key, token exact key, key exact key, made_at number, request text,"
        " answer text",
    )
    create_index("idempotency_by_time", "idempotency", "tenant_id made_at")
