"""Throttling of attempts: after a few, each one has to wait twice as long as the one before.

They are counted by account and by address, before the attempt is made, so that concurrent ones are counted too. The
account is stored as a hash of what was typed, which need not be an account at all.
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

import sqlalchemy as sa

from lakehold.directory.errors import ThrottledError
from lakehold.kit.clock import DAY, SECOND, Moment
from lakehold.kit.database import ExactText, IdType, TenantRows, Transaction, metadata

attempt_table = sa.Table(
    "attempt",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("key", ExactText, primary_key=True),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("last_at", IdType, nullable=False),
    sa.Column("free_at", IdType, nullable=False),
)
sa.Index("attempt_by_time", attempt_table.c.last_at)

_RESET_AFTER = 3_600 * SECOND
"""After an hour without an attempt the count begins again."""
_MAX_WAIT = 900 * SECOND
_MAX_DOUBLINGS = 10


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """The number of attempts without a wait. Many people may share an address, and one account has one owner."""

    free: int

    def wait(self, tries: int) -> Moment:
        """Return how long the next attempt has to wait after this many."""
        if tries < self.free:
            return 0
        return min(SECOND << min(tries - self.free, _MAX_DOUBLINGS), _MAX_WAIT)


ACCOUNT, ADDRESS = AttemptLimit(free=5), AttemptLimit(free=30)
MAIL_ACCOUNT, MAIL_ADDRESS = AttemptLimit(free=3), AttemptLimit(free=20)
"""Mails that somebody asks for who is not signed in."""

AttemptKeys = Mapping[str, AttemptLimit]


def attempt_keys(
    what: str, account: str, address: str, by_account: AttemptLimit = ACCOUNT, by_address: AttemptLimit = ADDRESS
) -> AttemptKeys:
    """Return the keys by which an attempt is counted. Without an account it is counted by its address alone."""
    keys = {_key(what, "account", account): by_account} if account else {}
    return keys | {_key(what, "address", _network(address)): by_address} if address else keys


def count_attempt(transaction: Transaction, tenant: int, at: Moment, keys: AttemptKeys) -> None:
    """Count an attempt, or refuse it for now. A refused attempt is not counted, so that the wait ends."""
    rows = TenantRows(transaction, tenant, attempt_table)
    found = {row.key: row for row in rows.select(attempt_table.c.key.in_(list(keys)))}
    free_at = max((row.free_at for row in found.values()), default=0)
    if at < free_at:
        wait = -(-(free_at - at) // SECOND)
        raise ThrottledError("Too many attempts.", f"Try again in {wait:,} seconds.", wait=wait)
    for key, limit in keys.items():
        row = found.get(key)
        tries = 1 + (row.tries if row is not None and at - row.last_at < _RESET_AFTER else 0)
        values = {"tries": tries, "last_at": at, "free_at": at + limit.wait(tries)}
        if row is None:
            rows.insert(key=key, **values)
        else:
            rows.update(attempt_table.c.key == key, **values)


def record_success(transaction: Transaction, tenant: int, keys: AttemptKeys) -> None:
    """Reset the count of the account, and lower that of the address by one."""
    for key, limit in keys.items():
        tries = attempt_table.c.tries - 1 if limit is ADDRESS else 0
        rows = TenantRows(transaction, tenant, attempt_table)
        rows.update(attempt_table.c.key == key, tries=tries, free_at=0)


def delete_old(transaction: Transaction, at: Moment) -> int:
    """Delete attempts of all tenants that are too old to count."""
    old = attempt_table.delete().where(attempt_table.c.last_at < at - DAY)
    return transaction.connection.execute(old).rowcount


def _key(what: str, by: str, value: str) -> str:
    return f"{what} {by} {sha256(value.encode(errors='surrogatepass')).hexdigest()}"


def _network(address: str) -> str:
    """Return the /64 network of an IPv6 address, whose owner has all addresses in it; else the address."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(getattr(found, "ipv4_mapped", None) or found)
