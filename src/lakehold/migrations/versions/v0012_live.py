"""Live destinations: their secrets and pulls; and the member who last saved a resource."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Make the tables."""
    op.add_column("detail", sa.Column("saved_as", sa.Text()))
    op.create_table(
        "live_secret",
        sa.Column("tenant_id", NUMBER, primary_key=True),
        sa.Column("resource_id", NUMBER, primary_key=True),
        sa.Column("id", EXACT, nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("made_by", EXACT, nullable=False),
        sa.Column("made_at", NUMBER, nullable=False),
        sa.Column("used_at", NUMBER, nullable=False),
    )
    op.create_index("live_secret_by_id", "live_secret", ["id"], unique=True)
    op.create_table(
        "live_pull",
        sa.Column("n", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("tenant_id", NUMBER, nullable=False),
        sa.Column("report_id", NUMBER, nullable=False),
        sa.Column("destination_id", NUMBER, nullable=False),
        sa.Column("at", NUMBER, nullable=False),
        sa.Column("rows", NUMBER, nullable=False),
        sa.Column("milliseconds", NUMBER, nullable=False),
    )
    op.create_index("live_pull_by_report", "live_pull", ["tenant_id", "report_id", "n"])
    op.create_index("live_pull_by_time", "live_pull", ["at"])
