"""Change captures of landing tasks: their replication slots, and up to where their datasets are."""

from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, TEXT, keys, required

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    op.create_table(
        "change_capture",
        *keys(tenant_id=NUMBER, task_id=NUMBER, connection_id=NUMBER),
        *required(slot=EXACT, state=TEXT, retained=NUMBER, problem=TEXT, checked_at=NUMBER),
    )
