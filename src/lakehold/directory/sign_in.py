"""Signing in, by any method: an attempt is counted, then proved, then written down, whether it was right or not.

Whatever is wrong gets the same answer, after the same steps: nobody learns from it whether there is such an account.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from lakehold.directory import accounts, passwords, sign_ins, tenants, throttle
from lakehold.directory.emails import key
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.directory.sign_ins import SignedIn
from lakehold.directory.visit import Visit
from lakehold.ledger.audit import DENIED


@dataclass(frozen=True, slots=True)
class Proof:
    """What a method found out: who it is, if what they showed was right."""

    member: str = ""
    """Whose account it is about, if there is one."""
    right: bool = False
    kept: str = field(default="", repr=False)
    """What was compared with. It must still be so when the sign-in begins."""
    renewed: str = field(default="", repr=False)
    """The same password, hashed as it is done today; empty if it is already."""


class SignInMethod(Protocol):
    """A way to prove who one is."""

    @property
    def name(self) -> str:
        """What lists and the audit log call it."""

    @property
    def counted_by(self) -> str:
        """What attempts are counted by, beside the address."""

    def tenant(self, platform: Platform) -> str:
        """The tenant that it is about; empty if that cannot be known."""

    def prove(self, platform: Platform, tenant: str) -> Proof:
        """Find out, in no transaction that others wait for."""

    def settle(self, ctx: RequestContext, proof: Proof) -> bool:
        """Whether it is still so in the transaction in which the sign-in begins. Uses up what is used once."""

    def refusal(self) -> UnauthorizedError:
        """The one answer to everything that is wrong."""


def sign_in(platform: Platform, method: SignInMethod, visit: Visit) -> SignedIn:
    """Let somebody in who proves who they are."""
    tenant = method.tenant(platform)
    counted = throttle.keys(method.name, method.counted_by, visit.address, throttle.ACCOUNT, throttle.ADDRESS)
    with platform.database.write(tenant) as transaction:
        number = tenants.number(transaction, tenant)
        throttle.count(transaction, number, platform.clock(), counted)
    proof = method.prove(platform, tenant if number else "")
    if not number:
        raise method.refusal()
    # The line about a wrong one is committed before the answer is given.
    with platform.write(visit.caller(tenant, proof.member)) as ctx:
        if proof.right and method.settle(ctx, proof):
            throttle.succeeded(ctx.session.transaction, number, counted)
            return sign_ins.begin(ctx, platform.settings, proof.member, method.name, visit)
        ctx.note("sign in", proof.member, after={"method": method.name}, outcome=DENIED)
    raise method.refusal()


@dataclass(frozen=True, slots=True)
class Password:
    """An e-mail address and a password. The tenant may be left out where there is only one."""

    email: str
    password: str = field(repr=False)
    tenant_id: str = ""

    @property
    def name(self) -> str:
        """What lists and the audit log call it."""
        return "password"

    @property
    def counted_by(self) -> str:
        """The address as it was typed, known or not."""
        return key(self.email)

    def tenant(self, platform: Platform) -> str:
        """The one that was named, or the only one."""
        return self.tenant_id or tenants.only(platform)

    def prove(self, platform: Platform, tenant: str) -> Proof:
        """Compare the password, with nobody's if there is no such account."""
        member, kept = self._account(platform, tenant)
        if not passwords.matches(kept, self.password):
            return Proof(member)
        return Proof(member, True, kept, passwords.hashed(self.password) if passwords.is_outdated(kept) else "")

    def settle(self, ctx: RequestContext, proof: Proof) -> bool:
        """Whether the password is still the same."""
        account = accounts.of(ctx, proof.member)
        if account is None or account.password != proof.kept:
            return False
        if proof.renewed:
            accounts.set_password(ctx, proof.member, proof.renewed)
        return True

    def refusal(self) -> UnauthorizedError:
        """It does not say which of the two."""
        return UnauthorizedError("The e-mail address or the password is wrong.", "Try again, or ask for a link.")

    def _account(self, platform: Platform, tenant: str) -> tuple[str, str]:
        with platform.database.read() as transaction:
            number = tenants.number(transaction, tenant)
            account = accounts.by_email(transaction, number, self.email)
            if account is None:
                return "", ""
            member = platform.access.session(transaction, tenant).current_view().uids.get(account.member_id) or ""
            return member, account.password if member else ""
