"""Accounts, sign-ins, links, invites, API tokens, and counted sign-in attempts."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import BOOLEAN, EXACT, INTEGER, NUMBER, TEXT, keys, optional, required

revision = "0003"
down_revision = "0002"


def _secret(name: str, *columns: sa.Column) -> None:
    op.create_table(
        name,
        *keys(id=EXACT),
        *required(tenant_id=NUMBER, hash=TEXT, made_at=NUMBER, until=NUMBER),
        *columns,
    )


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "account",
        *keys(tenant_id=NUMBER, member_id=NUMBER),
        *optional(email=TEXT, email_key=EXACT),
        *required(password=TEXT, service=BOOLEAN, made_at=NUMBER),
    )
    op.create_index("account_by_email", "account", ["tenant_id", "email_key"], unique=True)
    op.create_table(
        "attempt",
        *keys(tenant_id=NUMBER, key=EXACT),
        *required(tries=INTEGER, last_at=NUMBER, free_at=NUMBER),
    )
    op.create_index("attempt_by_time", "attempt", ["last_at"])
    _secret("sign_in", *required(member_id=NUMBER, method=TEXT, used_at=NUMBER, address=TEXT, agent=TEXT))
    op.create_index("sign_in_by_member", "sign_in", ["tenant_id", "member_id"])
    op.create_index("sign_in_by_end", "sign_in", ["until"])
    _secret("link", *required(member_id=NUMBER, purpose=TEXT))
    op.create_index("link_by_member", "link", ["tenant_id", "member_id"])
    op.create_index("link_by_end", "link", ["until"])
    _secret("invite", *required(email=TEXT, email_key=EXACT, carries=TEXT, made_by=EXACT))
    op.create_index("invite_by_time", "invite", ["tenant_id", "made_at", "id"])
    _secret(
        "token",
        *required(member_id=NUMBER, name=TEXT),
        *optional(actions=TEXT, resources=TEXT),
        *required(made_by=EXACT, used_at=NUMBER),
    )
    op.create_index("token_by_member", "token", ["tenant_id", "member_id"])
    op.create_index("token_by_time", "token", ["tenant_id", "made_at", "id"])
