"""An invite is accepted: by somebody new, who becomes a member with an account, or by a member who is signed in."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import sqlalchemy as sa

from lakehold.access import Add, Attribute, Grant

# past the access filter: the tenant is known by the secret of its invite, and found here
from lakehold.access.facts.tables import resource
from lakehold.access.facts.view import View
from lakehold.access.model.policy import MEMBER
from lakehold.directory import accounts, credentials, invitations, invites, passwords, sign_ins
from lakehold.directory.emails import key
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.installation import Installation
from lakehold.directory.invites import Invite, invite_of, invite_table
from lakehold.directory.sign_ins import SignedIn
from lakehold.directory.standing import need_whole
from lakehold.directory.visit import Visit
from lakehold.directory.work import Work
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


def look(house: Installation, secret: str) -> Open:
    """What an invite is about. Looking at it does not accept it."""
    with house.database.read() as transaction:
        tenant, invite = _found(transaction, secret, house.clock())
        session = house.access.session(transaction, tenant)
        view = session.seen()
        return Open(
            tenant,
            view.names.get(session.tenant) or tenant,
            invite.email,
            view.names.get(view.ids.get(invite.made_by) or 0) or "",
            invite.until,
            accounts.by_email(transaction, session.tenant, invite.email) is not None,
        )


def accept(house: Installation, secret: str, name: str, password: str, visit: Visit) -> SignedIn:
    """Become a member with an account, and be signed in."""
    with house.database.read() as transaction:
        tenant, invite = _found(transaction, secret, house.clock())
    kept = passwords.hashed(passwords.valid(password, valid_name(name), invite.email))
    newcomer = secrets.token_hex(8)
    with house.write(visit.caller(tenant, newcomer)) as work:
        invite = _taken(work, secret)
        if accounts.by_email(work.session.transaction, work.session.tenant, invite.email) is not None:
            raise ConflictError("There is already an account with this e-mail address.", "Sign in, then accept.")
        work.session.store.create(MEMBER, name, uid=newcomer, edges={"tenant": tenant})
        accounts.add(work, newcomer, email=invite.email, password=kept)
        _given(work, invite)
        return sign_ins.begin(work, house.settings, newcomer, "invite", visit)


def accept_as_member(work: Work, secret: str) -> Invite:
    """Accept an invite to one's own e-mail address. It must be of the tenant that one is signed in to."""
    work.writing()
    need_whole(work, "accept invites")
    invite = _taken(work, secret)
    account = accounts.of(work, work.caller.member)
    if account is None or key(account.email) != key(invite.email):
        raise ConflictError("This invite is for another e-mail address.", "Sign in with the account of that address.")
    for place in invite.invitation.places:
        if invitations.only_invites(work.session, invite.made_by, place) and work.session.asking(
            lambda view, here=place.resource: _is_there(view, here, work.caller.member)  # type: ignore[misc]
        ):
            raise ConflictError("You are there already, in a role of your own.", "Ask an admin to change it.")
    _given(work, invite)
    return invite


def _given(work: Work, invite: Invite) -> None:
    """All that comes with it, as by the inviter."""
    member = work.caller.member
    chosen = invitations.settled(work.session, invite.made_by, invite.invitation)
    work.note("accept invite", member, after={"invite": invite.id, "invited_by": invite.made_by})
    for role, place in invite.invitation.places:
        work.made(Add(Grant(member, role, place)))
    for place, name, value in chosen:
        work.made(Add(Attribute(place, name, value, member)))


def _taken(work: Work, secret: str) -> Invite:
    """The invite, used up, if its inviter may still invite to all of it."""
    tenant, invite = _found(work.session.transaction, secret, work.at)
    if tenant != work.caller.tenant or not invites.ended(work, invite.id):
        raise _refusal()
    if not invitations.may(work.session, tenant, invite.made_by, invite.invitation):
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


def _is_there(view: View, place: str, member: str) -> bool:
    """Whether the member holds a role there, themself or by a group."""
    held = view.grants.get(view.resource(place)) or {}
    return any(held.get(subject) for subject in view.subject(view.member(member)).ids)


def _refusal() -> UnauthorizedError:
    return UnauthorizedError("This invite is not valid, or not any more.", "Ask for a new one.")
