"""Live destinations: their secrets and pulls; and the member who last saved a resource."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0012"
down_revision = "0011"

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_exact = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables."""
    op.add_column("detail", sa.Column("saved_as", sa.Text()))
    op.create_table(
        "live_secret",
        sa.Column("tenant_id", _number, primary_key=True),
        sa.Column("resource_id", _number, primary_key=True),
        sa.Column("id", _exact, nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("made_by", _exact, nullable=False),
        sa.Column("made_at", _number, nullable=False),
        sa.Column("used_at", _number, nullable=False),
    )
    op.create_index("live_secret_by_id", "live_secret", ["id"], unique=True)
    op.create_table(
        "live_pull",
        sa.Column("n", _number, primary_key=True, autoincrement=True),
        sa.Column("tenant_id", _number, nullable=False),
        sa.Column("report_id", _number, nullable=False),
        sa.Column("destination_id", _number, nullable=False),
        sa.Column("at", _number, nullable=False),
        sa.Column("rows", _number, nullable=False),
        sa.Column("milliseconds", _number, nullable=False),
    )
    op.create_index("live_pull_by_report", "live_pull", ["tenant_id", "report_id", "n"])
    op.create_index("live_pull_by_time", "live_pull", ["at"])
