"""The audit log and the outbox."""

from alembic import op

from lakehold.migrations.columns import EXACT, INTEGER, NUMBER, TEXT, counter, keys, optional, required

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "audit",
        *keys(tenant_id=NUMBER, n=NUMBER),
        *required(at=NUMBER, member=EXACT, action=TEXT, resource=EXACT, outcome=TEXT, body=TEXT, hash=TEXT),
    )
    for name, column in (("member", "member"), ("resource", "resource"), ("action", "action"), ("time", "at")):
        op.create_index(f"audit_by_{name}", "audit", ["tenant_id", column, "n"])
    op.create_table(
        "audit_seal",
        *keys(tenant_id=NUMBER),
        *required(entries=NUMBER, head=TEXT, seal=TEXT),
    )
    op.create_table(
        "outbox",
        counter("id"),
        *required(tenant_id=NUMBER, made_at=NUMBER, due_at=NUMBER, receiver=TEXT),
        *required(subject=TEXT, body=TEXT, tries=INTEGER),
        *optional(sent_at=NUMBER),
        *required(error=TEXT),
    )
    op.create_index("outbox_due", "outbox", ["sent_at", "due_at"])
