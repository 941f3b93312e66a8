"""Sign-in by any method, and changes of passwords. An attempt is counted, then verified, then audited, whether it was
right or not. Every failure gets the same answer after the same steps, so that it does not reveal whether an account
exists.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from lakehold.directory import accounts, links, passwords, secret_tokens, sign_ins, tenants, throttle, tokens
from lakehold.directory.accounts import email_key
from lakehold.directory.act_for import need_unrestricted
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.links import PASSWORD, SIGN_IN
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.directory.sign_ins import CreatedSignIn
from lakehold.kit.errors import ConflictError
from lakehold.ledger.audit import DENIED


@dataclass(frozen=True, slots=True)
class SignInProof:
    """The result of verifying a sign-in attempt: the member, and whether the secret was right."""

    member: str = ""
    """Whose account it is about, if there is one."""
    valid: bool = False
    password_hash: str = field(default="", repr=False)
    """What was compared with. It must still be so when the sign-in begins."""
    new_hash: str = field(default="", repr=False)
    """The same password, hashed as it is done today; empty if it is already."""


@dataclass(frozen=True, slots=True)
class PasswordMethod:
    """Sign-in by e-mail address and password. The tenant may be left out where there is only one."""

    name: ClassVar[str] = "password"
    email: str
    password: str = field(repr=False)
    tenant_id: str = ""

    @property
    def throttle_key(self) -> str:
        """The address as it was typed, known or not."""
        return email_key(self.email)

    def tenant(self, platform: Platform) -> str:
        """Return the given tenant, or the only one."""
        return self.tenant_id or tenants.only_tenant(platform)

    def verify(self, platform: Platform, tenant: str) -> SignInProof:
        """Compare the password, with a dummy hash if there is no such account."""
        member, password_hash = self._account(platform, tenant)
        if not passwords.verify_password(password_hash, self.password):
            return SignInProof(member)
        outdated = passwords.hasher.check_needs_rehash(password_hash)
        return SignInProof(member, True, password_hash, passwords.hash_password(self.password) if outdated else "")

    def confirm(self, ctx: RequestContext, proof: SignInProof) -> bool:
        """Whether the password hash has not changed since it was verified."""
        account = accounts.get(ctx, proof.member)
        if account is None or account.password != proof.password_hash:
            return False
        if proof.new_hash:
            accounts.set_password(ctx, proof.member, proof.new_hash)
        return True

    def refusal(self) -> UnauthorizedError:
        """Return an error that does not say whether the address or the password was wrong."""
        return UnauthorizedError("The e-mail address or the password is wrong.", "Try again, or request a link.")

    def _account(self, platform: Platform, tenant: str) -> tuple[str, str]:
        with platform.database.read() as transaction:
            number = tenants.tenant_number(transaction, tenant)
            account = accounts.find_by_email(transaction, number, self.email)
            if account is None:
                return "", ""
            member = platform.access.session(transaction, tenant).current_view().uids.get(account.member_id) or ""
            return member, account.password if member else ""


@dataclass(frozen=True, slots=True)
class MagicLinkMethod:
    """Sign-in by a one-time link."""

    name: ClassVar[str] = "link"
    secret: str = field(repr=False)

    @property
    def throttle_key(self) -> str:
        """The id in the link's secret."""
        given = secret_tokens.parse(secret_tokens.LINK, self.secret)
        return given.id if given else ""

    def tenant(self, platform: Platform) -> str:
        """Return the tenant of the link; empty if it is not valid."""
        with platform.database.read() as transaction:
            link = links.find(transaction, self.secret, SIGN_IN, platform.clock())
        return str(link.tenant) if link is not None else ""

    def verify(self, platform: Platform, tenant: str) -> SignInProof:
        """Look the link up."""
        with platform.database.read() as transaction:
            link = links.find(transaction, self.secret, SIGN_IN, platform.clock())
        return SignInProof(link.member, valid=True) if link is not None and link.tenant == tenant else SignInProof()

    def confirm(self, ctx: RequestContext, proof: SignInProof) -> bool:
        """Use the link up, and return whether nobody else has."""
        return proof.member == ctx.caller.member and links.use(ctx, self.secret, SIGN_IN)

    def refusal(self) -> UnauthorizedError:
        """Return the one error for every invalid link."""
        return links.refusal()


