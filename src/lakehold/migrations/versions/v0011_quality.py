"""Results of the data quality checks of data marts."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import NUMBER

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "quality",
        sa.Column("n", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("tenant_id", NUMBER, nullable=False),
        sa.Column("resource_id", NUMBER, nullable=False),
        sa.Column("mark", sa.Text(), nullable=False),
        sa.Column("at", NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
    )
    op.create_index("quality_by_resource", "quality", ["tenant_id", "resource_id", "n"])
