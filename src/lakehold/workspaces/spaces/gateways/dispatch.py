"""The calls of gateways, each with the identity that its token has proved: a gateway gets its own work orders only."""

import json
import shutil
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.kit.database import TenantRows
from lakehold.kit.errors import ConflictError, NotFoundError, UnavailableError
from lakehold.kit.ids import cut_text
from lakehold.workspaces.spaces.gateways import registration
from lakehold.workspaces.spaces.gateways.call_rate import CallRate
from lakehold.workspaces.spaces.gateways.key_pairs import TOKEN_LIFETIME, GatewayToken, PublicKeys, parse_token
from lakehold.workspaces.spaces.gateways.spool import Spool
from lakehold.workspaces.spaces.gateways.tables import gateway_table, log_table, order_table
from lakehold.workspaces.spaces.gateways.work_orders import DONE, FAILED, OPEN, TAKEN, spool_of

_POLL_SECONDS, _WAIT_SECONDS = 0.2, 3.0
_MAX_LINES, _MAX_LINE, _MAX_TEXT = 50, 500, 50
_MAX_RESULT = 4_000_000
RESERVED_BYTES = 500_000_000
"""What has to be free on the disk of the platform for a part to be taken."""


@dataclass(frozen=True, slots=True)
class GatewayIdentity:
    """A gateway whose token was verified."""

    token: GatewayToken
    tenant: int
    number: int
    signing_key: str


