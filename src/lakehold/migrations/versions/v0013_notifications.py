"""Notification preferences of a project, and an index of check results."""

from alembic import op

from lakehold.migrations.columns import BOOLEAN, EXACT, NUMBER, keys, required

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "notification",
        *keys(NUMBER, "tenant_id", "resource_id", "member_id"),
        *keys(EXACT, "channel"),
        *required(BOOLEAN, "wanted"),
        *required(NUMBER, "chosen_at"),
        *required(EXACT, "chosen_by"),
    )
    op.create_index("quality_by_mark", "quality", ["tenant_id", "mark"])
