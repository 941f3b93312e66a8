"""An invite is accepted: by somebody new, who becomes a member with an account, or by a member who is signed in."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import sqlalchemy as sa

from lakehold.access import Add, Attribute, Grant

# past the access filter: the tenant is known by the secret of its invite, and found here
from lakehold.access.facts.tables import resource
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER
from lakehold.directory import accounts, credentials, invitations, invites, passwords, sign_ins
from lakehold.directory.emails import key
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.invites import Invite, invite_of, invite_table
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.directory.sign_ins import SignedIn
from lakehold.directory.standing import need_whole
from lakehold.directory.visit import Visit
from lakehold.kit.clock import Moment
from lakehold.kit.database import Transaction
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import valid_name


@dataclass(frozen=True, slots=True)
class Open:
    """What an invite is about, told to whoever holds its link."""

    tenant: str
    tenant_name: str
    email: str
    inviter_name: str
    until: Moment
    has_account: bool
    """Whether there is an account with this address: then its owner signs in and accepts."""


def look(platform: Platform, secret: str) -> Open:
    """What an invite is about. Looking at it does not accept it."""
    with platform.database.read() as transaction:
        tenant, invite = _found(transaction, secret, platform.clock())
        session = platform.access.session(transaction, tenant)
        view = session.current_view()
        return Open(
            tenant,
            view.names.get(session.tenant) or tenant,
            invite.email,
            view.names.get(view.ids.get(invite.made_by) or 0) or "",
            invite.until,
            accounts.by_email(transaction, session.tenant, invite.email) is not None,
        )


def accept(platform: Platform, secret: str, name: str, password: str, visit: Visit) -> SignedIn:
    """Become a member with an account, and be signed in."""
    with platform.database.read() as transaction:
        tenant, invite = _found(transaction, secret, platform.clock())
    kept = passwords.hashed(passwords.valid(password, valid_name(name), invite.email))
    newcomer = secrets.token_hex(8)
    with platform.write(visit.caller(tenant, newcomer)) as ctx:
        invite = _taken(ctx, secret)
        if accounts.by_email(ctx.session.transaction, ctx.session.tenant, invite.email) is not None:
            raise ConflictError("There is already an account with this e-mail address.", "Sign in, then accept.")
        ctx.session.store.create(MEMBER, name, uid=newcomer, edges={"tenant": tenant})
        accounts.add(ctx, newcomer, email=invite.email, password=kept)
        _given(ctx, invite)
        return sign_ins.begin(ctx, platform.settings, newcomer, "invite", visit)


def accept_as_member(ctx: RequestContext, secret: str) -> Invite:
    """Accept an invite to one's own e-mail address. It must be of the tenant that one is signed in to."""
    ctx.writing()
    need_whole(ctx, "accept invites")
    invite = _taken(ctx, secret)
    account = accounts.of(ctx, ctx.caller.member)
    if account is None or key(account.email) != key(invite.email):
        raise ConflictError("This invite is for another e-mail address.", "Sign in with the account of that address.")
    for place in invite.invitation.places:
        if invitations.only_invites(ctx.session, invite.made_by, place) and ctx.session.read_view(
            lambda view, here=place.resource: _is_there(view, here, ctx.caller.member)  # type: ignore[misc]
        ):
            raise ConflictError("You are there already, in a role of your own.", "Ask an admin to change it.")
    _given(ctx, invite)
    return invite


def _given(ctx: RequestContext, invite: Invite) -> None:
    """All that comes with it, as by the inviter."""
    member = ctx.caller.member
    chosen = invitations.settled(ctx.session, invite.made_by, invite.invitation)
    ctx.note("accept invite", member, after={"invite": invite.id, "invited_by": invite.made_by})
    for role, place in invite.invitation.places:
        ctx.made(Add(Grant(member, role, place)))
    for place, name, value in chosen:
        ctx.made(Add(Attribute(place, name, value, member)))


def _taken(ctx: RequestContext, secret: str) -> Invite:
    """The invite, used up, if its inviter may still invite to all of it."""
    tenant, invite = _found(ctx.session.transaction, secret, ctx.at)
    if tenant != ctx.caller.tenant or not invites.ended(ctx, invite.id):
        raise _refusal()
    if not invitations.may(ctx.session, tenant, invite.made_by, invite.invitation):
        raise ConflictError(
            "Whoever invited you may no longer give what this invite promises.", "Ask for a new invite."
        )
    return invite


def _found(transaction: Transaction, secret: str, at: Moment) -> tuple[str, Invite]:
    """The tenant's id and the invite. Like every secret it is looked up by itself: its row tells the tenant."""
    given = credentials.read(credentials.INVITE, secret)
    if given is None:
        raise _refusal()
    query = (
        sa.select(invite_table, resource.c.uid.label("tenant"))
        .join(resource, resource.c.id == invite_table.c.tenant_id)
        .where(invite_table.c.id == given.id, invite_table.c.until > at)
    )
    row = transaction.connection.execute(query).first()
    if row is None or not given.is_kept_as(row.hash):
        raise _refusal()
    return row.tenant, invite_of(row)


def _is_there(view: FactView, place: str, member: str) -> bool:
    """Whether the member holds a role there, themself or by a group."""
    held = view.grants.get(view.resource(place)) or {}
    return any(held.get(subject) for subject in view.subject(view.member(member)).ids)


def _refusal() -> UnauthorizedError:
    return UnauthorizedError("This invite is not valid, or not any more.", "Ask for a new one.")
