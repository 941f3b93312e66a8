"""The status of a gateway: whether it is online, what it has moved, and its own log."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND, Moment
from lakehold.workspaces.spaces.gateways.key_pairs import PublicKeys
from lakehold.workspaces.spaces.gateways.registration import need_gateway
from lakehold.workspaces.spaces.gateways.tables import code_table, gateway_table, log_table, order_table

OFFLINE_AFTER = 15 * SECOND
"""A gateway is offline when it has not been heard of for so long; it calls more often."""
MAX_LOG_LINES, MAX_TRANSFERS = 100, 10
READ = "read"


class GatewayState(StrEnum):
    """The state of a gateway."""

    NEVER_REGISTERED = "never_registered"
    REVOKED = "revoked"
    OFFLINE = "offline"
    ONLINE = "online"


@dataclass(frozen=True, slots=True)
class GatewayStatus:
    """The status of a gateway."""

    state: GatewayState
    code_until: Moment = 0
    """Until when a registration code can be used; 0 if there is none."""
    registered_at: Moment = 0
    revoked_at: Moment = 0
    heartbeat_at: Moment = 0
    """When it last called; 0 if it never did."""
    version: str = ""
    fingerprint: str = ""
    """Of its public keys."""
    rotation_due: bool = False
    rows: int = 0
    """What it has moved since it was registered."""
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class GatewayTransfer:
    """A table that was read through a gateway, or is being read."""

    state: str
    taken_at: Moment
    ended_at: Moment
    rows: int
    bytes: int

    @property
    def seconds(self) -> float:
        """Its duration; 0 while it is under way."""
        return max(self.ended_at - self.taken_at, 0) / SECOND if self.taken_at and self.ended_at else 0

    @property
    def rows_per_second(self) -> int:
        """Its throughput; 0 if it is not known."""
        return int(self.rows / self.seconds) if self.seconds else 0


@dataclass(frozen=True, slots=True)
class GatewayLogLine:
    """A line of the log of a gateway."""

    at: Moment
    level: str
    text: str


def load_status(ctx: RequestContext, uid: str) -> GatewayStatus:
    """Return the status of a gateway that the caller sees."""
    need_gateway(ctx, uid)
    number = ctx.view.resource(uid)
    unused = (code_table.c.resource_id == number, code_table.c.until > ctx.at)
    code = ctx.rows(code_table).select(*unused, columns=(code_table.c.until,)).scalar() or 0
    row = ctx.rows(gateway_table).select(gateway_table.c.resource_id == number).first()
    if row is None:
        return GatewayStatus(GatewayState.NEVER_REGISTERED, code)
    if row.revoked_at:
        state = GatewayState.REVOKED
    else:
        online = ctx.at - row.heartbeat_at < OFFLINE_AFTER
        state = GatewayState.ONLINE if online else GatewayState.OFFLINE
    return GatewayStatus(
        *(state, code, row.registered_at, row.revoked_at, row.heartbeat_at, row.version),
        PublicKeys(row.signing_key, row.sealing_key).fingerprint,
        bool(row.rotation_due),
        row.rows,
        row.bytes,
    )


def list_transfers(ctx: RequestContext, uid: str) -> list[GatewayTransfer]:
    """Return the last tables that were read through a gateway, newest first; without their names."""
    need_gateway(ctx, uid)
    c = order_table.c
    which = (c.resource_id == ctx.view.resource(uid), c.kind == READ)
    found = ctx.rows(order_table).select(*which, order_by=(c.made_at.desc(),), limit=MAX_TRANSFERS)
    return [GatewayTransfer(row.state, row.taken_at, row.ended_at, row.rows, row.bytes) for row in found]


def list_log(ctx: RequestContext, uid: str) -> Sequence[GatewayLogLine]:
    """Return the newest lines of the log of a gateway, newest first, for those who may edit it."""
    need_gateway(ctx, uid, "edit")
    c = log_table.c
    which = c.resource_id == ctx.view.resource(uid)
    found = ctx.rows(log_table).select(which, order_by=(c.n.desc(),), limit=MAX_LOG_LINES)
    return [GatewayLogLine(row.at, row.level, row.text) for row in found]
