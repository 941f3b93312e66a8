"""Work orders: requests to a gateway, by a run or a probe that waits for the result.

An order belongs to one gateway and is void when nobody waits for it any longer. The same order that is placed again,
as by a step that is repeated after its worker died, goes on where it was. Its secrets are encrypted for the gateway.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from lakehold.access.facts.descriptions import describe_resource
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.database import TenantRows, Transaction
from lakehold.kit.errors import ConflictError, UnavailableError
from lakehold.runs.scheduler.housekeeping import PeriodicTask
from lakehold.workspaces.spaces.gateways.endpoint import spool_folder
from lakehold.workspaces.spaces.gateways.key_pairs import PublicKeys, seal
from lakehold.workspaces.spaces.gateways.spool import Spool
from lakehold.workspaces.spaces.gateways.status import OFFLINE_AFTER
from lakehold.workspaces.spaces.gateways.tables import gateway_table, log_table, order_table

STREAMS, SAMPLE = "streams", "sample"
OPEN, TAKEN, DONE, FAILED, CANCELLED = "open", "taken", "done", "failed", "cancelled"
LEASE = 60 * SECOND
"""How long an order is valid after somebody has last waited for it."""
_POLL_SECONDS, _EXTEND_SECONDS = 0.1, 10.0
_KEPT = 3600 * SECOND
"""How long parts are kept after their order has ended or is void, so that a run can be resumed."""
_LISTED = 7 * 86_400 * SECOND
_MAX_LOG = 200


class OrderFailedError(Exception):
    """A gateway could not do what it was asked for. It is translated before a person reads it."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__("the gateway has failed")
        self.error = error


@dataclass(frozen=True, slots=True)
class OrderRequest:
    """A request to a gateway."""

    gateway: str
    kind: str
    body: Mapping[str, object]
    secrets: Mapping[str, str] = field(repr=False)
    key: str = ""
    """Names the order, if it is to go on when it is placed again."""


