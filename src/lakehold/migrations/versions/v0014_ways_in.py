"""Tokens that are the way in of something."""

from lakehold.migrations.schema import add_column

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Say of what."""
    add_column("token", "through_id number null")
