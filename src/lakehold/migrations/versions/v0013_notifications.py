"""Notification preferences of a project, and an index of check results."""

from alembic import op

from lakehold.migrations.columns import BOOLEAN, EXACT, NUMBER, keys, required

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "notification",
        *keys(tenant_id=NUMBER, resource_id=NUMBER, member_id=NUMBER, channel=EXACT),
        *required(wanted=BOOLEAN, chosen_at=NUMBER, chosen_by=EXACT),
    )
    op.create_index("quality_by_mark", "quality", ["tenant_id", "mark"])