class WorkOrder:
    """A placed work order."""

    def __init__(self, platform: Platform, caller: Caller, request: OrderRequest) -> None:
        self._platform, self._request = platform, request
        self.id = sha256(f"{caller.tenant}/{request.key}".encode()).hexdigest() if request.key else uuid4().hex
        with platform.write(caller) as ctx:
            self._tenant, self._gateway = ctx.session.tenant, ctx.view.resource(request.gateway)
            self._name = describe_resource(ctx.view, request.gateway)
            self._place(ctx)

    def wait(self, patience: float, check: Callable[[], None] = lambda: None) -> Mapping[str, Any]:
        """Return the result once the gateway has finished; raise its error.

        It is given up when the gateway has not called for so many seconds, or the check raises.
        """
        extended = heard = time.monotonic()
        try:
            while True:
                row, online = self._load()
                if row.state in {DONE, FAILED, CANCELLED}:
                    return self._result(row.state, row.result)
                now = time.monotonic()
                heard = now if online else heard
                if now - heard > patience:
                    self._refuse_offline()
                if now - extended > _EXTEND_SECONDS:
                    extended = now
                    self._update(until=self._platform.clock() + LEASE)
                check()
                time.sleep(_POLL_SECONDS)
        except BaseException:
            self._update(state=CANCELLED, sealed="", ended_at=self._platform.clock())
            raise

    @property
    def spool(self) -> Spool:
        """The parts that have arrived."""
        return spool_of(self._platform, self.id, self._load()[0].epoch)

    def close(self) -> None:
        """Delete the parts, or the answer: what they hold has been written or read."""
        self.spool.clear()
        self._update(result="", sealed="")

    def _place(self, ctx: RequestContext) -> None:
        registered = ctx.rows(gateway_table).select(gateway_table.c.resource_id == self._gateway).first()
        if registered is None or registered.revoked_at:
            state = "was revoked" if registered else "has not been registered yet"
            raise ConflictError(f"The {self._name} {state}.", "Register it on its page.", field="gateway")
        keys = PublicKeys(registered.signing_key, registered.sealing_key)
        rows, c = ctx.rows(order_table), order_table.c
        body, at = json.dumps(dict(self._request.body), sort_keys=True), ctx.at
        sealed = seal(keys, json.dumps(dict(self._request.secrets)), self.id)
        fresh = {"body": body, "sealed": sealed, "until": at + LEASE, "ended_at": 0}
        there = rows.select(c.id == self.id).first()
        if there is None:
            values = {"state": OPEN, "result": "", "epoch": 0, "made_at": at, "taken_at": 0, "rows": 0, "bytes": 0}
            rows.insert(id=self.id, resource_id=self._gateway, kind=self._request.kind, **fresh, **values)
            return
        same = there.body == body and there.resource_id == self._gateway
        done = there.state == DONE and self._is_complete(there)
        if not same:
            # Parts of something else are no beginning of this.
            rows.update(c.id == self.id, epoch=there.epoch + 1, resource_id=self._gateway)
        if not (done and same):
            rows.update(c.id == self.id, state=OPEN, result="", **fresh)

    def _is_complete(self, row: Any) -> bool:  # noqa: ANN401 - a row
        """Return whether all parts of an order that is done are still there."""
        return bool(row.result) and spool_of(self._platform, row.id, row.epoch).state().parts == json.loads(
            row.result
        ).get("parts", 0)

    def _load(self) -> tuple[Any, bool]:
        with self._platform.database.read() as transaction:
            row = TenantRows(transaction, self._tenant, order_table).select(order_table.c.id == self.id).one()
            gateways = TenantRows(transaction, self._tenant, gateway_table)
            found = gateways.select(gateway_table.c.resource_id == self._gateway).first()
        if row.state in {OPEN, TAKEN} and (found is None or found.revoked_at):
            raise ConflictError(f"The {self._name} was revoked.", "Register it again on its page.", field="gateway")
        return row, found is not None and self._platform.clock() - found.heartbeat_at < OFFLINE_AFTER

    def _update(self, **values: object) -> None:
        c = order_table.c
        unended = () if "result" in values else (c.state.in_({OPEN, TAKEN}),)
        with self._platform.database.write() as transaction:
            TenantRows(transaction, self._tenant, order_table).update(c.id == self.id, *unended, **values)

    def _result(self, state: str, text: str) -> Mapping[str, Any]:
        if state == CANCELLED:
            raise ConflictError("The work of the gateway was cancelled.", "Start it again.")
        found: Mapping[str, Any] = json.loads(text or "{}")
        if state == DONE:
            return found
        raise OrderFailedError(found)

    def _refuse_offline(self) -> None:
        raise UnavailableError(
            f"The {self._name} is offline.", "Start it with `lakehold gateway run`, then try again.", field="gateway"
        )


def spool_of(platform: Platform, order: str, epoch: int) -> Spool:
    """Return the spool of an order."""
    return Spool(spool_folder(platform.settings) / f"{order}-{epoch}")


def clean_up(platform: Platform) -> None:
    """Delete parts whose order ended, orders that are not listed any more, and old log lines."""
    at, c = platform.clock(), order_table.c
    # In this order: what comes now is not taken for what nobody knows.
    folders = _folders(spool_folder(platform.settings))
    with platform.database.read() as transaction:
        ends = transaction.connection.execute(sa.select(c.id, c.epoch, c.ended_at, c.until)).all()
    kept = {f"{row.id}-{row.epoch}" for row in ends if _end_of(row) > at - _KEPT}
    for folder in folders:
        if folder.name not in kept:
            Spool(folder).clean_up()
    with platform.database.write() as transaction:
        transaction.connection.execute(order_table.delete().where(c.until < at - _LISTED))
        _forget_log(transaction)


PERIODIC_TASKS = (PeriodicTask("clean up gateways", 600, clean_up),)


def _end_of(row: Any) -> Moment:  # noqa: ANN401 - a row
    return int(row.ended_at or row.until)


def _folders(folder: Path) -> list[Path]:
    return [each for each in folder.iterdir() if each.is_dir()] if folder.is_dir() else []


def _forget_log(transaction: Transaction) -> None:
    """Delete all but the newest lines of each gateway."""
    c = log_table.c
    gateways = transaction.connection.execute(gateway_table.select()).all()
    for row in gateways:
        rows = TenantRows(transaction, row.tenant_id, log_table)
        newest = rows.select(
            c.resource_id == row.resource_id, columns=(c.n,), order_by=(c.n.desc(),), limit=_MAX_LOG
        ).all()
        if len(newest) == _MAX_LOG:
            rows.delete(c.resource_id == row.resource_id, c.n < newest[-1].n)
