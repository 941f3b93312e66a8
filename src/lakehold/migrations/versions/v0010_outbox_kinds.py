"""The outbox holds webhooks beside mails."""

from lakehold.migrations.schema import add_column

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """What waits there by now are mails."""
    add_column("outbox", "kind text", "mail")
