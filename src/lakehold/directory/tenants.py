"""Tenants, which are isolated from each other, and the setup of the first one."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import sqlalchemy as sa

from lakehold.access import Grant

# past the access filter: tenants are known to the installation alone
from lakehold.access.facts.tables import resource
from lakehold.access.model.policy import MEMBER
from lakehold.access.model.schema import AccessModel
from lakehold.directory import accounts, passwords
from lakehold.directory.accounts import Account, valid_email
from lakehold.directory.caller import ClientInfo
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import audit_entry
from lakehold.kit.clock import Moment
from lakehold.kit.database import Transaction
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import valid_id, valid_name
from lakehold.ledger.audit import AuditLog

_MAX_ID_LENGTH = 40


@dataclass(frozen=True, slots=True)
class Tenant:
    """One tenant of the platform."""

    uid: str
    name: str
    since: Moment


@dataclass(frozen=True, slots=True)
class TenantSetup:
    """Name and Owner of a tenant to be created."""

    name: str
    owner: str
    """The Owner's name."""
    email: str
    password: str = field(repr=False)
    uid: str = ""
    """Without one it is made from the name."""


@dataclass(frozen=True, slots=True)
class CreatedTenant:
    """Ids of a created tenant and of its Owner."""

    tenant: str
    owner: str


def list_all(platform: Platform) -> list[Tenant]:
    """Return all tenants by name, for the operator of the platform only."""
    query = sa.select(resource.c.uid, resource.c.name, resource.c.since).where(resource.c.tenant_id == resource.c.id)
    with platform.database.read() as transaction:
        found = transaction.connection.execute(query.order_by(resource.c.sort_name, resource.c.id))
        return [Tenant(*row) for row in found]


def only_tenant(platform: Platform) -> str:
    """Return the id of the only tenant; empty if there are none or several."""
    query = sa.select(resource.c.uid).where(resource.c.tenant_id == resource.c.id).limit(2)
    with platform.database.read() as transaction:
        found = transaction.connection.execute(query).scalars().all()
    return found[0] if len(found) == 1 else ""


def tenant_number(transaction: Transaction, tenant: str) -> int:
    """Return the number of a tenant; 0 if there is no such tenant."""
    try:
        valid_id(tenant, "tenant")
    except InvalidInputError:
        return 0
    query = sa.select(resource.c.id).where(resource.c.tenant_id == resource.c.id, resource.c.uid == tenant)
    return int(transaction.connection.execute(query).scalar() or 0)


def tenant_uid(transaction: Transaction, number: int) -> str:
    """Return the id of the tenant with this number; empty if there is no such tenant."""
    query = sa.select(resource.c.uid).where(resource.c.tenant_id == resource.c.id, resource.c.id == number)
    return str(transaction.connection.execute(query).scalar() or "")


def create_tenant(
    platform: Platform,
    models: Iterable[AccessModel],
    setup: TenantSetup,
    *,
    first: bool = False,
    client: ClientInfo | None = None,
) -> CreatedTenant:
    """Create a tenant with its Owner, both or neither. With `first`: only if there is no other, also not at once."""
    setup = _validate(setup)
    password_hash = passwords.hash_password(setup.password)
    with platform.database.write("tenants") as transaction:
        if first and not has_no_tenants(transaction):
            raise ConflictError("This installation has been set up already.", "Sign in, or ask for an invite.")
        store = platform.access.create_tenant_in(transaction, setup.uid, setup.name, models)
        owner = store.create(MEMBER, setup.owner, edges={"tenant": setup.uid})
        store.add(Grant(owner, "owner", setup.uid))
        account = Account(store.view.member(owner), setup.email, password_hash, service=False, made_at=store.at)
        accounts.insert(transaction, store.tenant, account)
        # Nobody else can write in a tenant that does not exist yet, so we hold its lock.
        transaction.lock_name = setup.uid
        caller = (client or ClientInfo()).to_caller(setup.uid, owner)
        entry = audit_entry(caller, store.view, store.at, "create", setup.uid)
        entry = replace(entry, after={"name": setup.name, "owner": owner})
        AuditLog(transaction, store.tenant, setup.uid, platform.keys).append([entry])
    return CreatedTenant(setup.uid, owner)


def has_no_tenants(transaction: Transaction) -> bool:
    """Whether there is no tenant yet."""
    query = sa.select(resource.c.id).where(resource.c.tenant_id == resource.c.id).limit(1)
    return transaction.connection.execute(query).first() is None


def _validate(setup: TenantSetup) -> TenantSetup:
    name, owner, email = valid_name(setup.name, "name"), valid_name(setup.owner, "owner"), valid_email(setup.email)
    uid = valid_id(setup.uid or _make_id(name), "tenant")
    return TenantSetup(name, owner, email, passwords.valid_password(setup.password, owner, email), uid)


def _make_id(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_MAX_ID_LENGTH].strip("-") or "tenant"


_SETUP_PREFIX = "lhf_"
_SETUP_PURPOSE = "first run"


def is_setup_open(platform: Platform) -> bool:
    """Whether the platform has no tenant yet."""
    with platform.database.read() as transaction:
        return has_no_tenants(transaction)


def setup_secret(platform: Platform) -> str:
    """Return the secret of the setup link, which only the person who started the platform sees: somebody who just finds
    its address must not become the Owner.
    """
    return f"{_SETUP_PREFIX}{platform.keys.seal(_SETUP_PURPOSE)}"


def need_setup_secret(platform: Platform, presented: str) -> None:
    """Refuse a wrong setup secret."""
    if not platform.keys.is_sealed(_SETUP_PURPOSE, presented.removeprefix(_SETUP_PREFIX)):
        raise UnauthorizedError(
            "This is not the setup link of this installation.", "Run `lakehold up` and use the one it prints."
        )
