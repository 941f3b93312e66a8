"""Tenants: each is a world of its own. None knows of another, and nothing of one works in another."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.access import Grant
from lakehold.access.facts.store import FactStore

# past the access filter: tenants are known to the installation alone
from lakehold.access.facts.tables import resource
from lakehold.access.model.policy import MEMBER
from lakehold.access.model.schema import AccessModel
from lakehold.directory import accounts, passwords
from lakehold.directory.accounts import Account
from lakehold.directory.emails import valid_email
from lakehold.directory.platform import Platform
from lakehold.directory.visit import Visit
from lakehold.kit.clock import Moment
from lakehold.kit.database import Transaction
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import valid_id, valid_name
from lakehold.ledger.audit import AuditLog, AuditLogEntry

_TURN = "tenants"
_LONGEST_ID = 40


@dataclass(frozen=True, slots=True)
class Tenant:
    """One tenant of the installation."""

    uid: str
    name: str
    since: Moment


@dataclass(frozen=True, slots=True)
class Founding:
    """What a new tenant is called, and who is its Owner."""

    name: str
    owner: str
    """The Owner's name."""
    email: str
    password: str = field(repr=False)
    uid: str = ""
    """Without one it is made from the name."""


@dataclass(frozen=True, slots=True)
class Founded:
    """The ids of a new tenant and of its Owner."""

    tenant: str
    owner: str


def every(platform: Platform) -> list[Tenant]:
    """All tenants, by name: for whoever keeps the installation, and nobody else."""
    query = sa.select(resource.c.uid, resource.c.name, resource.c.since).where(resource.c.tenant_id == resource.c.id)
    with platform.database.read() as transaction:
        found = transaction.connection.execute(query.order_by(resource.c.sort_name, resource.c.id)).all()
    return [Tenant(row.uid, row.name, row.since) for row in found]


def only(platform: Platform) -> str:
    """The one tenant's id; empty if there are none or several."""
    query = sa.select(resource.c.uid).where(resource.c.tenant_id == resource.c.id).limit(2)
    with platform.database.read() as transaction:
        found = transaction.connection.execute(query).scalars().all()
    return found[0] if len(found) == 1 else ""


def number(transaction: Transaction, tenant: str) -> int:
    """The number of a tenant; 0 if there is none of this id, which is nobody's business."""
    try:
        valid_id(tenant, "tenant")
    except InvalidInputError:
        return 0
    query = sa.select(resource.c.id).where(resource.c.tenant_id == resource.c.id, resource.c.uid == tenant)
    return int(transaction.connection.execute(query).scalar() or 0)


def found(
    platform: Platform,
    models: Iterable[AccessModel],
    wanted: Founding,
    *,
    first: bool = False,
    visit: Visit | None = None,
) -> Founded:
    """Make a tenant with its Owner, both or neither. With `first`: only if there is no other."""
    wanted = _valid(wanted)
    kept = passwords.hashed(wanted.password)
    with platform.database.write(_TURN) as transaction:
        if first and not is_first(transaction):
            raise ConflictError("This installation has been set up already.", "Sign in, or ask for an invite.")
        store = platform.access.create_tenant_in(transaction, wanted.uid, wanted.name, models)
        owner = store.create(MEMBER, wanted.owner, edges={"tenant": wanted.uid})
        store.add(Grant(owner, "owner", wanted.uid))
        account = Account(store.view.member(owner), wanted.email, kept, service=False, made_at=store.at)
        accounts.insert(transaction, store.tenant, account)
        # Nobody else can write in a tenant that is not there yet: its turn is ours.
        transaction.lock_name = wanted.uid
        AuditLog(transaction, store.tenant, wanted.uid, platform.keys).append(
            [_entry(store, wanted, owner, visit or Visit())]
        )
    return Founded(wanted.uid, owner)


def is_first(transaction: Transaction) -> bool:
    """Whether there is no tenant yet."""
    query = sa.select(resource.c.id).where(resource.c.tenant_id == resource.c.id).limit(1)
    return transaction.connection.execute(query).first() is None


def _valid(wanted: Founding) -> Founding:
    name, owner, email = valid_name(wanted.name, "name"), valid_name(wanted.owner, "owner"), valid_email(wanted.email)
    uid = valid_id(wanted.uid or _id_of(name), "tenant")
    return Founding(name, owner, email, passwords.valid(wanted.password, owner, email), uid)


def _id_of(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST_ID].strip("-") or "tenant"


def _entry(store: FactStore, wanted: Founding, owner: str, visit: Visit) -> AuditLogEntry:
    return AuditLogEntry(
        at=store.at,
        member=owner,
        member_name=wanted.owner,
        action="create",
        resource=wanted.uid,
        resource_name=wanted.name,
        kind="tenant.tenant",
        request=visit.request,
        address=visit.address,
        after={"name": wanted.name, "owner": owner},
    )
