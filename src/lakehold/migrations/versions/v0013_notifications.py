"""Who is told of what in a project, and the checks of a run."""

from lakehold.migrations.schema import create_index, create_table

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Make the table."""
    create_table(
        "notification",
        "tenant_id number key, resource_id number key, member_id number key, channel exact key, wanted bool,"
        " chosen_at number, chosen_by exact",
    )
    create_index("quality_by_mark", "quality", "tenant_id mark")
