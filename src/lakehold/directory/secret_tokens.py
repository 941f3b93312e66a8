"""Secrets that are shown once (API tokens, sign-ins, links, invites, live destinations, codes of gateways), stored as
hashes only.

`lh_4fK0aQx9Zb_…`: a prefix that people and secret scanners recognise; an id, which is no secret and names it in
lists and in the audit log; random characters; and a checksum, so that a typing error is found without the database.

The row of a secret is found by one query inside the transaction of the request, the one place where the tenant is not
known beforehand: what was revoked, has expired, or belongs to a removed member, is gone for the very next request.
"""

import hmac
import re
import secrets
import string
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from typing import Any
from zlib import crc32

import sqlalchemy as sa

# past the access filter: the tenant and the member are known by the secret of the token, and found here
from lakehold.access.facts.tables import resource
from lakehold.access.model.policy import MEMBER
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.database import ExactText, IdType, Transaction, metadata

TOKEN, SIGN_IN, LINK, INVITE, LIVE, GATEWAY = "lh_", "lhs_", "lhl_", "lhi_", "lhp_", "lhg_"

_LETTERS = string.digits + string.ascii_letters
_ID, _RANDOM, _CHECK = 10, 32, 6
_PATTERN = re.compile(
    rf"(lh[slipg]?_)([0-9A-Za-z]{{{_ID}}})_([0-9A-Za-z]{{{_RANDOM}}})([0-9A-Za-z]{{{_CHECK}}})", re.ASCII
)


@dataclass(frozen=True, slots=True)
class NewSecret:
    """A new secret. The text is for its owner, the hash for the database."""

    id: str
    hash: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class PresentedSecret:
    """A secret that a client presents: looked up by its id, compared by its hash."""

    id: str
    hash: str

    def matches(self, stored_hash: str) -> bool:
        """Whether this is the secret with the stored hash."""
        return hmac.compare_digest(self.hash, stored_hash)


def generate(prefix: str, id_: str = "") -> NewSecret:
    """Generate a secret; with an id, as the replacement of the one that had it."""
    id_, random = id_ or _random_text(_ID), _random_text(_RANDOM)
    text = f"{prefix}{id_}_{random}{_checksum(f'{prefix}{id_}_{random}')}"
    return NewSecret(id_, _hash(text), text)


def parse(prefix: str, text: str) -> PresentedSecret | None:
    """Parse a presented secret; None if it cannot be one with this prefix."""
    found = _PATTERN.fullmatch(text)
    if found is None or found[1] != prefix or _checksum(text[:-_CHECK]) != found[4]:
        return None
    return PresentedSecret(found[2], _hash(text))


def _random_text(length: int) -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


def _checksum(text: str) -> str:
    rest, letters = crc32(text.encode()), ""
    for _ in range(_CHECK):
        rest, letter = divmod(rest, len(_LETTERS))
        letters += _LETTERS[letter]
    return letters


def _hash(text: str) -> str:
    # 190 random bits cannot be guessed at, so nothing slower than this is needed.
    return sha256(text.encode()).hexdigest()


SecretRow = sa.Row[tuple[object, ...]]


def secret_table(name: str, *columns: sa.Column[Any]) -> sa.Table:
    """Return a table of secrets, each with its tenant and its time, and with columns of its own."""
    return sa.Table(
        name,
        metadata,
        sa.Column("id", ExactText, primary_key=True),
        sa.Column("tenant_id", IdType, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("made_at", IdType, nullable=False),
        sa.Column("until", IdType, nullable=False),
        *columns,
    )


def insert(ctx: RequestContext, table: sa.Table, fresh: NewSecret, until: Moment, **columns: object) -> None:
    """Store a new secret by its hash, made now, with the columns that its table has of its own."""
    ctx.rows(table).insert(id=fresh.id, hash=fresh.hash, made_at=ctx.at, until=until, **columns)


def find_row(transaction: Transaction, table: sa.Table, prefix: str, secret: str, at: Moment) -> SecretRow | None:
    """Return the row of a secret, with the ids of its tenant and member; None if it is not valid (any more)."""
    presented = parse(prefix, secret)
    if presented is None:
        return None
    found = transaction.connection.execute(_query(table), {"secret_id": presented.id, "at": at}).first()
    return found if found is not None and presented.matches(found.hash) else None


@cache
def _query(table: sa.Table) -> sa.Select[tuple[object, ...]]:
    """Build the query once, because building takes longer than running it."""
    member, tenant = resource.alias("m"), resource.alias("t")
    query = (
        sa.select(table, tenant.c.uid.label("tenant"))
        .join(tenant, tenant.c.id == table.c.tenant_id)
        .where(table.c.id == sa.bindparam("secret_id"), table.c.until > sa.bindparam("at"))
    )
    if "member_id" not in table.c:
        return query
    same = (member.c.id == table.c.member_id) & (member.c.tenant_id == table.c.tenant_id)
    there = (member.c.until == FOREVER) & (member.c.kind == MEMBER)
    return query.add_columns(member.c.uid.label("member")).join(member, same).where(there)
