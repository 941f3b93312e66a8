"""The secret of a live destination: shown once, kept as a hash, made anew or revoked by who may edit it."""

from __future__ import annotations

from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.catalog import resource_metadata
from lakehold.directory import secret_tokens
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, metadata
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote
from lakehold.workspaces.marts import nouns
from lakehold.workspaces.marts.live import LIVE

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
class Secret:
    """Everything but the secret itself."""

    id: str
    made_by: str
    made_at: Moment
    used_at: Moment
    """0 if it has not been used yet."""

    @property
    def prefix(self) -> str:
        """How it begins, to be recognised by."""
        return f"{secret_tokens.LIVE}{self.id}"


@dataclass(frozen=True, slots=True)
class Made:
    """One that was just made. It is never shown again."""

    secret: Secret
    text: str = field(repr=False)


def make(ctx: RequestContext, uid: str) -> Made:
    """Make one, in place of the one that there was: that one is not valid from now on."""
    ctx.need_writable()
    _need(ctx, uid)
    if resource_metadata.load(ctx, uid).settings.get("to") != LIVE:
        raise ConflictError(f"The destination {quote(uid)} is not live.", "Only what is pulled has a secret.")
    before = _row(ctx, uid)
    fresh = secret_tokens.generate(secret_tokens.LIVE, "" if before is None else str(before.id))
    kept = {"hash": fresh.hash, "made_by": ctx.caller.member, "made_at": ctx.at, "used_at": 0}
    if before is None:
        here = {"tenant_id": ctx.session.tenant, "resource_id": ctx.view.resource(uid), "id": fresh.id}
        ctx.session.transaction.connection.execute(live_secret_table.insert().values(**here, **kept))
    else:
        ctx.session.transaction.connection.execute(live_secret_table.update().where(_mine(ctx, uid)).values(**kept))
    rotated = before is not None and before.hash
    ctx.note("rotate secret" if rotated else "make secret", uid, after={"secret": fresh.id})
    return Made(Secret(fresh.id, ctx.caller.member, ctx.at, 0), fresh.text)


def revoke(ctx: RequestContext, uid: str) -> None:
    """End it at once."""
    ctx.need_writable()
    _need(ctx, uid)
    before = _row(ctx, uid)
    if before is None or not before.hash:
        raise ConflictError(f"The destination {quote(uid)} has no secret.", "There is nothing to revoke.")
    ctx.session.transaction.connection.execute(live_secret_table.update().where(_mine(ctx, uid)).values(hash=""))
    ctx.note("revoke secret", uid, before={"secret": before.id})


def of(ctx: RequestContext, uid: str) -> Secret | None:
    """What is known of it; None if there is none. For those who may edit the destination."""
    _need(ctx, uid)
    row = _row(ctx, uid)
    return None if row is None or not row.hash else Secret(row.id, row.made_by, row.made_at, row.used_at)


def _need(ctx: RequestContext, uid: str) -> None:
    nouns.need(ctx, uid, nouns.DESTINATION, "edit")


def _row(ctx: RequestContext, uid: str) -> sa.Row[tuple[object, ...]] | None:
    query = sa.select(live_secret_table).where(_mine(ctx, uid))
    return ctx.session.transaction.connection.execute(query).one_or_none()


def _mine(ctx: RequestContext, uid: str) -> sa.ColumnElement[bool]:
    c = live_secret_table.c
    return sa.and_(c.tenant_id == ctx.session.tenant, c.resource_id == ctx.view.resource(uid))
