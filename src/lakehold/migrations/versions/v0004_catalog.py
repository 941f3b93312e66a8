"""Metadata of resources, access requests, credentials, and last use."""

from alembic import op

from lakehold.migrations.columns import EXACT, INTEGER, NUMBER, TEXT, counter, keys, optional, required

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "detail",
        *keys(tenant_id=NUMBER, resource_id=NUMBER),
        *required(description=TEXT, settings=TEXT, version=NUMBER),
        *optional(created_at=NUMBER),
        *required(created_by=EXACT),
        *optional(updated_at=NUMBER),
        *required(updated_by=EXACT),
    )
    op.create_table(
        "access_request",
        counter("n"),
        *required(tenant_id=NUMBER, uid=EXACT, asker=EXACT, resource=EXACT, action=EXACT),
        *required(facts=TEXT, reason=TEXT, state=TEXT, asked_at=NUMBER, expires_at=NUMBER),
        *optional(decided_at=NUMBER),
        *required(decided_by=EXACT, answer=TEXT),
        *optional(until=NUMBER),
    )
    op.create_index("request_by_uid", "access_request", ["tenant_id", "uid"], unique=True)
    op.create_index("request_by_asker", "access_request", ["tenant_id", "asker", "n"])
    op.create_index("request_by_state", "access_request", ["tenant_id", "state", "n"])
    op.create_table(
        "credential",
        *keys(tenant_id=NUMBER, resource_id=NUMBER, name=EXACT),
        *required(secret=TEXT, updated_at=NUMBER, updated_by=EXACT),
    )
    op.create_table(
        "last_use",
        *keys(tenant_id=NUMBER, resource_id=NUMBER, member_id=NUMBER, action=TEXT),
        *required(day=INTEGER),
    )
    op.create_index("last_use_by_member", "last_use", ["tenant_id", "member_id", "day"])
    op.create_table(
        "viewing",
        *keys(through=EXACT),
        *required(tenant_id=NUMBER, behind=EXACT, member=EXACT, until=NUMBER),
    )
