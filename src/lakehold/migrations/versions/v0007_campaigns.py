"""Access reviews over a workspace, and their decisions."""

from alembic import op

from lakehold.migrations.columns import EXACT, INTEGER, NUMBER, TEXT, counter, keys, optional, required

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "campaign",
        counter("n"),
        *required(NUMBER, "tenant_id"),
        *required(EXACT, "uid"),
        *required(NUMBER, "workspace_id"),
        *required(TEXT, "name", "asks"),
        *required(NUMBER, "started_at"),
        *required(EXACT, "started_by"),
        *optional(NUMBER, "due_at", "closed_at"),
        *required(EXACT, "closed_by"),
    )
    op.create_index("campaign_by_uid", "campaign", ["tenant_id", "uid"], unique=True)
    op.create_index("campaign_by_workspace", "campaign", ["tenant_id", "workspace_id", "n"])
    op.create_table(
        "campaign_decision",
        *keys(NUMBER, "tenant_id", "campaign"),
        *keys(INTEGER, "n"),
        *required(NUMBER, "subject_id"),
        *required(TEXT, "role"),
        *required(NUMBER, "resource_id", "since", "until"),
        *required(TEXT, "decision"),
        *optional(NUMBER, "decided_at"),
        *required(EXACT, "decided_by"),
    )
