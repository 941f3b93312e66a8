"""Notification preferences of a project, and an index of check results."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "notification",
        sa.Column("tenant_id", NUMBER, primary_key=True),
        sa.Column("resource_id", NUMBER, primary_key=True),
        sa.Column("member_id", NUMBER, primary_key=True),
        sa.Column("channel", EXACT, primary_key=True),
        sa.Column("wanted", sa.Boolean(), nullable=False),
        sa.Column("chosen_at", NUMBER, nullable=False),
        sa.Column("chosen_by", EXACT, nullable=False),
    )
    op.create_index("quality_by_mark", "quality", ["tenant_id", "mark"])
