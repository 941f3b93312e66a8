"""Where workers can be asked, and what was asked of them."""

from lakehold.migrations.schema import add_column, create_index, create_table

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Make the column and the table."""
    add_column("worker", "address exact", "")
    create_table(
        "query",
        "n number serial, tenant_id number, member exact, workspace_id number, text text, asked_at number,"
        " took number, rows number, error text",
    )
    create_index("query_by_member", "query", "tenant_id member n")
    create_index("query_by_time", "query", "asked_at")
