"""Access reviews over a workspace, and their decisions."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0007"
down_revision = "0006"

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_exact = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def _column(name: str, kind: sa.types.TypeEngine) -> sa.Column:
    return sa.Column(name, kind, nullable=False)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "campaign",
        sa.Column("n", _number, primary_key=True, autoincrement=True),
        _column("tenant_id", _number),
        _column("uid", _exact),
        _column("workspace_id", _number),
        _column("name", sa.Text()),
        _column("asks", sa.Text()),
        _column("started_at", _number),
        _column("started_by", _exact),
        sa.Column("due_at", _number),
        sa.Column("closed_at", _number),
        _column("closed_by", _exact),
    )
    op.create_index("campaign_by_uid", "campaign", ["tenant_id", "uid"], unique=True)
    op.create_index("campaign_by_workspace", "campaign", ["tenant_id", "workspace_id", "n"])
    op.create_table(
        "campaign_decision",
        sa.Column("tenant_id", _number, primary_key=True),
        sa.Column("campaign", _number, primary_key=True),
        sa.Column("n", sa.Integer(), primary_key=True),
        _column("subject_id", _number),
        _column("role", sa.Text()),
        _column("resource_id", _number),
        _column("since", _number),
        _column("until", _number),
        _column("decision", sa.Text()),
        sa.Column("decided_at", _number),
        _column("decided_by", _exact),
    )
