"""Live destinations: their secrets and pulls; and the member who last saved a resource."""

from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, TEXT, counter, keys, optional, required

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Make the tables."""
    op.add_column("detail", *optional(saved_as=TEXT))
    op.create_table(
        "live_secret",
        *keys(tenant_id=NUMBER, resource_id=NUMBER),
        *required(id=EXACT, hash=TEXT, made_by=EXACT, made_at=NUMBER, used_at=NUMBER),
    )
    op.create_index("live_secret_by_id", "live_secret", ["id"], unique=True)
    op.create_table(
        "live_pull",
        counter("n"),
        *required(tenant_id=NUMBER, report_id=NUMBER, destination_id=NUMBER),
        *required(at=NUMBER, rows=NUMBER, milliseconds=NUMBER),
    )
    op.create_index("live_pull_by_report", "live_pull", ["tenant_id", "report_id", "n"])
    op.create_index("live_pull_by_time", "live_pull", ["at"])
