"""Invites: links that make somebody a member, with the roles that come with them.

The link is handed over, or mailed where mail is configured; it is stored as a hash and accepted once. What it gives
is given as by the inviter: if they have lost the right to it by then, so has the invite.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

import sqlalchemy as sa

from lakehold.directory import invite_grants, links, secret_tokens
from lakehold.directory.accounts import email_key, valid_email
from lakehold.directory.act_for import need_unrestricted
from lakehold.directory.invite_grants import InvitedRole, InviteGrants, MembershipSetting
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, Moment
from lakehold.kit.database import ExactText
from lakehold.kit.errors import ConflictError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.kit.settings import Settings

invite_table = secret_tokens.secret_table(
    "invite",
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("email_key", ExactText, nullable=False),
    sa.Column("carries", sa.Text, nullable=False),
    sa.Column("made_by", ExactText, nullable=False),
)
sa.Index("invite_by_time", invite_table.c.tenant_id, invite_table.c.made_at, invite_table.c.id)

_BATCH = 200
PageKey = tuple[Moment, str]


@dataclass(frozen=True, slots=True)
class Invite:
    """An invite that has not been accepted yet."""

    id: str
    email: str
    grants: InviteGrants
    made_by: str
    made_at: Moment
    until: Moment
    """After this it can only be sent again."""


@dataclass(frozen=True, slots=True)
class CreatedInvite:
    """A created invite with its link, which is either shown to the inviter or mailed, never both."""

    invite: Invite
    mailed: bool
    link: str = field(default="", repr=False)


def create(
    ctx: RequestContext, settings: Settings, email: str, grants: InviteGrants | None = None, *, mail: bool = False
) -> CreatedInvite:
    """Invite somebody by e-mail address, with these roles."""
    ctx.need_writable()
    need_unrestricted(ctx, "invite")
    carried, address = grants or InviteGrants(), valid_email(email)
    invite_grants.refuse_invalid(ctx, carried)
    invite_grants.need_invite(ctx, carried)
    return _create(ctx, settings, address, carried, mail=mail)


def resend(ctx: RequestContext, settings: Settings, id_: str, *, mail: bool = False) -> CreatedInvite:
    """Replace the link of an invite. The caller becomes the inviter."""
    ctx.need_writable()
    need_unrestricted(ctx, "invite")
    old = get(ctx, id_)
    invite_grants.need_invite(ctx, old.grants)
    delete(ctx, old.id)
    return _create(ctx, settings, old.email, old.grants, mail=mail, again=old.id)


def revoke(ctx: RequestContext, id_: str) -> None:
    """Revoke an invite, so that its link is no longer valid."""
    ctx.need_writable()
    invite = get(ctx, id_)
    delete(ctx, invite.id)
    ctx.note("revoke invite", ctx.caller.tenant, before={"invite": invite.id, "email": invite.email})


def get(ctx: RequestContext, id_: str) -> Invite:
    """Return an invite that the caller created, or could have created."""
    need_unrestricted(ctx, "see invites")
    row = ctx.rows(invite_table).select(invite_table.c.id == id_).first()
    if row is None or not _may_see(ctx, from_row(row)):
        raise NotFoundError(f"There is no invite {quote(id_)}.", "Check the ID in the list of invites.")
    return from_row(row)


def page(ctx: RequestContext, *, after: PageKey | None = None, limit: int = 50) -> list[Invite]:
    """Return the invites that the caller created or could have created, newest first, after the given key."""
    need_unrestricted(ctx, "see invites")
    return list(islice((invite for invite in _iterate(ctx, after) if _may_see(ctx, invite)), limit))


def delete(ctx: RequestContext, id_: str) -> bool:
    """Delete the invite and return whether it was there, so that only one transaction can use it."""
    return ctx.rows(invite_table).delete(invite_table.c.id == id_) == 1


def from_row(row: sa.Row[tuple[object, ...]]) -> Invite:
    """Return the invite of a database row."""
    carries = json.loads(row.carries)
    places = tuple(InvitedRole(*place) for place in carries["places"])
    chosen = tuple(MembershipSetting(*setting) for setting in carries["settings"])
    return Invite(row.id, row.email, InviteGrants(places, chosen), row.made_by, row.made_at, row.until)


def _create(
    ctx: RequestContext, settings: Settings, email: str, grants: InviteGrants, *, mail: bool, again: str = ""
) -> CreatedInvite:
    if mail and not links.can_send_mail(settings):
        raise ConflictError("This installation sends no mails.", "Share the link yourself, or set LAKEHOLD_SMTP.")
    fresh = secret_tokens.generate(secret_tokens.INVITE, again)
    invite = Invite(fresh.id, email, grants, ctx.caller.member, ctx.at, ctx.at + settings.invite_days * DAY)
    carries = json.dumps({"places": grants.roles, "settings": grants.settings})
    columns = {"email": email, "email_key": email_key(email), "carries": carries, "made_by": invite.made_by}
    secret_tokens.insert(ctx, invite_table, fresh, invite.until, **columns)
    link = links.link_url(settings, links.INVITE, fresh.text)
    if mail:
        links.queue_mail(ctx, links.INVITE, email, link, invite.until)
    details = {"invite": invite.id, "email": email, "roles": [f"{role} on {there}" for role, there in grants.roles]}
    ctx.note("invite again" if again else "invite", ctx.caller.tenant, after=details)
    return CreatedInvite(invite, mailed=mail, link="" if mail else link)


def _may_see(ctx: RequestContext, invite: Invite) -> bool:
    return invite.made_by == ctx.caller.member or invite_grants.may_invite(
        ctx.session, ctx.caller.tenant, ctx.principal, invite.grants
    )


def _iterate(ctx: RequestContext, after: PageKey | None) -> Iterator[Invite]:
    c = invite_table.c
    while True:
        older = sa.true() if after is None else sa.tuple_(c.made_at, c.id) < sa.tuple_(*map(sa.literal, after))
        found = ctx.rows(invite_table).select(older, order_by=(c.made_at.desc(), c.id.desc()), limit=_BATCH)
        rows = [from_row(row) for row in found]
        yield from rows
        if len(rows) < _BATCH:
            return
        after = rows[-1].made_at, rows[-1].id
