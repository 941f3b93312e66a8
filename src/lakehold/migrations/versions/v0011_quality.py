"""Results of the data quality checks of data marts."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "quality",
        sa.Column("n", _number, primary_key=True, autoincrement=True),
        sa.Column("tenant_id", _number, nullable=False),
        sa.Column("resource_id", _number, nullable=False),
        sa.Column("mark", sa.Text(), nullable=False),
        sa.Column("at", _number, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
    )
    op.create_index("quality_by_resource", "quality", ["tenant_id", "resource_id", "n"])
