"""Attempts are counted, and after a few each one has to wait, twice as long as the one before.

They are counted by account and by address, before the attempt is made: a hundred at the same moment are not a hundred
free ones. What is kept of an account is a hash of what was typed, which need not be an account at all.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

import sqlalchemy as sa

from lakehold.directory.errors import ThrottledError
from lakehold.kit.clock import DAY, SECOND, Moment
from lakehold.kit.database import ExactText, IdType, Transaction, metadata

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

_QUIET = 3_600 * SECOND
"""After an hour without an attempt the count begins again."""
_LONGEST = 900 * SECOND
_MOST_DOUBLINGS = 10


@dataclass(frozen=True, slots=True)
class Limit:
    """How many attempts are free. Many people may share an address, and one account has one owner."""

    free: int

    def wait(self, tries: int) -> Moment:
        """How long after this many attempts the next one has to wait."""
        if tries < self.free:
            return 0
        return min(SECOND << min(tries - self.free, _MOST_DOUBLINGS), _LONGEST)


ACCOUNT, ADDRESS = Limit(free=5), Limit(free=30)
ASKED, ASKED_FROM = Limit(free=3), Limit(free=20)
"""Mails that somebody asks for who is not signed in."""

Keys = Mapping[str, Limit]


def keys(what: str, account: str, address: str, *limits: Limit) -> Keys:
    """What an attempt of this sort is counted by. What names no account at all is counted by its address alone."""
    by_account, by_address = limits
    counted = {_key(what, "account", account): by_account} if account else {}
    return counted | {_key(what, "address", _network(address)): by_address} if address else counted


def count(transaction: Transaction, tenant: int, at: Moment, counted: Keys) -> None:
    """Count an attempt, or refuse it for now. What is refused is not counted: it must end."""
    found = _found(transaction, tenant, counted)
    free_at = max((row.free_at for row in found.values()), default=0)
    if at < free_at:
        wait = -(-(free_at - at) // SECOND)
        raise ThrottledError("Too many attempts.", f"Try again in {wait:,} seconds.", wait=wait)
    for key, limit in counted.items():
        row = found.get(key)
        tries = 1 + (row.tries if row is not None and at - row.last_at < _QUIET else 0)
        values = {"tries": tries, "last_at": at, "free_at": at + limit.wait(tries)}
        if row is None:
            statement: sa.Insert | sa.Update = attempt_table.insert().values(tenant_id=tenant, key=key, **values)
        else:
            statement = attempt_table.update().where(_is(tenant, key)).values(**values)
        transaction.connection.execute(statement)


def succeeded(transaction: Transaction, tenant: int, counted: Keys) -> None:
    """The attempt was right: the account begins anew, and the address has one less."""
    for key, limit in counted.items():
        tries = attempt_table.c.tries - 1 if limit is ADDRESS else 0
        transaction.connection.execute(attempt_table.update().where(_is(tenant, key)).values(tries=tries, free_at=0))


def forget(transaction: Transaction, at: Moment) -> int:
    """Drop what is too old to count. Of all tenants: it is about nobody any more."""
    old = attempt_table.delete().where(attempt_table.c.last_at < at - DAY)
    return transaction.connection.execute(old).rowcount


def _found(transaction: Transaction, tenant: int, counted: Keys) -> dict[str, sa.Row[tuple[object, ...]]]:
    c = attempt_table.c
    query = sa.select(attempt_table).where(c.tenant_id == tenant, c.key.in_(list(counted)))
    return {row.key: row for row in transaction.connection.execute(query)}


def _is(tenant: int, key: str) -> sa.ColumnElement[bool]:
    return sa.and_(attempt_table.c.tenant_id == tenant, attempt_table.c.key == key)


def _key(what: str, by: str, value: str) -> str:
    return f"{what} {by} {sha256(value.encode(errors='surrogatepass')).hexdigest()}"


def _network(address: str) -> str:
    """Whoever has one address of the new sort has all that begin alike."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(getattr(found, "ipv4_mapped", None) or found)
