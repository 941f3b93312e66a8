"""Gateways of data spaces: their public keys, registration codes, work orders and log lines."""

from alembic import op

from lakehold.migrations.columns import EXACT, NUMBER, TEXT, counter, keys, required

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "gateway",
        *keys(tenant_id=NUMBER, resource_id=NUMBER),
        *required(signing_key=TEXT, sealing_key=TEXT, registered_at=NUMBER, revoked_at=NUMBER, rotation_due=NUMBER),
        *required(instance=TEXT, version=TEXT, heartbeat_at=NUMBER, rows=NUMBER, bytes=NUMBER),
    )
    op.create_table(
        "gateway_code",
        *keys(id=EXACT),
        *required(tenant_id=NUMBER, hash=TEXT, made_at=NUMBER, until=NUMBER, resource_id=NUMBER),
    )
    op.create_index("gateway_code_by_gateway", "gateway_code", ["tenant_id", "resource_id"])
    op.create_table(
        "gateway_order",
        *keys(tenant_id=NUMBER, id=EXACT),
        *required(resource_id=NUMBER, kind=TEXT, body=TEXT, sealed=TEXT, state=EXACT, result=TEXT, epoch=NUMBER),
        *required(made_at=NUMBER, until=NUMBER, taken_at=NUMBER, ended_at=NUMBER, rows=NUMBER, bytes=NUMBER),
    )
    op.create_index("gateway_order_by_gateway", "gateway_order", ["tenant_id", "resource_id", "state"])
    op.create_index("gateway_order_by_end", "gateway_order", ["until"])
    op.create_table(
        "gateway_log",
        counter("n"),
        *required(tenant_id=NUMBER, resource_id=NUMBER, at=NUMBER, level=TEXT, text=TEXT),
    )
    op.create_index("gateway_log_by_gateway", "gateway_log", ["tenant_id", "resource_id", "n"])
