"""The audit log and the outbox."""

from alembic import op

from lakehold.migrations.columns import EXACT, INTEGER, NUMBER, TEXT, counter, keys, optional, required

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "audit",
        *keys(NUMBER, "tenant_id", "n"),
        *required(NUMBER, "at"),
        *required(EXACT, "member"),
        *required(TEXT, "action"),
        *required(EXACT, "resource"),
        *required(TEXT, "outcome", "body", "hash"),
    )
    for name, column in (("member", "member"), ("resource", "resource"), ("action", "action"), ("time", "at")):
        op.create_index(f"audit_by_{name}", "audit", ["tenant_id", column, "n"])
    op.create_table(
        "audit_seal",
        *keys(NUMBER, "tenant_id"),
        *required(NUMBER, "entries"),
        *required(TEXT, "head", "seal"),
    )
    op.create_table(
        "outbox",
        counter("id"),
        *required(NUMBER, "tenant_id", "made_at", "due_at"),
        *required(TEXT, "receiver", "subject", "body"),
        *required(INTEGER, "tries"),
        *optional(NUMBER, "sent_at"),
        *required(TEXT, "error"),
    )
    op.create_index("outbox_due", "outbox", ["sent_at", "due_at"])
