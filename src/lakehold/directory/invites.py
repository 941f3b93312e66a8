"""Invites: a link that makes somebody a member, with the roles that come with it.

The link is handed over, or mailed where mails can be sent; it is kept as a hash and accepted once. What it gives is
given as by the inviter: if they have lost the right to it by then, so has the invite.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.directory import credentials, invitations, mails
from lakehold.directory.emails import key, valid_email
from lakehold.directory.invitations import Invitation, Place, Setting
from lakehold.directory.request_context import RequestContext
from lakehold.directory.standing import need_whole
from lakehold.kit.clock import DAY, Moment
from lakehold.kit.database import ExactText, IdType, metadata
from lakehold.kit.errors import ConflictError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.kit.settings import Settings

invite_table = sa.Table(
    "invite",
    metadata,
    sa.Column("id", ExactText, primary_key=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("email_key", ExactText, nullable=False),
    sa.Column("carries", sa.Text, nullable=False),
    sa.Column("made_by", ExactText, nullable=False),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("until", IdType, nullable=False),
)
sa.Index("invite_by_time", invite_table.c.tenant_id, invite_table.c.made_at, invite_table.c.id)

_AT_ONCE = 200
After = tuple[Moment, str]


@dataclass(frozen=True, slots=True)
class Invite:
    """An invite that nobody has accepted yet."""

    id: str
    email: str
    invitation: Invitation
    made_by: str
    made_at: Moment
    until: Moment
    """After this it can only be sent again."""


@dataclass(frozen=True, slots=True)
class Made:
    """An invite with its link: shown to who made it, or mailed to who it is for, never both."""

    invite: Invite
    mailed: bool
    link: str = field(default="", repr=False)


def make(
    ctx: RequestContext, settings: Settings, email: str, invitation: Invitation | None = None, *, mail: bool = False
) -> Made:
    """Invite somebody, by their e-mail address, with these roles."""
    ctx.writing()
    need_whole(ctx, "invite")
    wanted, address = invitation or Invitation(), valid_email(email)
    invitations.refuse_what_cannot_be(ctx, wanted)
    invitations.need(ctx, wanted)
    return _made(ctx, settings, address, wanted, mail=mail)


def resend(ctx: RequestContext, settings: Settings, id_: str, *, mail: bool = False) -> Made:
    """A new link in place of the old one, which ends. Whoever sends it again is the inviter from now on."""
    ctx.writing()
    need_whole(ctx, "invite")
    old = one(ctx, id_)
    invitations.need(ctx, old.invitation)
    ended(ctx, old.id)
    return _made(ctx, settings, old.email, old.invitation, mail=mail, again=old.id)


def revoke(ctx: RequestContext, id_: str) -> None:
    """The link is good for nothing any more."""
    ctx.writing()
    invite = one(ctx, id_)
    ended(ctx, invite.id)
    ctx.note("revoke invite", ctx.caller.tenant, before={"invite": invite.id, "email": invite.email})


def one(ctx: RequestContext, id_: str) -> Invite:
    """One that the caller made, or could have made."""
    need_whole(ctx, "see invites")
    row = ctx.session.transaction.connection.execute(
        sa.select(invite_table).where(invite_table.c.tenant_id == ctx.session.tenant, invite_table.c.id == id_)
    ).first()
    if row is None or not _may_see(ctx, invite_of(row)):
        raise NotFoundError(f"There is no invite {quote(id_)}.", "Look the id up in the list of invites.")
    return invite_of(row)


def page(ctx: RequestContext, *, after: After | None = None, limit: int = 50) -> list[Invite]:
    """Those that the caller made or could have made, the newest first, from behind one on."""
    need_whole(ctx, "see invites")
    found: list[Invite] = []
    for invite in _every(ctx, after):
        if _may_see(ctx, invite):
            found.append(invite)
        if len(found) == limit:
            break
    return found


def ended(ctx: RequestContext, id_: str) -> bool:
    """End it. Only one can."""
    c = invite_table.c
    ends = invite_table.delete().where(c.tenant_id == ctx.session.tenant, c.id == id_)
    return ctx.session.transaction.connection.execute(ends).rowcount == 1


def invite_of(row: sa.Row[tuple[object, ...]]) -> Invite:
    """The row as people speak of it."""
    carries = json.loads(row.carries)
    places = tuple(Place(*place) for place in carries["places"])
    chosen = tuple(Setting(*setting) for setting in carries["settings"])
    return Invite(row.id, row.email, Invitation(places, chosen), row.made_by, row.made_at, row.until)


def _made(
    ctx: RequestContext, settings: Settings, email: str, invitation: Invitation, *, mail: bool, again: str = ""
) -> Made:
    if mail and not mails.can_be_sent(settings):
        raise ConflictError("This installation sends no mails.", "Hand the link over yourself, or set LAKEHOLD_SMTP.")
    fresh = credentials.new(credentials.INVITE, again)
    invite = Invite(fresh.id, email, invitation, ctx.caller.member, ctx.at, ctx.at + settings.invite_days * DAY)
    ctx.session.transaction.connection.execute(
        invite_table.insert().values(
            id=invite.id,
            tenant_id=ctx.session.tenant,
            hash=fresh.hash,
            email=email,
            email_key=key(email),
            carries=json.dumps({"places": invitation.places, "settings": invitation.settings}),
            made_by=invite.made_by,
            made_at=invite.made_at,
            until=invite.until,
        )
    )
    link = mails.address_of(settings, mails.INVITE, fresh.text)
    if mail:
        mails.post(ctx, mails.INVITE, email, link, invite.until)
    told = {"invite": invite.id, "email": email, "roles": [f"{role} on {there}" for role, there in invitation.places]}
    ctx.note("invite again" if again else "invite", ctx.caller.tenant, after=told)
    return Made(invite, mailed=mail, link="" if mail else link)


def _may_see(ctx: RequestContext, invite: Invite) -> bool:
    return invite.made_by == ctx.caller.member or invitations.may(
        ctx.session, ctx.caller.tenant, ctx.asker, invite.invitation
    )


def _every(ctx: RequestContext, after: After | None) -> Iterator[Invite]:
    c = invite_table.c
    while True:
        older = sa.true() if after is None else sa.tuple_(c.made_at, c.id) < sa.tuple_(*map(sa.literal, after))
        query = (
            sa.select(invite_table)
            .where(c.tenant_id == ctx.session.tenant, older)
            .order_by(c.made_at.desc(), c.id.desc())
            .limit(_AT_ONCE)
        )
        rows = [invite_of(row) for row in ctx.session.transaction.connection.execute(query)]
        yield from rows
        if len(rows) < _AT_ONCE:
            return
        after = rows[-1].made_at, rows[-1].id
