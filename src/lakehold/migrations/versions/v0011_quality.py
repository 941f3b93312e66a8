"""Results of the data quality checks of data marts."""

from alembic import op

from lakehold.migrations.columns import NUMBER, TEXT, counter, required

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "quality",
        counter("n"),
        *required(tenant_id=NUMBER, resource_id=NUMBER, mark=TEXT, at=NUMBER, name=TEXT, state=TEXT, said=TEXT),
    )
    op.create_index("quality_by_resource", "quality", ["tenant_id", "resource_id", "n"])