SignInMethod = PasswordMethod | MagicLinkMethod
"""The methods by which members prove their identity. Each is verified outside of any transaction that others wait for,
and confirmed in the one that starts the sign-in."""


def sign_in(platform: Platform, method: SignInMethod, client: ClientInfo) -> CreatedSignIn:
    """Sign a member in by this method."""
    tenant = method.tenant(platform)
    attempt_keys = throttle.attempt_keys(method.name, method.throttle_key, client.address)
    with platform.database.write(tenant) as transaction:
        number = tenants.tenant_number(transaction, tenant)
        throttle.count_attempt(transaction, number, platform.clock(), attempt_keys)
    proof = method.verify(platform, tenant if number else "")
    if not number:
        raise method.refusal()
    # The line about a wrong one is committed before the answer is given.
    with platform.write(client.to_caller(tenant, proof.member)) as ctx:
        if proof.valid and method.confirm(ctx, proof):
            throttle.record_success(ctx.session.transaction, number, attempt_keys)
            return sign_ins.create(ctx, platform.settings, proof.member, method.name, client)
        ctx.note("sign in", proof.member, after={"method": method.name}, outcome=DENIED)
    raise method.refusal()


def set_password_with_link(
    platform: Platform, secret: str, password: str, client: ClientInfo, *, revoke_tokens: bool = False
) -> None:
    """Set a password with a link for it. All sign-ins and all other links end, and API tokens on demand."""
    with platform.database.read() as transaction:
        link = links.find(transaction, secret, PASSWORD, platform.clock())
        if link is None:
            raise links.refusal()
        session = platform.access.session(transaction, link.tenant)
        account = accounts.get(RequestContext(session, client.to_caller(link.tenant), platform.keys), link.member)
        name = session.current_view().names.get(link.member_id) or ""
    new_hash = passwords.hash_password(passwords.valid_password(password, name, account.email if account else ""))
    with platform.write(client.to_caller(link.tenant, link.member)) as ctx:
        if not links.use(ctx, secret, PASSWORD):
            raise links.refusal()
        _replace_password(ctx, new_hash, revoke_tokens=revoke_tokens)


def change_password(
    platform: Platform, caller: Caller, old: str, password: str, *, revoke_tokens: bool = False
) -> None:
    """Change one's own password with the old one. All other sign-ins end, and API tokens on demand."""
    attempt_keys = throttle.attempt_keys("old password", caller.member, caller.address)
    with platform.write(caller) as ctx:
        ctx.need_writable()
        need_unrestricted(ctx, "change the password")
        account = accounts.get(ctx, caller.member)
        if account is None or account.service or not account.password:
            raise ConflictError("You have no password yet.", "Request a link to set one.")
        old_hash = account.password
        passwords.valid_password(password, ctx.view.names.get(account.member_id) or "", account.email)
        # Because somebody at an unlocked screen may guess too.
        throttle.count_attempt(ctx.session.transaction, ctx.session.tenant, ctx.at, attempt_keys)
    if not passwords.verify_password(old_hash, old):
        with platform.write(caller) as ctx:
            ctx.note("set password", caller.member, outcome=DENIED)
        raise UnauthorizedError("The old password is wrong.", "Try again, or request a link to set a new one.")
    new_hash = passwords.hash_password(password)
    with platform.write(caller) as ctx:
        account = accounts.get(ctx, caller.member)
        if account is None or account.password != old_hash:
            raise ConflictError("The password was changed meanwhile.", "Sign in again.")
        throttle.record_success(ctx.session.transaction, ctx.session.tenant, attempt_keys)
        _replace_password(ctx, new_hash, but=caller.sign_in_id, revoke_tokens=revoke_tokens)


def _replace_password(ctx: RequestContext, new_hash: str, *, but: str = "", revoke_tokens: bool) -> None:
    member = ctx.caller.member
    accounts.set_password(ctx, member, new_hash)
    links.delete_all(ctx, member)
    sign_ins.end_all_unchecked(ctx, member, but=but)
    if revoke_tokens:
        tokens.revoke_all_unchecked(ctx, member)
    ctx.note("set password", member)
