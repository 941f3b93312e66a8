"""Metadata of resources, access requests, credentials, and last use."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0004"
down_revision = "0003"

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_exact = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def _column(name: str, kind: sa.types.TypeEngine) -> sa.Column:
    return sa.Column(name, kind, nullable=False)


def _key(name: str, kind: sa.types.TypeEngine = _number) -> sa.Column:
    return sa.Column(name, kind, primary_key=True)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "detail",
        _key("tenant_id"),
        _key("resource_id"),
        _column("description", sa.Text()),
        _column("settings", sa.Text()),
        _column("version", _number),
        sa.Column("created_at", _number),
        _column("created_by", _exact),
        sa.Column("updated_at", _number),
        _column("updated_by", _exact),
    )
    op.create_table(
        "access_request",
        sa.Column("n", _number, primary_key=True, autoincrement=True),
        _column("tenant_id", _number),
        _column("uid", _exact),
        _column("asker", _exact),
        _column("resource", _exact),
        _column("action", _exact),
        _column("facts", sa.Text()),
        _column("reason", sa.Text()),
        _column("state", sa.Text()),
        _column("asked_at", _number),
        _column("expires_at", _number),
        sa.Column("decided_at", _number),
        _column("decided_by", _exact),
        _column("answer", sa.Text()),
        sa.Column("until", _number),
    )
    op.create_index("request_by_uid", "access_request", ["tenant_id", "uid"], unique=True)
    op.create_index("request_by_asker", "access_request", ["tenant_id", "asker", "n"])
    op.create_index("request_by_state", "access_request", ["tenant_id", "state", "n"])
    op.create_table(
        "credential",
        _key("tenant_id"),
        _key("resource_id"),
        _key("name", _exact),
        _column("secret", sa.Text()),
        _column("updated_at", _number),
        _column("updated_by", _exact),
    )
    op.create_table(
        "last_use",
        _key("tenant_id"),
        _key("resource_id"),
        _key("member_id"),
        _key("action", sa.Text()),
        _column("day", sa.Integer()),
    )
    op.create_index("last_use_by_member", "last_use", ["tenant_id", "member_id", "day"])
    op.create_table(
        "viewing",
        _key("through", _exact),
        _column("tenant_id", _number),
        _column("behind", _exact),
        _column("member", _exact),
        _column("until", _number),
    )
