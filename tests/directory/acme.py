"""A platform with members who can sign in, a stopped clock, and one workspace of each kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from pydantic import SecretStr

from lakehold import workspaces
from lakehold.access import Grant
from lakehold.directory import accounts, passwords, tenants, tokens
from lakehold.directory.authentication import PasswordMethod, sign_in
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.directory.sign_ins import CreatedSignIn
from lakehold.directory.tenants import TenantSetup
from lakehold.kit.errors import LakeholdError
from lakehold.kit.keys import KeyRing
from lakehold.kit.settings import Settings
from lakehold.ledger import outbox
from lakehold.ledger.audit import AuditFilter, AuditLogEntry
from tests.clock import StoppedClock

SECRET = "correct horse battery"
HOME = ClientInfo("192.0.2.7", "Firefox", "r1")
ELSEWHERE = ClientInfo("198.51.100.9", "curl", "r2")


@dataclass(slots=True)
class AcmePlatform:
    """A platform whose first tenant is Acme, with Olga as its Owner."""

    platform: Platform
    clock: StoppedClock
    olga: Caller
    tenant: str = "acme"

    def person(self, name: str, *roles: tuple[str, str], tenant: str = "", password: str = SECRET) -> Caller:
        """A member with an account, and these roles on these resources."""
        tenant = tenant or self.tenant
        uid = name.lower()
        with self.platform.write(Caller(tenant, "")) as ctx:
            ctx.session.store.create("tenant.member", name, uid=uid, edges={"tenant": tenant})
            accounts.add(ctx, uid, email=f"{uid}@example.org", password=passwords.hash_password(password))
            for role, resource in roles:
                ctx.session.store.add(Grant(uid, role, resource))
        return Caller(tenant, uid)

    def authenticate_token(self, secret: str) -> Caller:
        """The caller of an API token, as a request would find them; refused if it is not valid."""
        return tokens.authenticate(self.platform, secret)

    def admin(self, name: str = "Adam") -> Caller:
        """A member who is Admin of the tenant."""
        return self.person(name, ("admin", self.tenant))

    def create_resource(self, kind: str, uid: str, creator: str | None = None, **edges: str) -> str:
        """Create a resource without checking rights."""
        with self.platform.write(Caller(self.tenant, "")) as ctx:
            return ctx.session.store.create(kind, uid.title(), uid=uid, edges=edges, creator=creator)

    def project(self, uid: str = "sales") -> str:
        """A project of marts."""
        return self.create_resource("marts.project", uid, tenant=self.tenant)

    def sign_in(self, name: str, visit: ClientInfo = HOME, password: str = SECRET) -> CreatedSignIn:
        """Sign in with the password."""
        return sign_in(self.platform, PasswordMethod(f"{name.lower()}@example.org", password, self.tenant), visit)

    def refuses(
        self,
        caller: Caller,
        error: type[LakeholdError],
        *deeds: Callable[[RequestContext], object],
        match: str | None = None,
    ) -> None:
        """Each of these is refused to the caller."""
        for deed in deeds:
            with pytest.raises(error, match=match), self.platform.write(caller) as ctx:
                deed(ctx)

    def log(self, tenant: str = "", entry_filter: AuditFilter | None = None) -> list[AuditLogEntry]:
        """The audit log, the oldest entry first. It always verifies."""
        with self.platform.read(Caller(tenant or self.tenant, "")) as ctx:
            assert not ctx.audit.verify().fault
            return [line.entry for line in reversed(ctx.audit.page(entry_filter or AuditFilter(), limit=1_000))]

    def audit_summary(self, entry_filter: AuditFilter | None = None) -> list[tuple[str, str, str, str]]:
        """Who did what to whom, and whether it was done."""
        return [
            (entry.member, entry.action, entry.resource, entry.outcome) for entry in self.log(entry_filter=entry_filter)
        ]

    def mails(self) -> list[tuple[str, str, str]]:
        """Receiver, subject and body of all mails that wait."""
        with self.platform.database.read() as transaction:
            waiting = outbox.due_messages(transaction, self.clock())
        return [(mail.receiver, mail.subject, self.keys.decrypt(mail.body)) for mail in waiting]

    @property
    def keys(self) -> KeyRing:
        """The installation's keys."""
        return self.platform.keys

    def with_mails(self) -> Settings:
        """Let the installation send mails from now on."""
        self.platform.settings = self.platform.settings.model_copy(update={"smtp": SecretStr("smtp://127.0.0.1:25")})
        return self.platform.settings

    def second_tenant(self, owner: str = "Otto") -> Caller:
        """Another tenant beside, with an Owner of its own."""
        founded = tenants.create_tenant(
            self.platform,
            workspaces.models(),
            TenantSetup("Bolt", owner, f"{owner.lower()}@example.org", SECRET, "bolt"),
        )
        return Caller(founded.tenant, founded.owner)


def from_home(caller: Caller) -> Caller:
    """Return the same caller with an address."""
    return replace(caller, address=HOME.address)


def secret_of(link: str) -> str:
    """Return the secret in a link."""
    return link.rpartition("/")[2]
