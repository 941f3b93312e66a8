"""Metadata of resources, access requests, credentials, and last use."""

from alembic import op

from lakehold.migrations.columns import EXACT, INTEGER, NUMBER, TEXT, counter, keys, optional, required

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "detail",
        *keys(NUMBER, "tenant_id", "resource_id"),
        *required(TEXT, "description", "settings"),
        *required(NUMBER, "version"),
        *optional(NUMBER, "created_at"),
        *required(EXACT, "created_by"),
        *optional(NUMBER, "updated_at"),
        *required(EXACT, "updated_by"),
    )
    op.create_table(
        "access_request",
        counter("n"),
        *required(NUMBER, "tenant_id"),
        *required(EXACT, "uid", "asker", "resource", "action"),
        *required(TEXT, "facts", "reason", "state"),
        *required(NUMBER, "asked_at", "expires_at"),
        *optional(NUMBER, "decided_at"),
        *required(EXACT, "decided_by"),
        *required(TEXT, "answer"),
        *optional(NUMBER, "until"),
    )
    op.create_index("request_by_uid", "access_request", ["tenant_id", "uid"], unique=True)
    op.create_index("request_by_asker", "access_request", ["tenant_id", "asker", "n"])
    op.create_index("request_by_state", "access_request", ["tenant_id", "state", "n"])
    op.create_table(
        "credential",
        *keys(NUMBER, "tenant_id", "resource_id"),
        *keys(EXACT, "name"),
        *required(TEXT, "secret"),
        *required(NUMBER, "updated_at"),
        *required(EXACT, "updated_by"),
    )
    op.create_table(
        "last_use",
        *keys(NUMBER, "tenant_id", "resource_id", "member_id"),
        *keys(TEXT, "action"),
        *required(INTEGER, "day"),
    )
    op.create_index("last_use_by_member", "last_use", ["tenant_id", "member_id", "day"])
    op.create_table(
        "viewing",
        *keys(EXACT, "through"),
        *required(NUMBER, "tenant_id"),
        *required(EXACT, "behind", "member"),
        *required(NUMBER, "until"),
    )
