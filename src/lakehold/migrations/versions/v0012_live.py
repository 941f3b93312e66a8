"""Live destinations: their secrets and what was pulled; and as whom a resource was last saved."""

from lakehold.migrations.schema import add_column, create_index, create_table

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Make the tables."""
    add_column("detail", "saved_as text null")
    create_table(
        "live_secret",
        "tenant_id number key, resource_id number key, id exact, hash text, made_by exact, made_at number,"
        " used_at number",
    )
    create_index("live_secret_by_id", "live_secret", "id", unique=True)
    create_table(
        "live_pull",
        "n number serial, tenant_id number, report_id number, destination_id number, at number, rows number,"
        " milliseconds number",
    )
    create_index("live_pull_by_report", "live_pull", "tenant_id report_id n")
    create_index("live_pull_by_time", "live_pull", "at")
