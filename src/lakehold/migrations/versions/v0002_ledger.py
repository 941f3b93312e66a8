"""The audit log and the outbox."""

from lakehold.migrations.schema import create_index, create_table

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the tables."""
    create_table(
        "audit",
        "tenant_id number key, n number key, at number, member exact, action text, resource exact, outcome text,"
        " body text, hash text",
    )
    create_index("audit_by_member", "audit", "tenant_id member n")
    create_index("audit_by_resource", "audit", "tenant_id resource n")
    create_index("audit_by_action", "audit", "tenant_id action n")
    create_index("audit_by_time", "audit", "tenant_id at n")
    create_table("audit_seal", "tenant_id number key, entries number, head text, seal text")
    create_table(
        "outbox",
        "id number serial, tenant_id number, made_at number, due_at number, receiver text, subject text, body text,"
        " tries int, sent_at number null, error text",
    )
    create_index("outbox_due", "outbox", "sent_at due_at")
