"""Addresses of workers, and the query history."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, required

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Make the column and the table."""
    op.add_column("worker", sa.Column("address", EXACT, nullable=False, server_default=""))
    op.create_table(
        "query",
        sa.Column("n", NUMBER, primary_key=True, autoincrement=True),
        required("tenant_id", NUMBER),
        required("member", EXACT),
        required("workspace_id", NUMBER),
        required("text", sa.Text()),
        required("asked_at", NUMBER),
        required("took", NUMBER),
        required("rows", NUMBER),
        required("error", sa.Text()),
    )
    op.create_index("query_by_member", "query", ["tenant_id", "member", "n"])
    op.create_index("query_by_time", "query", ["asked_at"])
