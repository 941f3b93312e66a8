"""The audit log and the outbox."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0002"
down_revision = "0001"

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_exact = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def _column(name: str, kind: sa.types.TypeEngine) -> sa.Column:
    return sa.Column(name, kind, nullable=False)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "audit",
        sa.Column("tenant_id", _number, primary_key=True),
        sa.Column("n", _number, primary_key=True),
        _column("at", _number),
        _column("member", _exact),
        _column("action", sa.Text()),
        _column("resource", _exact),
        _column("outcome", sa.Text()),
        _column("body", sa.Text()),
        _column("hash", sa.Text()),
    )
    for name, column in (("member", "member"), ("resource", "resource"), ("action", "action"), ("time", "at")):
        op.create_index(f"audit_by_{name}", "audit", ["tenant_id", column, "n"])
    op.create_table(
        "audit_seal",
        sa.Column("tenant_id", _number, primary_key=True),
        _column("entries", _number),
        _column("head", sa.Text()),
        _column("seal", sa.Text()),
    )
    op.create_table(
        "outbox",
        sa.Column("id", _number, primary_key=True, autoincrement=True),
        _column("tenant_id", _number),
        _column("made_at", _number),
        _column("due_at", _number),
        _column("receiver", sa.Text()),
        _column("subject", sa.Text()),
        _column("body", sa.Text()),
        _column("tries", sa.Integer()),
        sa.Column("sent_at", _number),
        _column("error", sa.Text()),
    )
    op.create_index("outbox_due", "outbox", ["sent_at", "due_at"])
