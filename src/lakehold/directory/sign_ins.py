"""Sign-ins: each lasts for some days on one device, is listed, and can be ended from everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.directory import credentials, holders
from lakehold.directory.caller import Caller
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.directory.standing import need_own
from lakehold.directory.visit import Visit
from lakehold.kit.clock import DAY, Moment
from lakehold.kit.database import ExactText, IdType, Transaction, metadata
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.kit.settings import Settings

sign_in_table = sa.Table(
    "sign_in",
    metadata,
    sa.Column("id", ExactText, primary_key=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("member_id", IdType, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("until", IdType, nullable=False),
    sa.Column("used_at", IdType, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("agent", sa.Text, nullable=False),
)
sa.Index("sign_in_by_member", sign_in_table.c.tenant_id, sign_in_table.c.member_id)
sa.Index("sign_in_by_end", sign_in_table.c.until)

_LONGEST_AGENT = 300


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Somebody who has just signed in. The secret is for their browser, and shown to nobody else."""

    tenant: str
    member: str
    id: str
    until: Moment
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SignIn:
    """One device on which a member is signed in."""

    id: str
    method: str
    made_at: Moment
    until: Moment
    used_at: Moment
    address: str
    agent: str
    current: bool
    """Whether it is the one that asks."""


def begin(ctx: RequestContext, settings: Settings, member: str, method: str, visit: Visit) -> SignedIn:
    """Sign a member in, who has proved who they are."""
    fresh = credentials.new(credentials.SIGN_IN)
    until = ctx.at + settings.session_days * DAY
    ctx.session.transaction.connection.execute(
        sign_in_table.insert().values(
            id=fresh.id,
            tenant_id=ctx.session.tenant,
            member_id=ctx.view.member(member),
            hash=fresh.hash,
            method=method,
            made_at=ctx.at,
            until=until,
            used_at=ctx.at,
            address=visit.address,
            agent=visit.agent[:_LONGEST_AGENT],
        )
    )
    ctx.note("sign in", member, after={"method": method, "sign_in": fresh.id})
    return SignedIn(ctx.caller.tenant, member, fresh.id, until, fresh.text)


def caller_of_session(platform: Platform, transaction: Transaction, secret: str) -> Caller | None:
    """The member whose sign-in this is; None if it is not valid (any more)."""
    at = platform.clock()
    found = holders.of(transaction, sign_in_table, credentials.SIGN_IN, secret, at)
    if found is None:
        return None
    platform.uses.note(sign_in_table, found, at)
    return Caller(found.tenant, found.member, sign_in_id=found.id)


def caller(platform: Platform, secret: str) -> Caller:
    """The same outside of a transaction, or a refusal that does not say what was wrong."""
    with platform.database.read() as transaction:
        found = caller_of_session(platform, transaction, secret)
    platform.uses.write(platform.database)
    if found is None:
        raise UnauthorizedError("This sign-in is not valid, or not any more.", "Sign in again.")
    return found


def of(ctx: RequestContext, member: str) -> list[SignIn]:
    """Where a member is signed in, the newest first: for themself, and for those who keep members."""
    need_own(ctx, "see sign-ins", member)
    c = sign_in_table.c
    query = sa.select(sign_in_table).where(_of(ctx, member), c.until > ctx.at).order_by(c.made_at.desc(), c.id)
    return [
        SignIn(
            row.id, row.method, row.made_at, row.until, row.used_at, row.address, row.agent,
            current=row.id == ctx.caller.sign_in_id,
        )
        for row in ctx.session.transaction.connection.execute(query)
    ]  # fmt: skip


def end(ctx: RequestContext, member: str, id_: str) -> None:
    """Sign a member out on one device."""
    ctx.writing()
    need_own(ctx, "end sign-ins", member)
    if not _end(ctx, member, sign_in_table.c.id == id_):
        raise NotFoundError(f"There is no sign-in {quote(id_)}.", "Look the id up in the list of sign-ins.")


def end_all(ctx: RequestContext, member: str, *, but: str = "") -> int:
    """Sign a member out everywhere, or everywhere else. Tells how many sign-ins that ended."""
    ctx.writing()
    need_own(ctx, "end sign-ins", member)
    return ended(ctx, member, but=but)


def ended(ctx: RequestContext, member: str, *, but: str = "") -> int:
    """The same, where the right comes with something else: a new password, a removal."""
    return _end(ctx, member, sign_in_table.c.id != but)


def _end(ctx: RequestContext, member: str, which: sa.ColumnElement[bool]) -> int:
    ends = sign_in_table.delete().where(_of(ctx, member), which)
    count = ctx.session.transaction.connection.execute(ends).rowcount
    if count:
        ctx.note("sign out", member, after={"sign_ins": count})
    return count


def _of(ctx: RequestContext, member: str) -> sa.ColumnElement[bool]:
    c = sign_in_table.c
    return sa.and_(c.tenant_id == ctx.session.tenant, c.member_id == ctx.view.member(member))
