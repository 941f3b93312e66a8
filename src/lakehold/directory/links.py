"""One-time links that sign a member in or let them set a password, and the mails that carry links.

A link is used once, expires soon, and is stored as a hash. An admin creates one and hands it over; where mail is
configured, the member requests one and it is mailed. The answer to a request does not reveal whether the account
exists.
"""

from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.directory import accounts, secret_tokens, tenants, throttle, tokens
from lakehold.directory.accounts import email_key
from lakehold.directory.act_for import need_act_for
from lakehold.directory.caller import ClientInfo
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.directory.secret_tokens import SecretRow
from lakehold.kit.clock import SECOND, Moment, format_moment
from lakehold.kit.database import IdType, Transaction
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote
from lakehold.kit.settings import Settings
from lakehold.ledger.audit import DENIED

INVITE, SIGN_IN, PASSWORD = "invite", "sign_in", "password"

_PATHS = {INVITE: "invite", SIGN_IN: "link", PASSWORD: "password"}
_SUBJECTS = {
    INVITE: "{who} invites you to {tenant}",
    SIGN_IN: "Your link to sign in to {tenant}",
    PASSWORD: "Set your password for {tenant}",
}
_BODIES = {
    INVITE: "{who} invites you to {tenant} on Lakehold. Open this link to accept:",
    SIGN_IN: "Open this link to sign in to {tenant} on Lakehold:",
    PASSWORD: "Open this link to set a new password for {tenant} on Lakehold:",
}
_END = "It can be used once, until {until} UTC.\nIf you did not expect this mail, ignore it."


def can_send_mail(settings: Settings) -> bool:
    """Whether mail is configured."""
    return bool(settings.smtp.get_secret_value())


def link_url(settings: Settings, purpose: str, secret: str) -> str:
    """Return the URL of a link with this secret."""
    return f"{settings.base_url}/{_PATHS[purpose]}/{secret}"


def queue_mail(ctx: RequestContext, purpose: str, receiver: str, link: str, until: Moment) -> None:
    """Queue the mail in the outbox, to be sent after the commit."""
    view = ctx.view
    values = {
        "tenant": view.names.get(view.resource(ctx.caller.tenant)) or ctx.caller.tenant,
        "who": view.names.get(view.ids.get(ctx.caller.member) or 0) or "Somebody",
        "until": format_moment(until)[:16],
    }
    body = f"{_BODIES[purpose].format(**values)}\n\n{link}\n\n{_END.format(**values)}\n"
    ctx.queue_mail(receiver, _SUBJECTS[purpose].format(**values), body)


link_table = secret_tokens.secret_table(
    "link", sa.Column("member_id", IdType, nullable=False), sa.Column("purpose", sa.Text, nullable=False)
)
sa.Index("link_by_member", link_table.c.tenant_id, link_table.c.member_id)
sa.Index("link_by_end", link_table.c.until)

PURPOSES = (SIGN_IN, PASSWORD)


@dataclass(frozen=True, slots=True)
class CreatedLink:
    """A created link, which is either shown to its creator or mailed to the member, never both."""

    purpose: str
    until: Moment
    mailed: bool
    link: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class LinkInfo:
    """Purpose and member of a link, for its holder."""

    purpose: str
    tenant: str
    tenant_name: str
    member_name: str
    until: Moment


def create(
    ctx: RequestContext,
    settings: Settings,
    member: str,
    purpose: str,
    *,
    mail: bool = False,
    revoke_tokens: bool = False,
) -> CreatedLink:
    """Create a link for a member, to be handed over or mailed. Older ones for the same purpose end.

    With `revoke_tokens` the member's API tokens end now, not when the link is used: who resets a password because it
    is known to somebody else does not wait.
    """
    ctx.need_writable()
    _refuse_unknown_purpose(purpose)
    need_act_for(ctx, "make links", member)
    account = accounts.get(ctx, member)
    if account is not None and account.service:
        raise ConflictError(
            f"{quote(member)} is a service account, which nobody signs in to.", "Create a token for it."
        )
    if account is None:
        raise ConflictError(f"{quote(member)} has no account yet.", "Give them an e-mail address first.")
    if mail and not can_send_mail(settings):
        raise ConflictError("This installation sends no mails.", "Share the link yourself, or set LAKEHOLD_SMTP.")
    if revoke_tokens:
        tokens.revoke_all_unchecked(ctx, member)
    return _create(ctx, settings, member, purpose, account.email if mail else "")


