"""A new password: with a link for it, or with the old one. All that the old one had opened ends."""

from __future__ import annotations

from lakehold.directory import accounts, links, passwords, sign_ins, throttle
from lakehold.directory.caller import Caller
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.installation import Installation
from lakehold.directory.mails import PASSWORD
from lakehold.directory.standing import need_whole
from lakehold.directory.visit import Visit
from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError
from lakehold.ledger.audit import DENIED


def set_with_link(house: Installation, secret: str, password: str, visit: Visit) -> None:
    """Set a password with a link for it. All sign-ins and all other links end."""
    with house.database.read() as transaction:
        link = links.found(house, transaction, secret, PASSWORD)
        if link is None:
            raise links.refusal()
        session = house.access.session(transaction, link.tenant)
        account = accounts.by_member(transaction, session.tenant, link.member_id)
        name = session.seen().names.get(link.member_id) or ""
    kept = passwords.hashed(passwords.valid(password, name, account.email if account else ""))
    with house.write(visit.caller(link.tenant, link.member)) as work:
        again = links.held(work, secret, PASSWORD)
        if again is None or not links.used(work, again):
            raise links.refusal()
        _replaced(work, kept)


def change(house: Installation, caller: Caller, old: str, password: str) -> None:
    """Change one's own password, knowing the old one. All other sign-ins end."""
    kept_before, counted = _counted(house, caller, password)
    if not passwords.matches(kept_before, old):
        with house.write(caller) as work:
            work.note("set password", caller.member, outcome=DENIED)
        raise UnauthorizedError("The old password is wrong.", "Try again, or ask for a link to set a new one.")
    kept = passwords.hashed(password)
    with house.write(caller) as work:
        account = accounts.of(work, caller.member)
        if account is None or account.password != kept_before:
            raise ConflictError("The password was changed meanwhile.", "Sign in again.")
        throttle.succeeded(work.session.transaction, work.session.tenant, counted)
        _replaced(work, kept, but=caller.sign_in_id)


def _counted(house: Installation, caller: Caller, password: str) -> tuple[str, throttle.Keys]:
    """The password's present hash, once the attempt was counted: who has found an open screen may guess too."""
    counted = throttle.keys("old password", caller.member, caller.address, throttle.ACCOUNT, throttle.ADDRESS)
    with house.write(caller) as work:
        work.writing()
        need_whole(work, "change the password")
        account = accounts.of(work, caller.member)
        if account is None or account.service or not account.password:
            raise ConflictError("You have no password yet.", "Ask for a link to set one.")
        passwords.valid(password, work.view.names.get(account.member_id) or "", account.email)
        throttle.count(work.session.transaction, work.session.tenant, work.at, counted)
        return account.password, counted


def _replaced(work: Work, kept: str, *, but: str = "") -> None:
    member = work.caller.member
    accounts.set_password(work, member, kept)
    links.ended(work, member)
    sign_ins.ended(work, member, but=but)
    work.note("set password", member)
