"""A new password: with a link for it, or with the old one. All that the old one had opened ends."""

from __future__ import annotations

from lakehold.directory import accounts, links, passwords, sign_ins, throttle
from lakehold.directory.caller import Caller
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.mails import PASSWORD
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.directory.standing import need_whole
from lakehold.directory.visit import Visit
from lakehold.kit.errors import ConflictError
from lakehold.ledger.audit import DENIED


def set_with_link(platform: Platform, secret: str, password: str, visit: Visit) -> None:
    """Set a password with a link for it. All sign-ins and all other links end."""
    with platform.database.read() as transaction:
        link = links.found(platform, transaction, secret, PASSWORD)
        if link is None:
            raise links.refusal()
        session = platform.access.session(transaction, link.tenant)
        account = accounts.by_member(transaction, session.tenant, link.member_id)
        name = session.current_view().names.get(link.member_id) or ""
    kept = passwords.hashed(passwords.valid(password, name, account.email if account else ""))
    with platform.write(visit.caller(link.tenant, link.member)) as ctx:
        again = links.held(ctx, secret, PASSWORD)
        if again is None or not links.used(ctx, again):
            raise links.refusal()
        _replaced(ctx, kept)


def change(platform: Platform, caller: Caller, old: str, password: str) -> None:
    """Change one's own password, knowing the old one. All other sign-ins end."""
    kept_before, counted = _counted(platform, caller, password)
    if not passwords.matches(kept_before, old):
        with platform.write(caller) as ctx:
            ctx.note("set password", caller.member, outcome=DENIED)
        raise UnauthorizedError("The old password is wrong.", "Try again, or ask for a link to set a new one.")
    kept = passwords.hashed(password)
    with platform.write(caller) as ctx:
        account = accounts.of(ctx, caller.member)
        if account is None or account.password != kept_before:
            raise ConflictError("The password was changed meanwhile.", "Sign in again.")
        throttle.succeeded(ctx.session.transaction, ctx.session.tenant, counted)
        _replaced(ctx, kept, but=caller.sign_in_id)


def _counted(platform: Platform, caller: Caller, password: str) -> tuple[str, throttle.Keys]:
    """The password's present hash, once the attempt was counted: who has found an open screen may guess too."""
    counted = throttle.keys("old password", caller.member, caller.address, throttle.ACCOUNT, throttle.ADDRESS)
    with platform.write(caller) as ctx:
        ctx.writing()
        need_whole(ctx, "change the password")
        account = accounts.of(ctx, caller.member)
        if account is None or account.service or not account.password:
            raise ConflictError("You have no password yet.", "Ask for a link to set one.")
        passwords.valid(password, ctx.view.names.get(account.member_id) or "", account.email)
        throttle.count(ctx.session.transaction, ctx.session.tenant, ctx.at, counted)
        return account.password, counted


def _replaced(ctx: RequestContext, kept: str, *, but: str = "") -> None:
    member = ctx.caller.member
    accounts.set_password(ctx, member, kept)
    links.ended(ctx, member)
    sign_ins.ended(ctx, member, but=but)
    ctx.note("set password", member)
