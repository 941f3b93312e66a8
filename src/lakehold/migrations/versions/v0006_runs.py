"""Jobs, and the workers that do them."""

from lakehold.migrations.schema import create_index, create_table

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make the tables."""
    create_table("worker", "id exact key, beat number")
    create_table(
        "job",
        "tenant_id number key, id exact key, tenant exact, kind text, state text, started_by exact, caller text,"
        " wanted text, tries int, progress int, doing text, error text, result text, rows number, made_at number,"
        " started_at number null, ended_at number null",
    )
    create_index("job_by_state", "job", "state made_at")
    create_index("job_by_time", "job", "tenant_id made_at")
