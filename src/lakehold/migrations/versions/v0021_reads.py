"""The audit log of reads: who read which tables and files; its seal says how many of the oldest were forgotten."""

from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, TEXT, keys, required

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "audit_read",
        *keys(tenant_id=NUMBER, n=NUMBER),
        *required(at=NUMBER, member=EXACT, action=TEXT, resource=EXACT, outcome=TEXT, body=TEXT, hash=TEXT),
    )
    for index, column in (("member", "member"), ("resource", "resource"), ("action", "action"), ("time", "at")):
        op.create_index(f"audit_read_by_{index}", "audit_read", ["tenant_id", column, "n"])
    op.create_table(
        "audit_read_seal",
        *keys(tenant_id=NUMBER),
        *required(entries=NUMBER, head=TEXT, forgotten=NUMBER, base=TEXT, seal=TEXT),
    )
