"""The tables of gateways. Private keys and secrets are in none of them: keys are public, secrets are sealed."""

import sqlalchemy as sa

from lakehold.directory import secret_tokens
from lakehold.kit.database import ExactText, IdType, metadata

gateway_table = sa.Table(
    "gateway",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("resource_id", IdType, primary_key=True),
    sa.Column("signing_key", sa.Text, nullable=False),
    sa.Column("sealing_key", sa.Text, nullable=False),
    sa.Column("registered_at", IdType, nullable=False),
    # 0 while it is not revoked.
    sa.Column("revoked_at", IdType, nullable=False),
    # 1 from when somebody asks for new keys until the gateway has made them.
    sa.Column("rotation_due", IdType, nullable=False),
    # The process that runs with its keys now: a later one takes the place of an earlier one.
    sa.Column("instance", sa.Text, nullable=False),
    sa.Column("version", sa.Text, nullable=False),
    sa.Column("heartbeat_at", IdType, nullable=False),
    # What it has moved since it was registered.
    sa.Column("rows", IdType, nullable=False),
    sa.Column("bytes", IdType, nullable=False),
)

code_table = secret_tokens.secret_table("gateway_code", sa.Column("resource_id", IdType, nullable=False))
sa.Index("gateway_code_by_gateway", code_table.c.tenant_id, code_table.c.resource_id)

order_table = sa.Table(
    "gateway_order",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("id", ExactText, primary_key=True),
    # The gateway.
    sa.Column("resource_id", IdType, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("sealed", sa.Text, nullable=False),
    sa.Column("state", ExactText, nullable=False),
    sa.Column("result", sa.Text, nullable=False),
    # Counts how often its parts were begun anew.
    sa.Column("epoch", IdType, nullable=False),
    sa.Column("made_at", IdType, nullable=False),
    # Extended as long as somebody waits for it; afterwards it is void.
    sa.Column("until", IdType, nullable=False),
    sa.Column("taken_at", IdType, nullable=False),
    sa.Column("ended_at", IdType, nullable=False),
    sa.Column("rows", IdType, nullable=False),
    sa.Column("bytes", IdType, nullable=False),
)
sa.Index("gateway_order_by_gateway", order_table.c.tenant_id, order_table.c.resource_id, order_table.c.state)
sa.Index("gateway_order_by_end", order_table.c.until)

log_table = sa.Table(
    "gateway_log",
    metadata,
    sa.Column("n", IdType, primary_key=True, autoincrement=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("resource_id", IdType, nullable=False),
    sa.Column("at", IdType, nullable=False),
    sa.Column("level", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
)
sa.Index("gateway_log_by_gateway", log_table.c.tenant_id, log_table.c.resource_id, log_table.c.n)
