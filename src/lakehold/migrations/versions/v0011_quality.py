"""How the checks of data marts have come out."""

from lakehold.migrations.schema import create_index, create_table

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Make the table."""
    create_table(
        "quality",
        "n number serial, tenant_id number, resource_id number, mark text, at number, name text, state text, said text",
    )
    create_index("quality_by_resource", "quality", "tenant_id resource_id n")
