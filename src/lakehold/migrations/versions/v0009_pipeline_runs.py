"""Runs of pipelines with their steps and logs, and triggers."""

from alembic import op

from lakehold.migrations.columns import BOOLEAN, EXACT, INTEGER, NUMBER, TEXT, counter, keys, optional, required

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "run",
        counter("n"),
        *required(tenant_id=NUMBER, id=EXACT, tenant=EXACT, resource_id=NUMBER, workspace_id=NUMBER),
        *required(kind=TEXT, state=TEXT, cause=TEXT, started_by=EXACT, caller=TEXT),
        *required(wanted=TEXT, tries=INTEGER, error=TEXT, made_at=NUMBER),
        *optional(started_at=NUMBER, ended_at=NUMBER),
    )
    op.create_index("run_by_id", "run", ["tenant_id", "id"], unique=True)
    op.create_index("run_by_state", "run", ["state", "n"])
    op.create_index("run_by_resource", "run", ["tenant_id", "resource_id", "n"])
    op.create_table("run_output", *keys(tenant_id=NUMBER, run=NUMBER, resource_id=NUMBER))
    op.create_index("run_output_by_resource", "run_output", ["tenant_id", "resource_id"])
    op.create_table(
        "run_step",
        *keys(run=NUMBER, number=INTEGER),
        *required(tenant_id=NUMBER, name=TEXT, state=TEXT, rows=NUMBER, size=NUMBER),
        *required(bad=NUMBER, told=TEXT, begun=INTEGER, error=TEXT),
        *optional(started_at=NUMBER, ended_at=NUMBER),
    )
    op.create_table(
        "run_log",
        counter("n"),
        *required(tenant_id=NUMBER, run=NUMBER, step=INTEGER, at=NUMBER, level=TEXT, text=TEXT),
    )
    op.create_index("run_log_by_run", "run_log", ["run", "n"])
    op.create_table(
        "run_trigger",
        *keys(tenant_id=NUMBER, id=EXACT),
        *required(tenant=EXACT, resource_id=NUMBER, settings=TEXT, caller=TEXT),
        *required(saved_by=EXACT, saved_at=NUMBER, active=BOOLEAN, heard=TEXT),
        *optional(next_at=NUMBER, last_at=NUMBER),
    )
    op.create_index("run_trigger_due", "run_trigger", ["active", "next_at"])
    op.create_index("run_trigger_by_resource", "run_trigger", ["tenant_id", "resource_id"])
