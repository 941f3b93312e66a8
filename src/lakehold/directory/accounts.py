"""Accounts: the e-mail address and password hash with which a member signs in. A service account has neither.

A member without an account holds roles, and cannot sign in until an admin gives them an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from lakehold.access.facts import tables
from lakehold.access.facts.records import Grant
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.database import ExactText, IdType, TenantRows, Transaction, metadata
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import fold_name, quote, valid_id
from lakehold.kit.settings import Settings

if TYPE_CHECKING:
    from lakehold.directory.request_context import RequestContext

_MAX_EMAIL_LENGTH = 254
# Only what every mail server agrees on: whether somebody reads it there, no pattern can tell.
_EMAIL_PATTERN = re.compile(r"[^\s@<>(),;:\\\"\[\]]{1,64}@[^\s@<>(),;:\\\"\[\]]+")


def valid_email(text: object) -> str:
    """Return the address, or refuse what cannot be one."""
    email = valid_id(text.strip() if isinstance(text, str) else text, "e-mail address")
    if len(email) > _MAX_EMAIL_LENGTH or not _EMAIL_PATTERN.fullmatch(email) or ".." in email or email.endswith("."):
        raise InvalidInputError(f"{quote(email)} is not an e-mail address.", "Write it as name@example.org.")
    return email


def email_key(email: str) -> str:
    """Return the form in which addresses are compared. Mails always go to the address as it was first given, so that
    one that only looks alike receives nothing.
    """
    return fold_name(email.strip())


account_table = sa.Table(
    "account",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("member_id", IdType, primary_key=True),
    sa.Column("email", sa.Text),
    sa.Column("email_key", ExactText),
    sa.Column("password", sa.Text, nullable=False),
    sa.Column("service", sa.Boolean, nullable=False),
    sa.Column("made_at", IdType, nullable=False),
)
sa.Index("account_by_email", account_table.c.tenant_id, account_table.c.email_key, unique=True)


@dataclass(frozen=True, slots=True)
class Account:
    """One member's account."""

    member_id: int
    email: str
    """Empty for a service account."""
    password: str = field(repr=False)
    """Its hash; empty if there is none."""
    service: bool
    made_at: Moment


def get(ctx: RequestContext, member: str) -> Account | None:
    """Return the account of a member, if there is one."""
    number = ctx.view.member(member)
    return get_many(ctx, [number]).get(number)


def get_many(ctx: RequestContext, members: Iterable[int]) -> dict[int, Account]:
    """Return the accounts of these members, by member number."""
    found = ctx.rows(account_table).select(account_table.c.member_id.in_(list(members)))
    return {row.member_id: _from_row(row) for row in found}


def find_by_email(transaction: Transaction, tenant: int, email: str) -> Account | None:
    """Return the account with this address in this tenant; None also for an invalid address."""
    try:
        key = email_key(valid_email(email))
    except InvalidInputError:
        return None
    found = TenantRows(transaction, tenant, account_table).select(account_table.c.email_key == key).first()
    return _from_row(found) if found is not None else None


def add(ctx: RequestContext, member: str, *, email: str = "", password: str = "", service: bool = False) -> None:
    """Give a member an account. The right to it has been checked before."""
    if get(ctx, member) is not None:
        raise ConflictError(f"{quote(member)} has an account already.", "Change that one.")
    if email:
        refuse_taken_email(ctx, email)
    account = Account(ctx.view.member(member), email, password, service=service, made_at=ctx.at)
    insert(ctx.session.transaction, ctx.session.tenant, account)
    for held in tables.grants_held_by(ctx.session.transaction, ctx.session.tenant, account.member_id, ctx.at):
        refuse_service_holder(ctx, held.subject, held.role, held.resource)


def refuse_service_holder(ctx: RequestContext, subject: int, role: str, resource: int) -> None:
    """Refuse that a service account holds a role that always has a holder: as it, nobody can sign in."""
    held = ctx.view.policy.kind(ctx.view.kind(resource)).schema.roles.get(role)
    if held is None or not held.last_stays:
        return
    account = get_many(ctx, [subject]).get(subject)
    if account is not None and account.service:
        name = quote(ctx.view.uid(subject))
        raise ConflictError(
            f"{name} is a service account, which nobody signs in to. It cannot be {held.title}.",
            f"Make a person {held.title}.",
        )


def refuse_losing_sign_in(ctx: RequestContext, grant: Grant) -> None:
    """Refuse that the only one who can sign in loses a role that always has a holder: only its holders may give another
    one an address, so that nobody could ever act in it again.
    """
    here, subject = ctx.view.resource(grant.resource), ctx.view.resource(grant.subject)
    role = ctx.view.policy.role(ctx.view.kind(here), grant.role)
    if role.last_stays and _sign_in_holders(ctx, here, role.name) == {subject}:
        raise ConflictError(
            f"{quote(grant.subject)} is the last {role.title} of {quote(grant.resource)} who can sign in.",
            f"Give another {role.title} an e-mail address first.",
        )


def _sign_in_holders(ctx: RequestContext, resource: int, role: str) -> set[int]:
    """Return the members who hold a role without an end and can sign in."""
    held = tables.grants_on(ctx.session.transaction, ctx.session.tenant, resource, ctx.at)
    endless = {each.subject for each in held if each.role == role and each.since <= ctx.at and each.until >= FOREVER}
    return {number for number, account in get_many(ctx, endless).items() if account.email}


def insert(transaction: Transaction, tenant: int, account: Account) -> None:
    """Insert the account of a member who has none."""
    key = email_key(account.email) if account.email else None
    values = asdict(account) | {"email": account.email or None, "email_key": key}
    TenantRows(transaction, tenant, account_table).insert(**values)


def set_email(ctx: RequestContext, member: str, email: str) -> None:
    """Set the address with which the member signs in."""
    refuse_taken_email(ctx, email)
    of_member = account_table.c.member_id == ctx.view.member(member)
    ctx.rows(account_table).update(of_member, email=email, email_key=email_key(email))


def set_password(ctx: RequestContext, member: str, password: str) -> None:
    """Store another password hash."""
    ctx.rows(account_table).update(account_table.c.member_id == ctx.view.member(member), password=password)


def delete(ctx: RequestContext, member: str) -> None:
    """Delete the member's account."""
    ctx.rows(account_table).delete(account_table.c.member_id == ctx.view.member(member))


def refuse_taken_email(ctx: RequestContext, email: str) -> None:
    """Refuse an address that belongs to an account."""
    if find_by_email(ctx.session.transaction, ctx.session.tenant, email) is not None:
        raise ConflictError(f"There is already an account with the e-mail {quote(email)}.", "Use another address.")


def queue_mails(ctx: RequestContext, settings: Settings | None, members: Iterable[str], subject: str, body: str) -> int:
    """Queue a mail for each of the members, where mail is configured, and return how many have an address."""
    if settings is None or not settings.smtp.get_secret_value():
        return 0
    numbers = [number for member in members if (number := ctx.view.ids.get(member)) is not None]
    found = [account.email for account in get_many(ctx, numbers).values() if account.email]
    for receiver in found:
        ctx.queue_mail(receiver, subject, body)
    return len(found)


def _from_row(row: sa.Row[Any]) -> Account:
    return Account(row.member_id, row.email or "", row.password, service=bool(row.service), made_at=row.made_at)
