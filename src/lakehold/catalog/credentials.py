"""Secrets of a resource: encrypted where they lie, set by who edits it, copied only by who may, and that is audited.

What is in them is never in an answer but that of `copy`, never in a log, and never in an export.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

from lakehold.access.facts.records import require_mapping
from lakehold.catalog import details, kinds
from lakehold.directory.request_context import RequestContext
from lakehold.kit.database import ExactText, IdType, Transaction, metadata
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import valid_id
from lakehold.kit.keys import KeyRing

credential_table = sa.Table(
    "credential",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("resource_id", IdType, primary_key=True),
    sa.Column("name", ExactText, primary_key=True),
    sa.Column("secret", sa.Text, nullable=False),
    sa.Column("updated_at", IdType, nullable=False),
    sa.Column("updated_by", ExactText, nullable=False),
)

COPY = "copy_credentials"
DIRECTING = ("address", "driver", "properties")
"""The settings that say where secrets are sent."""
LONGEST = 20_000
_AT_ONCE = 500


def put(ctx: RequestContext, uid: str, secrets: Mapping[str, str | None]) -> None:
    """Set some of a resource's secrets; None takes one away."""
    ctx.writing()
    kinds.need(ctx, ctx.session.read_view(lambda view: kinds.editing(view, uid)), uid, "edit")
    for name, secret in require_mapping(secrets, "credentials").items():
        _put(ctx, uid, valid_id(name, "name of a credential"), _valid(secret))
    ctx.note("set credentials", uid, after={"credentials": sorted(secrets)})


def names(ctx: RequestContext, uid: str) -> list[str]:
    """Which secrets a resource has. For those who may edit it or copy them."""
    ctx.see(uid, "credentials")
    may_copy = COPY in kinds.schema_of(ctx.view, uid).actions and ctx.session.check(ctx.asker, COPY, uid)
    if not may_copy:
        kinds.need(ctx, ctx.session.read_view(lambda view: kinds.editing(view, uid)), uid, "edit")
    return sorted(_kept(ctx, uid))


def copy(ctx: RequestContext, uid: str) -> dict[str, str]:
    """The secrets themselves. In a transaction that writes: it is written down who copied them."""
    ctx.see(uid, COPY)
    schema = kinds.schema_of(ctx.view, uid)
    if COPY not in schema.actions:
        raise InvalidInputError(f"The credentials of a {schema.title.lower()} cannot be copied.", "Set new ones.")
    # Who looks with another's eyes sees what they may do, not what they know.
    ctx.writing()
    ctx.need(COPY, uid)
    found = _kept(ctx, uid)
    ctx.note(COPY, uid, after={"credentials": sorted(found)})
    return {name: ctx.keys.decrypt(secret) for name, secret in found.items()}


def used(ctx: RequestContext, uid: str) -> dict[str, str]:
    """The secrets for the platform's own use, in something that the caller has been let do. Never for an answer."""
    return {name: ctx.keys.decrypt(secret) for name, secret in _kept(ctx, uid).items()}


def used_at(ctx: RequestContext, uid: str, settings: Mapping[str, object]) -> dict[str, str]:
    """The same for settings that are tried out: secrets are not sent to where they were not given for."""
    return used(ctx, uid) if _goes_where_it_went(ctx, uid, details.read(ctx, uid).settings, settings) else {}


def directed(ctx: RequestContext, uid: str, before: Mapping[str, object], after: Mapping[str, object]) -> None:
    """The resource has other settings now: whoever edits it does not get at its secrets by sending them elsewhere."""
    if not _goes_where_it_went(ctx, uid, before, after) and (found := _kept(ctx, uid)):
        gone(ctx, ctx.view.resource(uid))
        ctx.note("forget credentials", uid, before={"credentials": sorted(found)})


def gone(ctx: RequestContext, number: int) -> None:
    """The resource has come to its end, and so have its secrets."""
    c = credential_table.c
    which = sa.and_(c.tenant_id == ctx.session.tenant, c.resource_id == number)
    ctx.session.transaction.connection.execute(credential_table.delete().where(which))


def reencrypt(transaction: Transaction, keys: KeyRing) -> int:
    """Write all secrets of all tenants with the newest key. Returns how many there are."""
    c = credential_table.c
    last: tuple[int, int, str] = (0, 0, "")
    count = 0
    while True:
        place = sa.tuple_(c.tenant_id, c.resource_id, c.name)
        query = (
            sa.select(c.tenant_id, c.resource_id, c.name, c.secret)
            .where(place > sa.tuple_(*(sa.literal(part) for part in last)))
            .order_by(c.tenant_id, c.resource_id, c.name)
            .limit(_AT_ONCE)
        )
        rows = transaction.connection.execute(query).all()
        for tenant, resource, name, secret in rows:
            which = sa.and_(c.tenant_id == tenant, c.resource_id == resource, c.name == name)
            update = credential_table.update().where(which).values(secret=keys.reencrypt(secret))
            transaction.connection.execute(update)
            last = (tenant, resource, name)
        count += len(rows)
        if len(rows) < _AT_ONCE:
            return count


def _goes_where_it_went(
    ctx: RequestContext, uid: str, before: Mapping[str, object], after: Mapping[str, object]
) -> bool:
    """Whether the secrets go where they went, or are no secret to the caller anyway."""
    if all(before.get(name) == after.get(name) for name in DIRECTING):
        return True
    return COPY in kinds.schema_of(ctx.view, uid).actions and ctx.session.check(ctx.asker, COPY, uid)


def _kept(ctx: RequestContext, uid: str) -> dict[str, str]:
    c = credential_table.c
    query = sa.select(c.name, c.secret).where(
        c.tenant_id == ctx.session.tenant, c.resource_id == ctx.view.resource(uid)
    )
    return {row.name: row.secret for row in ctx.session.transaction.connection.execute(query)}


def _put(ctx: RequestContext, uid: str, name: str, secret: str | None) -> None:
    c = credential_table.c
    here = {"tenant_id": ctx.session.tenant, "resource_id": ctx.view.resource(uid), "name": name}
    connection = ctx.session.transaction.connection
    connection.execute(credential_table.delete().where(*(c[column] == value for column, value in here.items())))
    if secret is not None:
        kept = {"secret": ctx.keys.encrypt(secret), "updated_at": ctx.at, "updated_by": ctx.caller.member}
        connection.execute(credential_table.insert().values(**here, **kept))


def _valid(secret: object) -> str | None:
    if secret is None:
        return None
    if not isinstance(secret, str) or not secret:
        raise InvalidInputError("A credential is a text that is not empty.", "Give null to take one away.")
    if len(secret) > LONGEST:
        raise InvalidInputError(f"A credential has {len(secret):,} characters.", f"Use {LONGEST:,} at the most.")
    try:
        secret.encode()
    except UnicodeEncodeError:
        raise InvalidInputError("A credential cannot be written as UTF-8.", "Use characters.") from None
    return secret
