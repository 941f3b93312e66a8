"""Accounts, sign-ins, links, invites, API tokens, and counted sign-in attempts."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, required

revision = "0003"
down_revision = "0002"


def _secret(name: str, *columns: sa.Column) -> None:
    op.create_table(
        name,
        sa.Column("id", EXACT, primary_key=True),
        required("tenant_id", NUMBER),
        required("hash", sa.Text()),
        required("made_at", NUMBER),
        required("until", NUMBER),
        *columns,
    )


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "account",
        sa.Column("tenant_id", NUMBER, primary_key=True),
        sa.Column("member_id", NUMBER, primary_key=True),
        sa.Column("email", sa.Text()),
        sa.Column("email_key", EXACT),
        required("password", sa.Text()),
        required("service", sa.Boolean()),
        required("made_at", NUMBER),
    )
    op.create_index("account_by_email", "account", ["tenant_id", "email_key"], unique=True)
    op.create_table(
        "attempt",
        sa.Column("tenant_id", NUMBER, primary_key=True),
        sa.Column("key", EXACT, primary_key=True),
        required("tries", sa.Integer()),
        required("last_at", NUMBER),
        required("free_at", NUMBER),
    )
    op.create_index("attempt_by_time", "attempt", ["last_at"])
    _secret(
        "sign_in",
        required("member_id", NUMBER),
        required("method", sa.Text()),
        required("used_at", NUMBER),
        required("address", sa.Text()),
        required("agent", sa.Text()),
    )
    op.create_index("sign_in_by_member", "sign_in", ["tenant_id", "member_id"])
    op.create_index("sign_in_by_end", "sign_in", ["until"])
    _secret("link", required("member_id", NUMBER), required("purpose", sa.Text()))
    op.create_index("link_by_member", "link", ["tenant_id", "member_id"])
    op.create_index("link_by_end", "link", ["until"])
    _secret(
        "invite",
        required("email", sa.Text()),
        required("email_key", EXACT),
        required("carries", sa.Text()),
        required("made_by", EXACT),
    )
    op.create_index("invite_by_time", "invite", ["tenant_id", "made_at", "id"])
    _secret(
        "token",
        required("member_id", NUMBER),
        required("name", sa.Text()),
        sa.Column("actions", sa.Text()),
        sa.Column("resources", sa.Text()),
        required("made_by", EXACT),
        required("used_at", NUMBER),
    )
    op.create_index("token_by_member", "token", ["tenant_id", "member_id"])
    op.create_index("token_by_time", "token", ["tenant_id", "made_at", "id"])
