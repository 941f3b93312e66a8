"""Background jobs, and workers."""

from alembic import op

from lakehold.migrations.columns import EXACT, INTEGER, NUMBER, TEXT, keys, optional, required

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make the tables."""
    op.create_table("worker", *keys(EXACT, "id"), *required(NUMBER, "beat"))
    op.create_table(
        "job",
        *keys(NUMBER, "tenant_id"),
        *keys(EXACT, "id"),
        *required(EXACT, "tenant"),
        *required(TEXT, "kind", "state"),
        *required(EXACT, "started_by"),
        *required(TEXT, "caller", "wanted"),
        *required(INTEGER, "tries", "progress"),
        *required(TEXT, "doing", "error", "result"),
        *required(NUMBER, "rows", "made_at"),
        *optional(NUMBER, "started_at", "ended_at"),
    )
    op.create_index("job_by_state", "job", ["state", "made_at"])
    op.create_index("job_by_time", "job", ["tenant_id", "made_at"])
