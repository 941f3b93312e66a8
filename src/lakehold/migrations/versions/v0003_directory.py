"""Accounts, sign-ins, links, invites, API tokens, and counted sign-in attempts."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0003"
down_revision = "0002"

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_exact = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def _column(name: str, kind: sa.types.TypeEngine) -> sa.Column:
    return sa.Column(name, kind, nullable=False)


def _secret(name: str, *columns: sa.Column) -> None:
    op.create_table(
        name,
        sa.Column("id", _exact, primary_key=True),
        _column("tenant_id", _number),
        _column("hash", sa.Text()),
        _column("made_at", _number),
        _column("until", _number),
        *columns,
    )


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "account",
        sa.Column("tenant_id", _number, primary_key=True),
        sa.Column("member_id", _number, primary_key=True),
        sa.Column("email", sa.Text()),
        sa.Column("email_key", _exact),
        _column("password", sa.Text()),
        _column("service", sa.Boolean()),
        _column("made_at", _number),
    )
    op.create_index("account_by_email", "account", ["tenant_id", "email_key"], unique=True)
    op.create_table(
        "attempt",
        sa.Column("tenant_id", _number, primary_key=True),
        sa.Column("key", _exact, primary_key=True),
        _column("tries", sa.Integer()),
        _column("last_at", _number),
        _column("free_at", _number),
    )
    op.create_index("attempt_by_time", "attempt", ["last_at"])
    _secret(
        "sign_in",
        _column("member_id", _number),
        _column("method", sa.Text()),
        _column("used_at", _number),
        _column("address", sa.Text()),
        _column("agent", sa.Text()),
    )
    op.create_index("sign_in_by_member", "sign_in", ["tenant_id", "member_id"])
    op.create_index("sign_in_by_end", "sign_in", ["until"])
    _secret("link", _column("member_id", _number), _column("purpose", sa.Text()))
    op.create_index("link_by_member", "link", ["tenant_id", "member_id"])
    op.create_index("link_by_end", "link", ["until"])
    _secret(
        "invite",
        _column("email", sa.Text()),
        _column("email_key", _exact),
        _column("carries", sa.Text()),
        _column("made_by", _exact),
    )
    op.create_index("invite_by_time", "invite", ["tenant_id", "made_at", "id"])
    _secret(
        "token",
        _column("member_id", _number),
        _column("name", sa.Text()),
        sa.Column("actions", sa.Text()),
        sa.Column("resources", sa.Text()),
        _column("made_by", _exact),
        _column("used_at", _number),
    )
    op.create_index("token_by_member", "token", ["tenant_id", "member_id"])
    op.create_index("token_by_time", "token", ["tenant_id", "made_at", "id"])
