"""Live destinations: their secrets and pulls; and the member who last saved a resource."""

from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, TEXT, counter, keys, optional, required

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Make the tables."""
    op.add_column("detail", *optional(TEXT, "saved_as"))
    op.create_table(
        "live_secret",
        *keys(NUMBER, "tenant_id", "resource_id"),
        *required(EXACT, "id"),
        *required(TEXT, "hash"),
        *required(EXACT, "made_by"),
        *required(NUMBER, "made_at", "used_at"),
    )
    op.create_index("live_secret_by_id", "live_secret", ["id"], unique=True)
    op.create_table(
        "live_pull",
        counter("n"),
        *required(NUMBER, "tenant_id", "report_id", "destination_id", "at", "rows", "milliseconds"),
    )
    op.create_index("live_pull_by_report", "live_pull", ["tenant_id", "report_id", "n"])
    op.create_index("live_pull_by_time", "live_pull", ["at"])
