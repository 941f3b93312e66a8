"""With what a member signs in: an e-mail address and a password's hash. A service account has neither.

A member may have no account at all: they are there, hold roles, and cannot sign in until an admin gives them one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.directory import emails
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, Transaction, metadata
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote

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


def of(ctx: RequestContext, member: str) -> Account | None:
    """The account of a member, if there is one."""
    number = ctx.view.member(member)
    return among(ctx, [number]).get(number)


def among(ctx: RequestContext, members: Iterable[int]) -> dict[int, Account]:
    """The accounts of these members, by their number."""
    c = account_table.c
    query = sa.select(account_table).where(c.tenant_id == ctx.session.tenant, c.member_id.in_(list(members)))
    return {row.member_id: _account(row) for row in ctx.session.transaction.connection.execute(query)}


def by_email(transaction: Transaction, tenant: int, email: str) -> Account | None:
    """The account with this address in this tenant. What is no address is nobody's."""
    try:
        key = emails.key(emails.valid_email(email))
    except InvalidInputError:
        return None
    return _first(transaction, tenant, account_table.c.email_key == key)


def by_member(transaction: Transaction, tenant: int, member: int) -> Account | None:
    """The account of the member of this number."""
    return _first(transaction, tenant, account_table.c.member_id == member)


def add(ctx: RequestContext, member: str, *, email: str = "", password: str = "", service: bool = False) -> None:
    """Give a member an account. The caller of this has asked for the right to."""
    if of(ctx, member) is not None:
        raise ConflictError(f"{quote(member)} has an account already.", "Change that one.")
    if email:
        refuse_taken(ctx, email)
    number = ctx.view.member(member)
    insert(
        ctx.session.transaction,
        ctx.session.tenant,
        Account(number, email, password, service=service, made_at=ctx.at),
    )


def insert(transaction: Transaction, tenant: int, account: Account) -> None:
    """Write an account of a member who has none."""
    transaction.connection.execute(
        account_table.insert().values(
            tenant_id=tenant,
            member_id=account.member_id,
            email=account.email or None,
            email_key=emails.key(account.email) if account.email else None,
            password=account.password,
            service=account.service,
            made_at=account.made_at,
        )
    )


def set_email(ctx: RequestContext, member: str, email: str) -> None:
    """Let the member sign in with another address."""
    refuse_taken(ctx, email)
    _update(ctx, member, email=email, email_key=emails.key(email))


def set_password(ctx: RequestContext, member: str, password: str) -> None:
    """Keep another password's hash."""
    _update(ctx, member, password=password)


def end(ctx: RequestContext, member: str) -> None:
    """The member has no account any more."""
    c = account_table.c
    ctx.session.transaction.connection.execute(
        account_table.delete().where(c.tenant_id == ctx.session.tenant, c.member_id == ctx.view.member(member))
    )


def refuse_taken(ctx: RequestContext, email: str) -> None:
    """Refuse an address that is somebody's."""
    if by_email(ctx.session.transaction, ctx.session.tenant, email) is not None:
        raise ConflictError(f"There is already an account with the e-mail {quote(email)}.", "Use another address.")


def _update(ctx: RequestContext, member: str, **values: object) -> None:
    c = account_table.c
    ctx.session.transaction.connection.execute(
        account_table.update()
        .where(c.tenant_id == ctx.session.tenant, c.member_id == ctx.view.member(member))
        .values(**values)
    )


def _first(transaction: Transaction, tenant: int, which: sa.ColumnElement[bool]) -> Account | None:
    query = sa.select(account_table).where(account_table.c.tenant_id == tenant, which)
    found = transaction.connection.execute(query).first()
    return _account(found) if found is not None else None


def _account(row: sa.Row[tuple[object, ...]]) -> Account:
    return Account(row.member_id, row.email or "", row.password, service=bool(row.service), made_at=row.made_at)
