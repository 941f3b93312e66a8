"""Forms that were sent but not executed, kept for a short time."""

from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, TEXT, keys, required

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Make the table."""
    op.create_table("form_draft", *keys(id=EXACT), *required(tenant_id=NUMBER, member=EXACT, until=NUMBER, body=TEXT))
    op.create_index("form_draft_by_member", "form_draft", ["tenant_id", "member", "until"])
    op.create_index("form_draft_by_end", "form_draft", ["until"])
