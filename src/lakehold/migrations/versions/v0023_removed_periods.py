"""Access reviews keep the periods that a removal ended, so that reopening gives back what was taken."""

from alembic import op

from lakehold.migrations.columns import TEXT, optional

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.add_column("campaign_decision", *optional(removed=TEXT))