def request_link(platform: Platform, email: str, purpose: str, client: ClientInfo, tenant: str = "") -> None:
    """Mail a link to this address, if it has an account and mail is configured. The caller does not learn which."""
    _refuse_unknown_purpose(purpose)
    tenant = tenant or tenants.only_tenant(platform)
    attempt_keys = throttle.attempt_keys(
        "ask", email_key(email), client.address, throttle.MAIL_ACCOUNT, throttle.MAIL_ADDRESS
    )
    with platform.database.write(tenant) as transaction:
        number = tenants.tenant_number(transaction, tenant)
        throttle.count_attempt(transaction, number, platform.clock(), attempt_keys)
        account = accounts.find_by_email(transaction, number, email)
    if not number:
        return
    with platform.write(client.to_caller(tenant)) as ctx:
        member = ctx.view.uids.get(account.member_id) if account is not None and not account.service else None
        if account is None or member is None or not can_send_mail(platform.settings):
            ctx.note("ask for a link", after={"purpose": purpose}, outcome=DENIED)
            return
        ctx.note("ask for a link", member, after={"purpose": purpose})
        _create(ctx, platform.settings, member, purpose, account.email)


def get_info(platform: Platform, secret: str) -> LinkInfo:
    """Return the purpose of a link, without using it up: programs that read mails open links too."""
    with platform.database.read() as transaction:
        link = secret_tokens.find_row(transaction, link_table, secret_tokens.LINK, secret, platform.clock())
        if link is None:
            raise refusal()
        names = platform.access.session(transaction, link.tenant).current_view().names
        tenant_name, member_name = names.get(link.tenant_id) or "", names.get(link.member_id) or ""
        return LinkInfo(link.purpose, link.tenant, tenant_name, member_name, link.until)


def find(transaction: Transaction, secret: str, purpose: str, at: Moment) -> SecretRow | None:
    """Return the link of this secret, if it is valid for this purpose."""
    row = secret_tokens.find_row(transaction, link_table, secret_tokens.LINK, secret, at)
    return row if row is not None and row.purpose == purpose else None


def use(ctx: RequestContext, secret: str, purpose: str) -> bool:
    """Delete the caller's link and return whether it was there, so that only one transaction can use it."""
    link = find(ctx.session.transaction, secret, purpose, ctx.at)
    if link is None or link.member != ctx.caller.member:
        return False
    return ctx.rows(link_table).delete(link_table.c.id == link.id) == 1


def refusal() -> UnauthorizedError:
    """Return the one error for a link that was used, has expired, or never existed."""
    return UnauthorizedError("This link is invalid or has expired.", "Ask for a new one.")


def delete_all(ctx: RequestContext, member: str, purpose: str | None = None) -> None:
    """Delete the unused links of a member, for one purpose or all."""
    for_purpose = sa.true() if purpose is None else link_table.c.purpose == purpose
    ctx.rows(link_table).delete(link_table.c.member_id == ctx.view.member(member), for_purpose)


def _create(ctx: RequestContext, settings: Settings, member: str, purpose: str, receiver: str) -> CreatedLink:
    delete_all(ctx, member, purpose)
    fresh = secret_tokens.generate(secret_tokens.LINK)
    until = ctx.at + settings.link_minutes * 60 * SECOND
    secret_tokens.insert(ctx, link_table, fresh, until, member_id=ctx.view.member(member), purpose=purpose)
    link = link_url(settings, purpose, fresh.text)
    ctx.note("make link", member, after={"purpose": purpose, "link": fresh.id, "mailed": bool(receiver)})
    if receiver:
        queue_mail(ctx, purpose, receiver, link, until)
    return CreatedLink(purpose, until, mailed=bool(receiver), link="" if receiver else link)


def _refuse_unknown_purpose(purpose: str) -> None:
    if purpose not in PURPOSES:
        raise InvalidInputError(f"There are no links for {quote(purpose)}.", f"Use one of: {', '.join(PURPOSES)}.")
