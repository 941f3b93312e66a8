"""Registration codes of gateways, and how a gateway is registered, rotates its keys and is revoked.

Whoever may edit a gateway creates a code, which is shown once, expires, and can be used once. With it a gateway sends
its public keys and proves that it has the private ones.
"""

from dataclasses import dataclass, field

import sqlalchemy as sa

# past the access filter: a gateway is known by its code or its token alone, and found here with its owner
from lakehold.access.facts.tables import grant, resource
from lakehold.catalog.kinds import schema_of
from lakehold.directory import secret_tokens
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, SECOND, Moment
from lakehold.kit.database import Transaction
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.workspaces.spaces.gateways.key_pairs import PublicKeys, possession_message
from lakehold.workspaces.spaces.gateways.tables import code_table, gateway_table
from lakehold.workspaces.spaces.settings import GATEWAY_KIND

REGISTER, ROTATE = "register", "rotate"
"""The purposes for which a gateway proves that it has its keys."""
_OWNER = f"{GATEWAY_KIND}.owner"
_CODE_LIFETIME = 3600 * SECOND


@dataclass(frozen=True, slots=True)
class RegistrationCode:
    """A new registration code of a gateway."""

    until: Moment
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class GatewayRegistration:
    """The registration that a gateway sends."""

    code: str = field(repr=False)
    keys: PublicKeys
    proof: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class RegisteredGateway:
    """A gateway that was registered."""

    tenant: str
    uid: str
    name: str


def need_gateway(ctx: RequestContext, uid: str, action: str = "list") -> None:
    """Refuse unless it is a gateway with which the caller may do this."""
    ctx.need_visible(uid, action)
    if schema_of(ctx.view, uid).id != GATEWAY_KIND:
        raise NotFoundError(f"There is no gateway {quote(uid)}.", "Check the ID in the data space.")
    ctx.need(action, uid)


def create_code(ctx: RequestContext, uid: str) -> RegistrationCode:
    """Create a code with which a gateway is registered. An earlier one that was not used is void."""
    ctx.need_writable()
    need_gateway(ctx, uid, "edit")
    number, fresh = ctx.view.resource(uid), secret_tokens.generate(secret_tokens.GATEWAY)
    ctx.rows(code_table).delete(code_table.c.resource_id == number)
    until = ctx.at + _CODE_LIFETIME
    secret_tokens.insert(ctx, code_table, fresh, until, resource_id=number)
    ctx.note("create registration code", uid, after={"code": fresh.id})
    return RegistrationCode(until, fresh.text)


def register(platform: Platform, given: GatewayRegistration, client: ClientInfo) -> RegisteredGateway:
    """Register a gateway with a code, which is used up. The keys of a gateway that had some are replaced."""
    given.keys.need_valid()
    if not given.keys.verify(REGISTER, possession_message(given.keys, given.code), given.proof):
        raise InvalidInputError("The gateway has not proved that it has its keys.", "Register it again.", field="proof")
    with platform.database.read() as transaction:
        tenant = _find_code(transaction, given.code, platform.clock()).tenant
    with platform.write(client.to_caller(tenant)) as ctx:
        row = _find_code(ctx.session.transaction, given.code, ctx.at)
        _need_same_owner(ctx, row)
        if ctx.rows(code_table).delete(code_table.c.id == row.id) != 1 or not ctx.view.uid(row.resource_id):
            raise _invalid_code()
        uid = ctx.view.uid(row.resource_id)
        _store(ctx, row.resource_id, given)
        details = {"fingerprint": given.keys.fingerprint, "version": given.version, "code": row.id}
        ctx.note("register gateway", uid, after=details)
        return RegisteredGateway(tenant, uid, ctx.view.names.get(row.resource_id) or uid)


def _store(ctx: RequestContext, number: int, given: GatewayRegistration) -> None:
    rows = ctx.rows(gateway_table)
    rows.delete(gateway_table.c.resource_id == number)
    keys = {"signing_key": given.keys.signing, "sealing_key": given.keys.sealing}
    unused = {"revoked_at": 0, "rotation_due": 0, "instance": "", "heartbeat_at": 0, "rows": 0, "bytes": 0}
    rows.insert(resource_id=number, registered_at=ctx.at, version=given.version, **keys, **unused)


