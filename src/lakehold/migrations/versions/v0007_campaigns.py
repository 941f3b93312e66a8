"""Access reviews over a workspace, and what was decided in them."""

from lakehold.migrations.schema import create_index, create_table

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the tables."""
    create_table(
        "campaign",
        "n number serial, tenant_id number, uid exact, workspace_id number, name text, asks text, started_at number,"
        " started_by exact, due_at number null, closed_at number null, closed_by exact",
    )
    create_index("campaign_by_uid", "campaign", "tenant_id uid", unique=True)
    create_index("campaign_by_workspace", "campaign", "tenant_id workspace_id n")
    create_table(
        "campaign_decision",
        "tenant_id number key, campaign number key, n int key, subject_id number, role text, resource_id number,"
        " since number, until number, decision text, decided_at number null, decided_by exact",
    )
