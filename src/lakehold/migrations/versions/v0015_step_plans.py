"""The plan of each step, stored when its run begins."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("run_step", sa.Column("plan", sa.Text(), nullable=False, server_default=""))
