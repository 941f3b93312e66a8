"""The outbox holds webhooks beside mails."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the kind of each message; those that exist are mails."""
    op.add_column("outbox", sa.Column("kind", sa.Text(), nullable=False, server_default="mail"))
