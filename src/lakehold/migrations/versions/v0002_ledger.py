"""The audit log and the outbox."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, required

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "audit",
        sa.Column("tenant_id", NUMBER, primary_key=True),
        sa.Column("n", NUMBER, primary_key=True),
        required("at", NUMBER),
        required("member", EXACT),
        required("action", sa.Text()),
        required("resource", EXACT),
        required("outcome", sa.Text()),
        required("body", sa.Text()),
        required("hash", sa.Text()),
    )
    for name, column in (("member", "member"), ("resource", "resource"), ("action", "action"), ("time", "at")):
        op.create_index(f"audit_by_{name}", "audit", ["tenant_id", column, "n"])
    op.create_table(
        "audit_seal",
        sa.Column("tenant_id", NUMBER, primary_key=True),
        required("entries", NUMBER),
        required("head", sa.Text()),
        required("seal", sa.Text()),
    )
    op.create_table(
        "outbox",
        sa.Column("id", NUMBER, primary_key=True, autoincrement=True),
        required("tenant_id", NUMBER),
        required("made_at", NUMBER),
        required("due_at", NUMBER),
        required("receiver", sa.Text()),
        required("subject", sa.Text()),
        required("body", sa.Text()),
        required("tries", sa.Integer()),
        sa.Column("sent_at", NUMBER),
        required("error", sa.Text()),
    )
    op.create_index("outbox_due", "outbox", ["sent_at", "due_at"])
