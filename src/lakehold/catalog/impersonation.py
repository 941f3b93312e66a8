"""Impersonation: viewing as another member, with exactly their access, and without changing anything.

It is bound to the sign-in or token with which it was started, lasts for an hour at most, and is checked again with
every request: who may no longer impersonate acts as themself again.
"""

from dataclasses import replace

import sqlalchemy as sa

from lakehold.directory.act_for import MANAGE_OWNERS
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.database import ExactText, IdType, Transaction, metadata
from lakehold.kit.errors import ConflictError, ForbiddenError, LakeholdError

impersonation_table = sa.Table(
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
MAX_DURATION = 3_600 * SECOND


def impersonate(ctx: RequestContext, member: str) -> Caller:
    """Return the caller impersonating the member, or refuse unless they may."""
    if ctx.caller.impersonator:
        raise ConflictError("You are already viewing as another member.", "Stop that first.")
    if ctx.caller.narrowed is not None and ctx.caller.narrowed.is_narrowed:
        raise ForbiddenError("A narrowed token cannot view as another member.", "Use one that is not narrowed.")
    ctx.need(VIEW_AS, ctx.caller.tenant)
    ctx.view.member(member)
    if member == ctx.caller.member:
        raise ConflictError("You cannot view as yourself.", "Choose another member.")
    # Who manages Owners is seen as only by who does too, or an Admin would see what is an Owner's alone.
    if ctx.session.check(member, MANAGE_OWNERS, ctx.caller.tenant):
        ctx.need(MANAGE_OWNERS, ctx.caller.tenant)
    return replace(ctx.caller, member=member, impersonator=ctx.caller.member, narrowed=None)


def start(ctx: RequestContext, member: str) -> Caller:
    """Start an impersonation, which is audited. Everything after this is done as the returned caller."""
    impersonated = impersonate(ctx, member)
    ctx.need_writable()
    ctx.note("view as", member)
    session_id = _session_id(ctx.caller)
    if session_id:
        _delete(ctx.session.transaction, session_id)
        rows = ctx.rows(impersonation_table)
        rows.delete(impersonation_table.c.until <= ctx.at)
        rows.insert(through=session_id, behind=ctx.caller.member, member=member, until=ctx.at + MAX_DURATION)
    return impersonated


def stop(ctx: RequestContext) -> None:
    """Stop the impersonation, which is audited too."""
    if not ctx.caller.impersonator:
        raise ConflictError("You are not viewing as another member.", "There is nothing to stop.")
    if not ctx.session.transaction.writes:
        raise ForbiddenError("This transaction is read-only.", "Start a writing transaction.")
    _delete(ctx.session.transaction, _session_id(ctx.caller))
    ctx.note("stop viewing as", ctx.caller.member)


# Made once: every request asks it, and putting it together takes longer than asking.
_BY_SESSION = sa.select(impersonation_table).where(impersonation_table.c.through == sa.bindparam("given"))


def apply_impersonation(platform: Platform, transaction: Transaction, caller: Caller) -> Caller:
    """Return the caller, impersonating a member if they have started to and still may."""
    session_id = _session_id(caller)
    found = transaction.connection.execute(_BY_SESSION, {"given": session_id}).first() if session_id else None
    if found is None or found.behind != caller.member:
        return caller
    session = platform.access.session(transaction, caller.tenant)
    if session.tenant != found.tenant_id or session.at >= found.until:
        return caller
    try:
        return impersonate(RequestContext(session, caller, platform.keys), found.member)
    except LakeholdError:
        return caller


def active_until(ctx: RequestContext) -> Moment | None:
    """Return when the impersonation ends; None if there is none."""
    if not ctx.caller.impersonator:
        return None
    c = impersonation_table.c
    return ctx.rows(impersonation_table).select(c.through == _session_id(ctx.caller), columns=(c.until,)).scalar()


def _session_id(caller: Caller) -> str:
    return caller.sign_in_id or caller.token_id


def _delete(transaction: Transaction, session_id: str) -> None:
    transaction.connection.execute(impersonation_table.delete().where(impersonation_table.c.through == session_id))
