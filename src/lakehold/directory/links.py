"""Links that sign somebody in, or let them set a new password. Each is used once, ends soon, and is kept as a hash.

An admin makes one and hands it over; where mails can be sent, the member asks for one and it is mailed. Whoever asks
gets the same answer whether or not there is such an account.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.directory import accounts, credentials, holders, mails, tenants, throttle
from lakehold.directory.emails import key
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.holders import Held
from lakehold.directory.mails import PASSWORD, SIGN_IN
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.directory.standing import need_over
from lakehold.directory.visit import Visit
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.database import ExactText, IdType, Transaction, metadata
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote
from lakehold.kit.settings import Settings
from lakehold.ledger.audit import DENIED

link_table = sa.Table(
    "link",
    metadata,
    sa.Column("id", ExactText, primary_key=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("member_id", IdType, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("purpose", sa.Text, nullable=False),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("until", IdType, nullable=False),
)
sa.Index("link_by_member", link_table.c.tenant_id, link_table.c.member_id)
sa.Index("link_by_end", link_table.c.until)

PURPOSES = (SIGN_IN, PASSWORD)


@dataclass(frozen=True, slots=True)
class Made:
    """A link that was just made: shown to who made it, or mailed to who it is for, never both."""

    purpose: str
    until: Moment
    mailed: bool
    link: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Open:
    """What a link can still be used for, told to whoever holds it."""

    purpose: str
    tenant: str
    tenant_name: str
    member_name: str
    until: Moment


def make(ctx: RequestContext, settings: Settings, member: str, purpose: str, *, mail: bool = False) -> Made:
    """Make a link for a member, to be handed over or mailed. Older ones for the same purpose end."""
    ctx.writing()
    _refuse_unknown(purpose)
    need_over(ctx, "make links", member)
    account = accounts.of(ctx, member)
    if account is not None and account.service:
        raise ConflictError(f"{quote(member)} is a service account, which nobody signs in to.", "Make it a token.")
    if account is None:
        raise ConflictError(f"{quote(member)} has no account yet.", "Give them an e-mail address first.")
    if mail and not mails.can_be_sent(settings):
        raise ConflictError("This installation sends no mails.", "Hand the link over yourself, or set LAKEHOLD_SMTP.")
    return _made(ctx, settings, member, purpose, account.email if mail else "")


def ask(platform: Platform, email: str, purpose: str, visit: Visit, tenant: str = "") -> None:
    """Let a link be mailed to this address, if there is such an account and mails can be sent. It is not told."""
    _refuse_unknown(purpose)
    tenant = tenant or tenants.only(platform)
    counted = throttle.keys("ask", key(email), visit.address, throttle.ASKED, throttle.ASKED_FROM)
    with platform.database.write(tenant) as transaction:
        number = tenants.number(transaction, tenant)
        throttle.count(transaction, number, platform.clock(), counted)
        account = accounts.by_email(transaction, number, email)
    if not number:
        return
    with platform.write(visit.caller(tenant)) as ctx:
        member = ctx.view.uids.get(account.member_id) if account is not None and not account.service else None
        if account is None or member is None or not mails.can_be_sent(platform.settings):
            ctx.note("ask for a link", after={"purpose": purpose}, outcome=DENIED)
            return
        ctx.note("ask for a link", member, after={"purpose": purpose})
        _made(ctx, platform.settings, member, purpose, account.email)


def look(platform: Platform, secret: str) -> Open:
    """What a link is for. Looking at it does not use it: programs that read mails do that."""
    with platform.database.read() as transaction:
        link = holders.of(transaction, link_table, credentials.LINK, secret, platform.clock())
        if link is None:
            raise refusal()
        names = platform.access.session(transaction, link.tenant).current_view().names
        of_tenant, of_member = names.get(link.tenant_id) or "", names.get(link.member_id) or ""
        return Open(link.purpose, link.tenant, of_tenant, of_member, link.until)


def found(platform: Platform, transaction: Transaction, secret: str, purpose: str) -> Held | None:
    """The link of this secret, if it can still be used for this."""
    return _of(transaction, secret, purpose, platform.clock())


def held(ctx: RequestContext, secret: str, purpose: str) -> Held | None:
    """The same in the transaction in which it is used."""
    return _of(ctx.session.transaction, secret, purpose, ctx.at)


def used(ctx: RequestContext, link: Held) -> bool:
    """Use it up. Only one can: the second one finds nothing to use."""
    c = link_table.c
    ends = link_table.delete().where(c.tenant_id == ctx.session.tenant, c.id == link.id)
    return ctx.session.transaction.connection.execute(ends).rowcount == 1


def refusal() -> UnauthorizedError:
    """The same for a link that was used, has ended, or never was."""
    return UnauthorizedError("This link is not valid, or not any more.", "Ask for a new one.")


def ended(ctx: RequestContext, member: str, purpose: str | None = None) -> None:
    """Links that nobody has used yet are of no use any more."""
    c = link_table.c
    which = sa.and_(c.tenant_id == ctx.session.tenant, c.member_id == ctx.view.member(member))
    if purpose is not None:
        which = sa.and_(which, c.purpose == purpose)
    ctx.session.transaction.connection.execute(link_table.delete().where(which))


def _made(ctx: RequestContext, settings: Settings, member: str, purpose: str, receiver: str) -> Made:
    ended(ctx, member, purpose)
    fresh = credentials.new(credentials.LINK)
    until = ctx.at + settings.link_minutes * 60 * SECOND
    ctx.session.transaction.connection.execute(
        link_table.insert().values(
            id=fresh.id,
            tenant_id=ctx.session.tenant,
            member_id=ctx.view.member(member),
            hash=fresh.hash,
            purpose=purpose,
            made_at=ctx.at,
            until=until,
        )
    )
    link = mails.address_of(settings, purpose, fresh.text)
    ctx.note("make link", member, after={"purpose": purpose, "link": fresh.id, "mailed": bool(receiver)})
    if receiver:
        mails.post(ctx, purpose, receiver, link, until)
    return Made(purpose, until, mailed=bool(receiver), link="" if receiver else link)


def _refuse_unknown(purpose: str) -> None:
    if purpose not in PURPOSES:
        raise InvalidInputError(f"There are no links for {quote(purpose)}.", f"Say one of: {', '.join(PURPOSES)}.")


def _of(transaction: Transaction, secret: str, purpose: str, at: Moment) -> Held | None:
    row = holders.of(transaction, link_table, credentials.LINK, secret, at)
    return row if row is not None and row.purpose == purpose else None
