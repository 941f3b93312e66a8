"""Addresses of workers, and the query history."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, TEXT, counter, required

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Make the column and the table."""
    op.add_column("worker", sa.Column("address", EXACT, nullable=False, server_default=""))
    op.create_table(
        "query",
        counter("n"),
        *required(tenant_id=NUMBER, member=EXACT, workspace_id=NUMBER, text=TEXT),
        *required(asked_at=NUMBER, took=NUMBER, rows=NUMBER, error=TEXT),
    )
    op.create_index("query_by_member", "query", ["tenant_id", "member", "n"])
    op.create_index("query_by_time", "query", ["asked_at"])