def _find_code(transaction: Transaction, text: str, at: Moment) -> sa.Row[tuple[object, ...]]:
    row = secret_tokens.find_row(transaction, code_table, secret_tokens.GATEWAY, text, at)
    if row is None:
        raise _invalid_code()
    return row


def _need_same_owner(ctx: RequestContext, row: sa.Row[tuple[object, ...]]) -> None:
    """Refuse a code that an earlier owner has created, who could take the gateway over with it."""
    c = grant.c
    since = sa.select(sa.func.max(c.since)).where(
        *(c.tenant_id == row.tenant_id, c.resource_id == row.resource_id, c.role == _OWNER, c.until == FOREVER)
    )
    if (ctx.session.transaction.connection.execute(since).scalar() or 0) > row.made_at:
        raise _invalid_code()


def _invalid_code() -> UnauthorizedError:
    return UnauthorizedError(
        "This registration code is not valid, or not any more.", "Create another one on the page of the gateway."
    )


def revoke(ctx: RequestContext, uid: str) -> None:
    """Revoke the keys of a gateway, and a code that was not used. Whatever it is at ends within a second."""
    ctx.need_writable()
    need_gateway(ctx, uid, "edit")
    number = ctx.view.resource(uid)
    codes = ctx.rows(code_table).delete(code_table.c.resource_id == number)
    c = gateway_table.c
    revoked = ctx.rows(gateway_table).update(c.resource_id == number, c.revoked_at == 0, revoked_at=ctx.at)
    if not codes and not revoked:
        raise ConflictError("The gateway is not registered.", "There is nothing to revoke.")
    ctx.note("revoke gateway", uid)


def request_rotation(ctx: RequestContext, uid: str) -> None:
    """Ask a gateway for new keys. It makes them at once if it is online, else when it is back."""
    ctx.need_writable()
    need_gateway(ctx, uid, "edit")
    c = gateway_table.c
    here = (c.resource_id == ctx.view.resource(uid), c.revoked_at == 0)
    if not ctx.rows(gateway_table).update(*here, rotation_due=1):
        raise ConflictError("The gateway is not registered.", "Register it first.")
    ctx.note("ask gateway for new keys", uid)


def rotate(platform: Platform, tenant: str, uid: str, fresh: PublicKeys, proof: str) -> None:
    """Replace the keys of a gateway, which has signed the call with its old ones."""
    fresh.need_valid()
    if not fresh.verify(ROTATE, possession_message(fresh, uid), proof):
        raise InvalidInputError("The gateway has not proved that it has its keys.", "Rotate them again.", field="proof")
    with platform.write(Caller(tenant, "")) as ctx:
        c = gateway_table.c
        here = (c.resource_id == ctx.view.resource(uid), c.revoked_at == 0)
        keys = {"signing_key": fresh.signing, "sealing_key": fresh.sealing}
        if not ctx.rows(gateway_table).update(*here, rotation_due=0, **keys):
            raise ConflictError("The gateway was revoked.", "Register it again.")
        ctx.note("rotate gateway keys", uid, after={"fingerprint": fresh.fingerprint})


def find_registered(transaction: Transaction, tenant: str, uid: str) -> sa.Row[tuple[object, ...]] | None:
    """Return the row of a registered gateway that exists and is not revoked."""
    owner, there, c = resource.alias("t"), resource.alias("g"), gateway_table.c
    query = (
        sa.select(gateway_table)
        .join(owner, owner.c.id == c.tenant_id)
        .join(there, (there.c.id == c.resource_id) & (there.c.tenant_id == c.tenant_id))
        .where(owner.c.uid == tenant, there.c.uid == uid, there.c.until == FOREVER, c.revoked_at == 0)
    )
    return transaction.connection.execute(query).first()