class GatewayDispatch:
    """Answers the calls of gateways."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._rate = CallRate()

    def authenticate(self, text: str) -> GatewayIdentity:
        """Return the gateway of a token, or refuse."""
        parsed = parse_token(text)
        if parsed is None:
            raise _refused()
        token, payload, signature = parsed
        with self._platform.database.read() as transaction:
            row = registration.find_registered(transaction, token.tenant, token.gateway)
        fresh = abs(self._platform.clock() - token.at) < TOKEN_LIFETIME
        if row is None or not PublicKeys(row.signing_key, row.sealing_key).verify("call", payload, signature):
            raise _refused()
        if not fresh:
            raise UnauthorizedError("The clocks of gateway and platform differ.", "Set them by a time server.")
        self._rate.take(row.tenant_id, row.resource_id, self._platform.clock())
        return GatewayIdentity(token, row.tenant_id, row.resource_id, row.signing_key)

    def need_current(self, caller: GatewayIdentity) -> Any:  # noqa: ANN401 - a row
        """Return the gateway's row; refuse one that was revoked, has other keys, or runs elsewhere by now."""
        with self._platform.database.read() as transaction:
            row = registration.find_registered(transaction, caller.token.tenant, caller.token.gateway)
        if row is None or row.signing_key != caller.signing_key:
            raise _refused()
        if row.instance != caller.token.instance:
            raise UnauthorizedError("Another process runs as this gateway.", "Run one process for each gateway.")
        return row

    def hello(self, caller: GatewayIdentity, body: Mapping[str, Any]) -> dict[str, Any]:
        """Note that a process of the gateway has started; it takes the place of an earlier one."""
        version = cut_text(str(body.get("version", "")), _MAX_TEXT)
        self._update(caller, instance=caller.token.instance, version=version, heartbeat_at=self._platform.clock())
        return {}

    def next_orders(self, caller: GatewayIdentity, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the work orders that the gateway has to begin, waiting some seconds for one. This is its heartbeat."""
        working = [str(each) for each in body.get("working", ())]
        self._write_log(caller, body.get("log", ()))
        self._update(caller, heartbeat_at=self._platform.clock())
        deadline = time.monotonic() + _WAIT_SECONDS
        while True:
            row = self.need_current(caller)
            found, void = self._orders(caller, working)
            if found or void or row.rotation_due or time.monotonic() > deadline:
                return {"orders": found, "void": void, "rotate": bool(row.rotation_due)}
            time.sleep(_POLL_SECONDS)

    def take(self, caller: GatewayIdentity, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a work order of the gateway with how far it has come; `anew` drops the parts that have arrived."""
        self.need_current(caller)
        row, c = self._need_order(caller, body), order_table.c
        epoch, taken = row.epoch, row.taken_at or self._platform.clock()
        if body.get("anew"):
            self._spool(row).clear()
            epoch += 1
        with self._platform.database.write() as transaction:
            rows = TenantRows(transaction, caller.tenant, order_table)
            rows.update(c.id == row.id, c.state.in_({OPEN, TAKEN}), state=TAKEN, epoch=epoch, taken_at=taken)
        state = spool_of(self._platform, row.id, epoch).state()
        at = {"parts": state.parts, "offset": state.offset, "epoch": epoch}
        return {"id": row.id, "kind": row.kind, "body": json.loads(row.body), "sealed": row.sealed, **at}

    def need_part(self, caller: GatewayIdentity, body: Mapping[str, Any]) -> Spool:
        """Return where a part of an order goes, or refuse; asked again before each batch."""
        self.need_current(caller)
        row = self._need_order(caller, body)
        self._need_room(caller, row)
        if row.epoch != body.get("epoch"):
            raise ConflictError("The parts were begun anew.", "Take the work order again.")
        return self._spool(row)

    def add_log(self, caller: GatewayIdentity, body: Mapping[str, Any]) -> dict[str, Any]:
        """Append lines to the log of the gateway."""
        self.need_current(caller)
        self._write_log(caller, body.get("log", ()))
        return {}

    def finish(self, caller: GatewayIdentity, body: Mapping[str, Any]) -> dict[str, Any]:
        """End an order with its result, or with an error. All parts of a table must have arrived."""
        self.need_current(caller)
        row, error = self._need_order(caller, body), body.get("error")
        if not all(each is None or isinstance(each, dict) for each in (error, body.get("result"))):
            raise TypeError(body)
        result = json.dumps(error or body.get("result") or {"parts": body.get("parts")})
        if len(result) > _MAX_RESULT:
            error, result = True, json.dumps({"message": "The answer is too large.", "hint": "Name fewer schemas."})
        spool = self._spool(row)
        if not error and spool.state().parts != int(body.get("parts", 0)):
            raise ConflictError("Not all parts have arrived.", "Take the work order again.")
        self._end(caller, row, FAILED if error else DONE, result)
        return {}

    def rotate(self, caller: GatewayIdentity, body: Mapping[str, Any]) -> dict[str, Any]:
        """Replace the keys of the gateway."""
        self.need_current(caller)
        fresh = PublicKeys(str(body.get("signing_key", "")), str(body.get("sealing_key", "")))
        token = caller.token
        registration.rotate(self._platform, token.tenant, token.gateway, fresh, str(body.get("proof", "")))
        return {}

    def _orders(self, caller: GatewayIdentity, working: Collection[str]) -> tuple[list[str], list[str]]:
        """Return the orders to begin, and those of the given ones that are void."""
        c, at = order_table.c, self._platform.clock()
        with self._platform.database.read() as transaction:
            mine = TenantRows(transaction, caller.tenant, order_table)
            valid = (c.resource_id == caller.number, c.state.in_({OPEN, TAKEN}), c.until > at)
            found = [row.id for row in mine.select(*valid, columns=(c.id,), order_by=(c.made_at,))]
        return [each for each in found if each not in working], [each for each in working if each not in found]

    def _need_order(self, caller: GatewayIdentity, body: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a row
        c = order_table.c
        mine = (c.id == str(body.get("order", "")), c.resource_id == caller.number, c.state.in_({OPEN, TAKEN}))
        with self._platform.database.read() as transaction:
            row = TenantRows(transaction, caller.tenant, order_table).select(*mine, c.until > self._platform.clock())
            found = row.first()
        if found is None:
            raise NotFoundError("There is no such work order for this gateway.", "It was cancelled, or has ended.")
        return found

    def _end(self, caller: GatewayIdentity, row: Any, state: str, result: str) -> None:  # noqa: ANN401 - a row
        rows, size = self._spool(row).totals()
        # Its secrets are of no use any more.
        ended = {"state": state, "result": result, "sealed": "", "ended_at": self._platform.clock()}
        with self._platform.database.write() as transaction:
            orders, c = TenantRows(transaction, caller.tenant, order_table), order_table.c
            moved = {"rows": rows, "bytes": size}
            if orders.update(c.id == row.id, c.state.in_({OPEN, TAKEN}), **ended, **moved) and state == DONE:
                g = gateway_table.c
                added = {"rows": g.rows + rows, "bytes": g.bytes + size}
                TenantRows(transaction, caller.tenant, gateway_table).update(g.resource_id == caller.number, **added)

    def _need_room(self, caller: GatewayIdentity, row: Any) -> None:  # noqa: ANN401 - a row
        """End an order before it fills the disk, which others need as well."""
        if shutil.disk_usage(self._platform.settings.data).free > RESERVED_BYTES:
            return
        error = UnavailableError("The disk of the platform is full.", "Free some space, then run it again.")
        said = {"code": error.code, "message": error.message, "hint": error.hint}
        self._end(caller, row, FAILED, json.dumps(said))
        raise error

    def _spool(self, row: Any) -> Spool:  # noqa: ANN401 - a row
        return spool_of(self._platform, row.id, row.epoch)

    def _write_log(self, caller: GatewayIdentity, lines: Sequence[Mapping[str, Any]]) -> None:
        if not lines:
            return
        at = self._platform.clock()
        with self._platform.database.write() as transaction:
            rows = TenantRows(transaction, caller.tenant, log_table)
            for line in list(lines)[-_MAX_LINES:]:
                level, text = str(line.get("level", "info"))[:_MAX_TEXT], cut_text(str(line.get("text", "")), _MAX_LINE)
                moment = line.get("at")
                said_at = min(max(moment, 0), at) if isinstance(moment, int) else at
                rows.insert(resource_id=caller.number, at=said_at, level=level, text=text)

    def _update(self, caller: GatewayIdentity, **values: object) -> None:
        c = gateway_table.c
        with self._platform.database.write() as transaction:
            rows = TenantRows(transaction, caller.tenant, gateway_table)
            rows.update(c.resource_id == caller.number, c.revoked_at == 0, **values)


def _refused() -> UnauthorizedError:
    return UnauthorizedError("The gateway is not registered, or not any more.", "Register it with a new code.")
