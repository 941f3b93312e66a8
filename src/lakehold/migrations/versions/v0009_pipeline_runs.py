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
        *required(NUMBER, "tenant_id"),
        *required(EXACT, "id", "tenant"),
        *required(NUMBER, "resource_id", "workspace_id"),
        *required(TEXT, "kind", "state", "cause"),
        *required(EXACT, "started_by"),
        *required(TEXT, "caller", "wanted"),
        *required(INTEGER, "tries"),
        *required(TEXT, "error"),
        *required(NUMBER, "made_at"),
        *optional(NUMBER, "started_at", "ended_at"),
    )
    op.create_index("run_by_id", "run", ["tenant_id", "id"], unique=True)
    op.create_index("run_by_state", "run", ["state", "n"])
    op.create_index("run_by_resource", "run", ["tenant_id", "resource_id", "n"])
    op.create_table("run_output", *keys(NUMBER, "tenant_id", "run", "resource_id"))
    op.create_index("run_output_by_resource", "run_output", ["tenant_id", "resource_id"])
    op.create_table(
        "run_step",
        *keys(NUMBER, "run"),
        *keys(INTEGER, "number"),
        *required(NUMBER, "tenant_id"),
        *required(TEXT, "name", "state"),
        *required(NUMBER, "rows", "size", "bad"),
        *required(TEXT, "told"),
        *required(INTEGER, "begun"),
        *required(TEXT, "error"),
        *optional(NUMBER, "started_at", "ended_at"),
    )
    op.create_table(
        "run_log",
        counter("n"),
        *required(NUMBER, "tenant_id", "run"),
        *required(INTEGER, "step"),
        *required(NUMBER, "at"),
        *required(TEXT, "level", "text"),
    )
    op.create_index("run_log_by_run", "run_log", ["run", "n"])
    op.create_table(
        "run_trigger",
        *keys(NUMBER, "tenant_id"),
        *keys(EXACT, "id"),
        *required(EXACT, "tenant"),
        *required(NUMBER, "resource_id"),
        *required(TEXT, "settings", "caller"),
        *required(EXACT, "saved_by"),
        *required(NUMBER, "saved_at"),
        *required(BOOLEAN, "active"),
        *required(TEXT, "heard"),
        *optional(NUMBER, "next_at", "last_at"),
    )
    op.create_index("run_trigger_due", "run_trigger", ["active", "next_at"])
    op.create_index("run_trigger_by_resource", "run_trigger", ["tenant_id", "resource_id"])
