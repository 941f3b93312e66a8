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
        *required(tenant_id=NUMBER, uid=EXACT, workspace_id=NUMBER, name=TEXT),
        *required(asks=TEXT, started_at=NUMBER, started_by=EXACT),
        *optional(due_at=NUMBER, closed_at=NUMBER),
        *required(closed_by=EXACT),
    )
    op.create_index("campaign_by_uid", "campaign", ["tenant_id", "uid"], unique=True)
    op.create_index("campaign_by_workspace", "campaign", ["tenant_id", "workspace_id", "n"])
    op.create_table(
        "campaign_decision",
        *keys(tenant_id=NUMBER, campaign=NUMBER, n=INTEGER),
        *required(subject_id=NUMBER, role=TEXT, resource_id=NUMBER, since=NUMBER, until=NUMBER, decision=TEXT),
        *optional(decided_at=NUMBER),
        *required(decided_by=EXACT),
    )
