"""Addresses of workers, and the query history."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0008"
down_revision = "0007"

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_exact = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def _column(name: str, kind: sa.types.TypeEngine) -> sa.Column:
    return sa.Column(name, kind, nullable=False)


def upgrade() -> None:
    """Make the column and the table."""
    op.add_column("worker", sa.Column("address", _exact, nullable=False, server_default=""))
    op.create_table(
        "query",
        sa.Column("n", _number, primary_key=True, autoincrement=True),
        _column("tenant_id", _number),
        _column("member", _exact),
        _column("workspace_id", _number),
        _column("text", sa.Text()),
        _column("asked_at", _number),
        _column("took", _number),
        _column("rows", _number),
        _column("error", sa.Text()),
    )
    op.create_index("query_by_member", "query", ["tenant_id", "member", "n"])
    op.create_index("query_by_time", "query", ["asked_at"])
