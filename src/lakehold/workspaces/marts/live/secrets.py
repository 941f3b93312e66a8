"""Secrets of live destinations: created, rotated or revoked by those who may edit the destination.

Authentication with one.

A secret is displayed once and stored as a hash. Failed attempts are throttled, and the answer does not say what was
wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import sqlalchemy as sa

# past the access filter: the tenant is known by the secret, and found here
from lakehold.access.facts.tables import resource
from lakehold.catalog import resource_metadata
from lakehold.directory import secret_tokens, throttle
from lakehold.directory.caller import ClientInfo
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.directory.secret_tokens import PresentedSecret
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.database import ExactText, IdType, Transaction, metadata
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote
from lakehold.ledger.audit import DENIED
from lakehold.workspaces.marts import mart_kinds
from lakehold.workspaces.marts.live import LIVE_TYPE

live_secret_table = sa.Table(
    "live_secret",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    # The destination.
    sa.Column("resource_id", IdType, primary_key=True),
    sa.Column("id", ExactText, nullable=False),
    # Empty if it was revoked: by its id it is still known whose it was.
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("made_by", ExactText, nullable=False),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("used_at", IdType, nullable=False),
)
sa.Index("live_secret_by_id", live_secret_table.c.id, unique=True)


@dataclass(frozen=True, slots=True)
class DestinationSecret:
    """A secret without its text."""

    id: str
    made_by: str
    made_at: Moment
    used_at: Moment
    """0 if it has not been used yet."""

    @property
    def prefix(self) -> str:
        """The beginning of its text, to recognise it by."""
        return f"{secret_tokens.LIVE}{self.id}"


@dataclass(frozen=True, slots=True)
class NewDestinationSecret:
    """A new secret with its text, which is never displayed again."""

    secret: DestinationSecret
    text: str = field(repr=False)


def create_secret(ctx: RequestContext, uid: str) -> NewDestinationSecret:
    """Create a secret and invalidate the previous one."""
    ctx.need_writable()
    _need_editable(ctx, uid)
    if resource_metadata.load(ctx, uid).settings.get("to") != LIVE_TYPE:
        raise ConflictError(f"The destination {quote(uid)} is not live.", "Only what is pulled has a secret.")
    before = _row(ctx, uid)
    fresh = secret_tokens.generate(secret_tokens.LIVE, "" if before is None else str(before.id))
    values = {"hash": fresh.hash, "made_by": ctx.caller.member, "made_at": ctx.at, "used_at": 0}
    if before is None:
        here = {"tenant_id": ctx.session.tenant, "resource_id": ctx.view.resource(uid), "id": fresh.id}
        ctx.session.transaction.connection.execute(live_secret_table.insert().values(**here, **values))
    else:
        ctx.session.transaction.connection.execute(live_secret_table.update().where(_mine(ctx, uid)).values(**values))
    rotated = before is not None and before.hash
    ctx.note("rotate secret" if rotated else "make secret", uid, after={"secret": fresh.id})
    return NewDestinationSecret(DestinationSecret(fresh.id, ctx.caller.member, ctx.at, 0), fresh.text)


def revoke_secret(ctx: RequestContext, uid: str) -> None:
    """Revoke the secret at once."""
    ctx.need_writable()
    _need_editable(ctx, uid)
    before = _row(ctx, uid)
    if before is None or not before.hash:
        raise ConflictError(f"The destination {quote(uid)} has no secret.", "There is nothing to revoke.")
    ctx.session.transaction.connection.execute(live_secret_table.update().where(_mine(ctx, uid)).values(hash=""))
    ctx.note("revoke secret", uid, before={"secret": before.id})


def get_secret(ctx: RequestContext, uid: str) -> DestinationSecret | None:
    """Return the secret of a destination, or None, for those who may edit it."""
    _need_editable(ctx, uid)
    row = _row(ctx, uid)
    return None if row is None or not row.hash else DestinationSecret(row.id, row.made_by, row.made_at, row.used_at)


def _need_editable(ctx: RequestContext, uid: str) -> None:
    mart_kinds.need_action(ctx, uid, mart_kinds.DESTINATION_KIND, "edit")


def _row(ctx: RequestContext, uid: str) -> sa.Row[tuple[object, ...]] | None:
    query = sa.select(live_secret_table).where(_mine(ctx, uid))
    return ctx.session.transaction.connection.execute(query).one_or_none()


def _mine(ctx: RequestContext, uid: str) -> sa.ColumnElement[bool]:
    c = live_secret_table.c
    return sa.and_(c.tenant_id == ctx.session.tenant, c.resource_id == ctx.view.resource(uid))


_NOBODY = 0
"""Attempts are counted for no tenant: it is not known whose they would be."""


@dataclass(frozen=True, slots=True)
class LiveAccess:
    """An authenticated BI tool."""

    tenant: str
    destination: str
    secret: str
    """The id of the secret."""
    visit: ClientInfo


@dataclass(frozen=True, slots=True)
class _SecretOwner:
    tenant: str
    destination: str
    is_valid: bool


def authenticate(platform: Platform, destination: str, text: str, visit: ClientInfo) -> LiveAccess:
    """Authenticate a BI tool by its secret, or refuse."""
    given = secret_tokens.parse(secret_tokens.LIVE, text)
    found = None
    if given is not None:
        with platform.database.read() as transaction:
            found = _secret_owner(transaction, given)
    if given is not None and found is not None and found.is_valid and found.destination == destination:
        return LiveAccess(found.tenant, destination, given.id, visit)
    counted = throttle.attempt_keys(
        "live", f"{destination} {visit.address}", visit.address, throttle.ACCOUNT, throttle.ADDRESS
    )
    with platform.database.write("live") as transaction:
        throttle.count_attempt(transaction, _NOBODY, platform.clock(), counted)
    if given is not None and found is not None:
        with platform.write(visit.to_caller(found.tenant)) as ctx:
            ctx.note("pull", found.destination, after={"secret": given.id}, outcome=DENIED)
    raise UnauthorizedError("This secret is not valid here, or not any more.", "Ask for a new one.")


def _secret_owner(transaction: Transaction, given: PresentedSecret) -> _SecretOwner | None:
    kept, there, tenant = live_secret_table, resource.alias("d"), resource.alias("t")
    query = (
        sa.select(kept.c.hash, there.c.uid.label("destination"), tenant.c.uid.label("tenant"))
        .join(tenant, tenant.c.id == kept.c.tenant_id)
        .join(there, (there.c.id == kept.c.resource_id) & (there.c.tenant_id == kept.c.tenant_id))
        .where(kept.c.id == given.id, there.c.until == FOREVER)
    )
    row = transaction.connection.execute(query).first()
    return None if row is None else _SecretOwner(row.tenant, row.destination, given.matches(row.hash))
