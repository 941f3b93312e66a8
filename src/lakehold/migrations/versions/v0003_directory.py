"""Accounts, sign-ins, links, invites, API tokens, and counted sign-in attempts."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import BOOLEAN, EXACT, INTEGER, NUMBER, TEXT, keys, optional, required

revision = "0003"
down_revision = "0002"


def _secret(name: str, *columns: sa.Column) -> None:
    op.create_table(
        name,
        *keys(EXACT, "id"),
        *required(NUMBER, "tenant_id"),
        *required(TEXT, "hash"),
        *required(NUMBER, "made_at", "until"),
        *columns,
    )


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "account",
        *keys(NUMBER, "tenant_id", "member_id"),
        *optional(TEXT, "email"),
        *optional(EXACT, "email_key"),
        *required(TEXT, "password"),
        *required(BOOLEAN, "service"),
        *required(NUMBER, "made_at"),
    )
    op.create_index("account_by_email", "account", ["tenant_id", "email_key"], unique=True)
    op.create_table(
        "attempt",
        *keys(NUMBER, "tenant_id"),
        *keys(EXACT, "key"),
        *required(INTEGER, "tries"),
        *required(NUMBER, "last_at", "free_at"),
    )
    op.create_index("attempt_by_time", "attempt", ["last_at"])
    _secret(
        "sign_in",
        *required(NUMBER, "member_id"),
        *required(TEXT, "method"),
        *required(NUMBER, "used_at"),
        *required(TEXT, "address", "agent"),
    )
    op.create_index("sign_in_by_member", "sign_in", ["tenant_id", "member_id"])
    op.create_index("sign_in_by_end", "sign_in", ["until"])
    _secret("link", *required(NUMBER, "member_id"), *required(TEXT, "purpose"))
    op.create_index("link_by_member", "link", ["tenant_id", "member_id"])
    op.create_index("link_by_end", "link", ["until"])
    _secret(
        "invite",
        *required(TEXT, "email"),
        *required(EXACT, "email_key"),
        *required(TEXT, "carries"),
        *required(EXACT, "made_by"),
    )
    op.create_index("invite_by_time", "invite", ["tenant_id", "made_at", "id"])
    _secret(
        "token",
        *required(NUMBER, "member_id"),
        *required(TEXT, "name"),
        *optional(TEXT, "actions", "resources"),
        *required(EXACT, "made_by"),
        *required(NUMBER, "used_at"),
    )
    op.create_index("token_by_member", "token", ["tenant_id", "member_id"])
    op.create_index("token_by_time", "token", ["tenant_id", "made_at", "id"])
