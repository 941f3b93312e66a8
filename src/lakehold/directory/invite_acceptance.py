"""Acceptance of an invite, by a new person who becomes a member with an account, or by a signed-in member."""

import secrets
from dataclasses import dataclass
from functools import partial

from lakehold.access import Add, Attribute, Grant
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER
from lakehold.directory import accounts, invites, passwords, secret_tokens, sign_ins
from lakehold.directory.accounts import email_key
from lakehold.directory.act_for import need_unrestricted
from lakehold.directory.caller import ClientInfo
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.invites import Invite, from_row, invite_table
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.directory.sign_ins import CreatedSignIn
from lakehold.kit.clock import Moment
from lakehold.kit.database import Transaction
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import valid_name


@dataclass(frozen=True, slots=True)
class InviteInfo:
    """An invite as the holder of its link sees it."""

    tenant: str
    tenant_name: str
    email: str
    inviter_name: str
    until: Moment
    has_account: bool
    """Whether there is an account with this address: then its owner signs in and accepts."""


def get_info(platform: Platform, secret: str) -> InviteInfo:
    """Return the invite of a link, without accepting it."""
    with platform.database.read() as transaction:
        tenant, invite = _find(transaction, secret, platform.clock())
        session = platform.access.session(transaction, tenant)
        view = session.current_view()
        return InviteInfo(
            tenant,
            view.names.get(session.tenant) or tenant,
            invite.email,
            view.names.get(view.ids.get(invite.made_by) or 0) or "",
            invite.until,
            accounts.find_by_email(transaction, session.tenant, invite.email) is not None,
        )


def accept(platform: Platform, secret: str, name: str, password: str, client: ClientInfo) -> CreatedSignIn:
    """Create the member and account of a new person, and sign them in."""
    with platform.database.read() as transaction:
        tenant, invite = _find(transaction, secret, platform.clock())
    password_hash = passwords.hash_password(passwords.valid_password(password, valid_name(name), invite.email))
    newcomer = secrets.token_hex(8)
    with platform.write(client.to_caller(tenant, newcomer)) as ctx:
        invite = _take(ctx, secret)
        if accounts.find_by_email(ctx.session.transaction, ctx.session.tenant, invite.email) is not None:
            raise ConflictError("There is already an account with this e-mail address.", "Sign in, then accept.")
        ctx.session.store.create(MEMBER, name, uid=newcomer, edges={"tenant": tenant})
        accounts.add(ctx, newcomer, email=invite.email, password=password_hash)
        _grant_all(ctx, invite)
        return sign_ins.create(ctx, platform.settings, newcomer, "invite", client)


def accept_as_member(ctx: RequestContext, secret: str) -> Invite:
    """Accept an invite to one's own e-mail address, in the tenant that one is signed in to."""
    ctx.need_writable()
    need_unrestricted(ctx, "accept invites")
    invite = _take(ctx, secret)
    account = accounts.get(ctx, ctx.caller.member)
    if account is None or email_key(account.email) != email_key(invite.email):
        raise ConflictError("This invite is for another e-mail address.", "Sign in with the account of that address.")
    for role, place in invite.grants.roles:
        # The inviter may only bring people in, and not change the role of existing members.
        only_invites = not ctx.session.check(invite.made_by, "give", place, role=role)
        if only_invites and ctx.session.read_view(partial(_holds_role, target=place, member=ctx.caller.member)):
            raise ConflictError("You are a member there already, with another role.", "Ask an admin to change it.")
    _grant_all(ctx, invite)
    return invite


def _grant_all(ctx: RequestContext, invite: Invite) -> None:
    """Give the member all that comes with the invite, as by the inviter."""
    member = ctx.caller.member
    chosen = invites.effective_settings(ctx.session, invite.made_by, invite.grants)
    ctx.note("accept invite", member, after={"invite": invite.id, "invited_by": invite.made_by})
    for role, target in invite.grants.roles:
        ctx.make_unchecked(Add(Grant(member, role, target)))
    for target, name, value in chosen:
        ctx.make_unchecked(Add(Attribute(target, name, value, member)))


def _take(ctx: RequestContext, secret: str) -> Invite:
    """Use the invite up and return it, if its inviter may still give all of it."""
    tenant, invite = _find(ctx.session.transaction, secret, ctx.at)
    if tenant != ctx.caller.tenant or not invites.delete(ctx, invite.id):
        raise _refusal()
    if not invites.may_invite(ctx.session, tenant, invite.made_by, invite.grants):
        raise ConflictError("The member who invited you can no longer grant these roles.", "Request a new invite.")
    return invite


def _find(transaction: Transaction, secret: str, at: Moment) -> tuple[str, Invite]:
    """Return the tenant's id and the invite. The tenant is known only from the row of the secret."""
    row = secret_tokens.find_row(transaction, invite_table, secret_tokens.INVITE, secret, at)
    if row is None:
        raise _refusal()
    return row.tenant, from_row(row)


def _holds_role(view: FactView, target: str, member: str) -> bool:
    """Whether the member holds a role there, directly or by a group."""
    held = view.grants.get(view.resource(target)) or {}
    return any(held.get(subject) for subject in view.subject(view.member(member)).ids)


def _refusal() -> UnauthorizedError:
    return UnauthorizedError("This invite is invalid or has expired.", "Ask for a new one.")
