"""Metadata of resources, access requests, credentials, and last use."""

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, required

revision = "0004"
down_revision = "0003"


def _key(name: str, kind: sa.types.TypeEngine = NUMBER) -> sa.Column:
    return sa.Column(name, kind, primary_key=True)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "detail",
        _key("tenant_id"),
        _key("resource_id"),
        required("description", sa.Text()),
        required("settings", sa.Text()),
        required("version", NUMBER),
        sa.Column("created_at", NUMBER),
        required("created_by", EXACT),
        sa.Column("updated_at", NUMBER),
        required("updated_by", EXACT),
    )
    op.create_table(
        "access_request",
        sa.Column("n", NUMBER, primary_key=True, autoincrement=True),
        required("tenant_id", NUMBER),
        required("uid", EXACT),
        required("asker", EXACT),
        required("resource", EXACT),
        required("action", EXACT),
        required("facts", sa.Text()),
        required("reason", sa.Text()),
        required("state", sa.Text()),
        required("asked_at", NUMBER),
        required("expires_at", NUMBER),
        sa.Column("decided_at", NUMBER),
        required("decided_by", EXACT),
        required("answer", sa.Text()),
        sa.Column("until", NUMBER),
    )
    op.create_index("request_by_uid", "access_request", ["tenant_id", "uid"], unique=True)
    op.create_index("request_by_asker", "access_request", ["tenant_id", "asker", "n"])
    op.create_index("request_by_state", "access_request", ["tenant_id", "state", "n"])
    op.create_table(
        "credential",
        _key("tenant_id"),
        _key("resource_id"),
        _key("name", EXACT),
        required("secret", sa.Text()),
        required("updated_at", NUMBER),
        required("updated_by", EXACT),
    )
    op.create_table(
        "last_use",
        _key("tenant_id"),
        _key("resource_id"),
        _key("member_id"),
        _key("action", sa.Text()),
        required("day", sa.Integer()),
    )
    op.create_index("last_use_by_member", "last_use", ["tenant_id", "member_id", "day"])
    op.create_table(
        "viewing",
        _key("through", EXACT),
        required("tenant_id", NUMBER),
        required("behind", EXACT),
        required("member", EXACT),
        required("until", NUMBER),
    )
