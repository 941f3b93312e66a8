"""API tokens of integrations."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import NUMBER

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Add the column that references the integration."""
    op.add_column("token", sa.Column("through_id", NUMBER))
