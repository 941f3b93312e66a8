"""Access reviews over a workspace, and their decisions."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, required

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "campaign",
        sa.Column("n", NUMBER, primary_key=True, autoincrement=True),
        required("tenant_id", NUMBER),
        required("uid", EXACT),
        required("workspace_id", NUMBER),
        required("name", sa.Text()),
        required("asks", sa.Text()),
        required("started_at", NUMBER),
        required("started_by", EXACT),
        sa.Column("due_at", NUMBER),
        sa.Column("closed_at", NUMBER),
        required("closed_by", EXACT),
    )
    op.create_index("campaign_by_uid", "campaign", ["tenant_id", "uid"], unique=True)
    op.create_index("campaign_by_workspace", "campaign", ["tenant_id", "workspace_id", "n"])
    op.create_table(
        "campaign_decision",
        sa.Column("tenant_id", NUMBER, primary_key=True),
        sa.Column("campaign", NUMBER, primary_key=True),
        sa.Column("n", sa.Integer(), primary_key=True),
        required("subject_id", NUMBER),
        required("role", sa.Text()),
        required("resource_id", NUMBER),
        required("since", NUMBER),
        required("until", NUMBER),
        required("decision", sa.Text()),
        sa.Column("decided_at", NUMBER),
        required("decided_by", EXACT),
    )
