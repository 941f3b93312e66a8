"""Notification preferences of a project, and an index of check results."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0013"
down_revision = "0012"

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_exact = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "notification",
        sa.Column("tenant_id", _number, primary_key=True),
        sa.Column("resource_id", _number, primary_key=True),
        sa.Column("member_id", _number, primary_key=True),
        sa.Column("channel", _exact, primary_key=True),
        sa.Column("wanted", sa.Boolean(), nullable=False),
        sa.Column("chosen_at", _number, nullable=False),
        sa.Column("chosen_by", _exact, nullable=False),
    )
    op.create_index("quality_by_mark", "quality", ["tenant_id", "mark"])
