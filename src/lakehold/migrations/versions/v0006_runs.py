"""Background jobs, and workers."""

from alembic import op

from lakehold.migrations.columns import EXACT, INTEGER, NUMBER, TEXT, keys, optional, required

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make the tables."""
    op.create_table("worker", *keys(id=EXACT), *required(beat=NUMBER))
    op.create_table(
        "job",
        *keys(tenant_id=NUMBER, id=EXACT),
        *required(tenant=EXACT, kind=TEXT, state=TEXT, started_by=EXACT, caller=TEXT, wanted=TEXT, tries=INTEGER),
        *required(progress=INTEGER, doing=TEXT, error=TEXT, result=TEXT, rows=NUMBER, made_at=NUMBER),
        *optional(started_at=NUMBER, ended_at=NUMBER),
    )
    op.create_index("job_by_state", "job", ["state", "made_at"])
    op.create_index("job_by_time", "job", ["tenant_id", "made_at"])
