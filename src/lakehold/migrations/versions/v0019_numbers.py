"""Numbers of runs and messages are never used again, on SQLite as on PostgreSQL."""

from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    for table in ("run", "outbox"):
        with op.batch_alter_table(table, recreate="always", table_kwargs={"sqlite_autoincrement": True}):
            pass
