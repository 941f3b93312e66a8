"""Runs of pipelines with their steps and logs, and triggers."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, required

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "run",
        sa.Column("n", NUMBER, primary_key=True, autoincrement=True),
        required("tenant_id", NUMBER),
        required("id", EXACT),
        required("tenant", EXACT),
        required("resource_id", NUMBER),
        required("workspace_id", NUMBER),
        required("kind", sa.Text()),
        required("state", sa.Text()),
        required("cause", sa.Text()),
        required("started_by", EXACT),
        required("caller", sa.Text()),
        required("wanted", sa.Text()),
        required("tries", sa.Integer()),
        required("error", sa.Text()),
        required("made_at", NUMBER),
        sa.Column("started_at", NUMBER),
        sa.Column("ended_at", NUMBER),
    )
    op.create_index("run_by_id", "run", ["tenant_id", "id"], unique=True)
    op.create_index("run_by_state", "run", ["state", "n"])
    op.create_index("run_by_resource", "run", ["tenant_id", "resource_id", "n"])
    op.create_table(
        "run_output",
        sa.Column("tenant_id", NUMBER, primary_key=True),
        sa.Column("run", NUMBER, primary_key=True),
        sa.Column("resource_id", NUMBER, primary_key=True),
    )
    op.create_index("run_output_by_resource", "run_output", ["tenant_id", "resource_id"])
    op.create_table(
        "run_step",
        sa.Column("run", NUMBER, primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True),
        required("tenant_id", NUMBER),
        required("name", sa.Text()),
        required("state", sa.Text()),
        required("rows", NUMBER),
        required("size", NUMBER),
        required("bad", NUMBER),
        required("told", sa.Text()),
        required("begun", sa.Integer()),
        required("error", sa.Text()),
        sa.Column("started_at", NUMBER),
        sa.Column("ended_at", NUMBER),
    )
    op.create_table(
        "run_log",
        sa.Column("n", NUMBER, primary_key=True, autoincrement=True),
        required("tenant_id", NUMBER),
        required("run", NUMBER),
        required("step", sa.Integer()),
        required("at", NUMBER),
        required("level", sa.Text()),
        required("text", sa.Text()),
    )
    op.create_index("run_log_by_run", "run_log", ["run", "n"])
    op.create_table(
        "run_trigger",
        sa.Column("tenant_id", NUMBER, primary_key=True),
        sa.Column("id", EXACT, primary_key=True),
        required("tenant", EXACT),
        required("resource_id", NUMBER),
        required("settings", sa.Text()),
        required("caller", sa.Text()),
        required("saved_by", EXACT),
        required("saved_at", NUMBER),
        required("active", sa.Boolean()),
        required("heard", sa.Text()),
        sa.Column("next_at", NUMBER),
        sa.Column("last_at", NUMBER),
    )
    op.create_index("run_trigger_due", "run_trigger", ["active", "next_at"])
    op.create_index("run_trigger_by_resource", "run_trigger", ["tenant_id", "resource_id"])
