"""Background jobs, and workers."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, required

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make the tables."""
    op.create_table("worker", sa.Column("id", EXACT, primary_key=True), required("beat", NUMBER))
    op.create_table(
        "job",
        sa.Column("tenant_id", NUMBER, primary_key=True),
        sa.Column("id", EXACT, primary_key=True),
        required("tenant", EXACT),
        required("kind", sa.Text()),
        required("state", sa.Text()),
        required("started_by", EXACT),
        required("caller", sa.Text()),
        required("wanted", sa.Text()),
        required("tries", sa.Integer()),
        required("progress", sa.Integer()),
        required("doing", sa.Text()),
        required("error", sa.Text()),
        required("result", sa.Text()),
        required("rows", NUMBER),
        required("made_at", NUMBER),
        sa.Column("started_at", NUMBER),
        sa.Column("ended_at", NUMBER),
    )
    op.create_index("job_by_state", "job", ["state", "made_at"])
    op.create_index("job_by_time", "job", ["tenant_id", "made_at"])
