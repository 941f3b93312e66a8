"""Seeing with another member's eyes: what they may see and do, and nothing else. Nothing can be changed meanwhile.

It is bound to the sign-in or token with which it was begun, lasts for an hour at the most, and is asked for anew with
every request: who may no longer do it sees with their own eyes again.
"""

from __future__ import annotations

from dataclasses import replace

import sqlalchemy as sa

from lakehold.access import AccessSession
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.database import ExactText, IdType, Transaction, metadata
from lakehold.kit.errors import ConflictError, ForbiddenError, LakeholdError

viewing_table = sa.Table(
    "viewing",
    metadata,
    # The id of a sign-in or a token: nobody has two of one id, in whatever tenant.
    sa.Column("through", ExactText, primary_key=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("behind", ExactText, nullable=False),
    sa.Column("member", ExactText, nullable=False),
    sa.Column("until", IdType, nullable=False),
)

VIEW_AS = "view_as"
LASTS = 3_600 * SECOND
_ABOVE = "manage_owners"


def may_view_as(ctx: RequestContext, member: str) -> Caller:
    """The caller as they look with the member's eyes, refused unless they may."""
    if ctx.caller.impersonator:
        raise ConflictError("You already view as somebody else.", "Stop that first.")
    if ctx.caller.narrowed is not None and ctx.caller.narrowed.is_narrowed:
        raise ForbiddenError("A narrowed token sees with nobody else's eyes.", "Use one that is not narrowed.")
    ctx.need(VIEW_AS, ctx.caller.tenant)
    ctx.view.member(member)
    if member == ctx.caller.member:
        raise ConflictError("You see with your own eyes already.", "Name somebody else.")
    # Who manages Owners is seen as only by who does too, or an Admin would see what is an Owner's alone.
    if ctx.session.check(member, _ABOVE, ctx.caller.tenant):
        ctx.need(_ABOVE, ctx.caller.tenant)
    return replace(ctx.caller, member=member, impersonator=ctx.caller.member, narrowed=None)


def begin(ctx: RequestContext, member: str) -> Caller:
    """Begin to see with a member's eyes; it is written down. Everything after this is done as the returned caller."""
    seen = may_view_as(ctx, member)
    ctx.writing()
    ctx.note("view as", member)
    through = _through(ctx.caller)
    if through:
        _forget(ctx.session.transaction, through)
        _forget_ended(ctx)
        ctx.session.transaction.connection.execute(
            viewing_table.insert().values(
                through=through,
                tenant_id=ctx.session.tenant,
                behind=ctx.caller.member,
                member=member,
                until=ctx.at + LASTS,
            )
        )
    return seen


def end(ctx: RequestContext) -> None:
    """Stop it; that is written down too."""
    if not ctx.caller.impersonator:
        raise ConflictError("You view as nobody else.", "There is nothing to stop.")
    if not ctx.session.transaction.writes:
        raise ForbiddenError("This transaction only reads.", "Begin one that writes.")
    _forget(ctx.session.transaction, _through(ctx.caller))
    ctx.note("stop viewing as", ctx.caller.member)


# Made once: every request asks it, and putting it together takes longer than asking.
_BY_THROUGH = sa.select(
    viewing_table.c.tenant_id, viewing_table.c.behind, viewing_table.c.member, viewing_table.c.until
).where(viewing_table.c.through == sa.bindparam("given"))


def applied(platform: Platform, transaction: Transaction, caller: Caller) -> Caller:
    """The caller as they look at this moment: with somebody else's eyes, if they have begun to and still may."""
    through = _through(caller)
    found = transaction.connection.execute(_BY_THROUGH, {"given": through}).first() if through else None
    if found is None or found.behind != caller.member:
        return caller
    session = platform.access.session(transaction, caller.tenant)
    if session.tenant != found.tenant_id or session.at >= found.until:
        return caller
    return _still(session, caller, found.member, platform)


def until(ctx: RequestContext) -> Moment | None:
    """Until when the caller sees with somebody else's eyes."""
    c = viewing_table.c
    query = sa.select(c.until).where(c.tenant_id == ctx.session.tenant, c.through == _through(ctx.caller))
    return ctx.session.transaction.connection.execute(query).scalar() if ctx.caller.impersonator else None


def _still(session: AccessSession, caller: Caller, member: str, platform: Platform) -> Caller:
    try:
        return may_view_as(RequestContext(session, caller, platform.keys), member)
    except LakeholdError:
        return caller


def _through(caller: Caller) -> str:
    return caller.sign_in_id or caller.token_id


def _forget_ended(ctx: RequestContext) -> None:
    c = viewing_table.c
    ended = sa.and_(c.tenant_id == ctx.session.tenant, c.until <= ctx.at)
    ctx.session.transaction.connection.execute(viewing_table.delete().where(ended))


def _forget(transaction: Transaction, through: str) -> None:
    transaction.connection.execute(viewing_table.delete().where(viewing_table.c.through == through))
