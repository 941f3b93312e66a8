"""Options, activity, saved state and subscriptions under the names that the code has for them."""

from alembic import op

revision = "0016"
down_revision = "0015"

_RENAMED = (
    ("job", "wanted", "options"),
    ("job", "doing", "activity"),
    ("run", "wanted", "options"),
    ("run_step", "told", "saved_state"),
    ("notification", "wanted", "subscribed"),
)


def upgrade() -> None:
    for table, before, after in _RENAMED:
        op.execute(f"ALTER TABLE {table} RENAME COLUMN {before} TO {after}")
