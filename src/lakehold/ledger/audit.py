"""The audit log: what was done, by whom, through what; also what was tried and denied.

Append-only and chained: every entry carries the hash of the one before it, so that none can be altered, removed or
put elsewhere without the next one telling. The head and the number of entries are sealed with a key that is not in
the database, so that a tail cannot be cut off either.

Entries are written at the very end of a transaction, in the tenant's turn: nobody else appends meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from hashlib import sha256

import sqlalchemy as sa

from lakehold.kit.clock import Moment
from lakehold.kit.database import Exact, Id, Transaction, metadata
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.keys import Keys

audit_table = sa.Table(
    "audit",
    metadata,
    sa.Column("tenant_id", Id, primary_key=True),
    sa.Column("n", Id, primary_key=True),
    sa.Column("at", Id, nullable=False),
    sa.Column("member", Exact, nullable=False),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("resource", Exact, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
)
sa.Index("audit_by_member", audit_table.c.tenant_id, audit_table.c.member, audit_table.c.n)
sa.Index("audit_by_resource", audit_table.c.tenant_id, audit_table.c.resource, audit_table.c.n)
sa.Index("audit_by_action", audit_table.c.tenant_id, audit_table.c.action, audit_table.c.n)
sa.Index("audit_by_time", audit_table.c.tenant_id, audit_table.c.at, audit_table.c.n)

seal_table = sa.Table(
    "audit_seal",
    metadata,
    sa.Column("tenant_id", Id, primary_key=True),
    sa.Column("entries", Id, nullable=False),
    sa.Column("head", sa.Text, nullable=False),
    sa.Column("seal", sa.Text, nullable=False),
)

DONE, DENIED = "done", "denied"
_START = "0" * 64
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the log. `before` and `after` hold what changed, never a secret."""

    at: Moment
    member: str
    """The id of who did it; empty for the installation itself."""
    action: str
    resource: str = ""
    outcome: str = DONE
    member_name: str = ""
    resource_name: str = ""
    kind: str = ""
    token: str = ""
    """The API token's id, if it was done through one."""
    viewing_as: str = ""
    """Whose eyes the member saw with."""
    request: str = ""
    address: str = ""
    before: Mapping[str, object] = field(default_factory=dict)
    after: Mapping[str, object] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Numbered:
    """An entry in its place."""

    n: int
    entry: Entry
    hash: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a look at the whole chain found."""

    entries: int
    head: str
    fault: str = ""
    """Empty if nothing was altered, removed, reordered or cut off."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which entries are wanted; what is None does not matter."""

    member: str | None = None
    resource: str | None = None
    action: str | None = None
    outcome: str | None = None
    since: Moment | None = None
    until: Moment | None = None

    def where(self, tenant: int) -> sa.ColumnElement[bool]:
        """The filter as SQL."""
        c = audit_table.c
        exact = {name: getattr(self, name) for name in ("member", "resource", "action", "outcome")}
        wanted = [c.tenant_id == tenant, *(c[name] == value for name, value in exact.items() if value is not None)]
        if self.since is not None:
            wanted.append(c.at >= self.since)
        if self.until is not None:
            wanted.append(c.at < self.until)
        return sa.and_(*wanted)


class Audit:
    """The log of one tenant. `tenant_uid` goes into the seal: no tenant's log can stand in for another's."""

    def __init__(self, transaction: Transaction, tenant: int, tenant_uid: str, keys: Keys) -> None:
        self._transaction = transaction
        self._tenant = tenant
        self._uid = tenant_uid
        self._keys = keys

    def append(self, entries: Sequence[Entry]) -> None:
        """Add to the end of the chain, and seal it. Only in the tenant's turn."""
        if not entries:
            return
        assert self._transaction.turn == self._uid  # noqa: S101 - two chains from one head would be a fault
        count, head = self._head()
        rows = []
        for n, entry in enumerate(entries, start=count + 1):
            body = _body(entry)
            head = _hash(head, self._tenant, n, body)
            rows.append(
                {
                    "tenant_id": self._tenant,
                    "n": n,
                    "at": entry.at,
                    "member": entry.member,
                    "action": entry.action,
                    "resource": entry.resource,
                    "outcome": entry.outcome,
                    "body": body,
                    "hash": head,
                }
            )
        self._transaction.connection.execute(audit_table.insert(), rows)
        self._seal(count + len(rows), head)

    def reseal(self) -> None:
        """Seal with the newest key. Only what verifies is sealed anew."""
        verdict = self.verify()
        if verdict.fault:
            raise InvalidInputError(f"The audit log does not verify: {verdict.fault}", "Find out why first.")
        if verdict.entries:
            self._seal(verdict.entries, verdict.head)

    def page(self, wanted: Filter, *, before: int | None = None, limit: int = 50) -> list[Numbered]:
        """The newest entries first, from before a number on."""
        query = sa.select(audit_table).where(wanted.where(self._tenant)).order_by(audit_table.c.n.desc()).limit(limit)
        if before is not None:
            query = query.where(audit_table.c.n < before)
        return [_numbered(row) for row in self._transaction.connection.execute(query).mappings()]

    def export(self, wanted: Filter, after: int = 0) -> Iterator[str]:
        """The entries as JSON lines, oldest first, each with its number and hash; from behind a number on."""
        while True:
            query = (
                sa.select(audit_table)
                .where(wanted.where(self._tenant), audit_table.c.n > after)
                .order_by(audit_table.c.n)
                .limit(_AT_ONCE)
            )
            rows = self._transaction.connection.execute(query).mappings().all()
            for row in rows:
                yield json.dumps({"n": row["n"], **json.loads(row["body"]), "hash": row["hash"]}, ensure_ascii=False)
            if len(rows) < _AT_ONCE:
                return
            after = rows[-1]["n"]

    def verify(self) -> Verdict:
        """Walk the whole chain."""
        head, n = _START, 0
        c = audit_table.c
        query = sa.select(c.n, c.body, c.hash, *(c[name] for name in _COLUMNS)).where(c.tenant_id == self._tenant)
        # For this statement alone: as an option of the connection it would make cursors of all that follow.
        some = {"yield_per": _AT_ONCE}
        with self._transaction.connection.execute(query.order_by(c.n), execution_options=some) as found:
            for number, body, written, *columns in found:
                n += 1
                if number != n:
                    return Verdict(n - 1, head, f"Entry {n} is missing: entry {number} follows entry {n - 1}.")
                head = _hash(head, self._tenant, n, body)
                if head != written or _columns(body) != columns:
                    return Verdict(n - 1, head, f"Entry {n} is not what was written, or stands in another's place.")
        return Verdict(n, head, self._seal_fault(n, head))

    def _seal_fault(self, count: int, head: str) -> str:
        found = self._sealed()
        if found is None:
            return "The seal is missing." if count else ""
        if not self._keys.is_sealed(self._sealed_text(found.entries, found.head), found.seal):
            return "The seal was not made with this installation's key."
        if found.entries != count:
            return f"The seal speaks of {found.entries} entries, and there are {count}: the tail was cut or added to."
        return "" if found.head == head else f"The seal speaks of another entry {count}."

    def _head(self) -> tuple[int, str]:
        found = self._sealed()
        return (found.entries, found.head) if found is not None else (0, _START)

    def _sealed(self) -> sa.Row[tuple[int, int, str, str]] | None:
        query = sa.select(seal_table).where(seal_table.c.tenant_id == self._tenant)
        return self._transaction.connection.execute(query).first()

    def _seal(self, count: int, head: str) -> None:
        values = {"entries": count, "head": head, "seal": self._keys.seal(self._sealed_text(count, head))}
        if self._sealed() is None:
            statement: sa.Insert | sa.Update = seal_table.insert().values(tenant_id=self._tenant, **values)
        else:
            statement = seal_table.update().where(seal_table.c.tenant_id == self._tenant).values(**values)
        self._transaction.connection.execute(statement)

    def _sealed_text(self, count: int, head: str) -> str:
        return json.dumps(["audit", self._uid, count, head])


_COLUMNS = ("at", "member", "action", "resource", "outcome")


def _columns(body: str) -> list[object]:
    said, defaults = json.loads(body), _defaults()
    return [said.get(name, defaults[name]) for name in _COLUMNS]


@lru_cache(maxsize=1)
def _defaults() -> dict[str, object]:
    return asdict(Entry(0, "", ""))


def _body(entry: Entry) -> str:
    """The entry as it is hashed: what says nothing is left out."""
    said = {name: value for name, value in asdict(entry).items() if value != _defaults()[name] or name in _COLUMNS[:3]}
    return json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _hash(before: str, tenant: int, n: int, body: str) -> str:
    return sha256(f"{before}\n{tenant}\n{n}\n{body}".encode()).hexdigest()


def _numbered(row: sa.RowMapping) -> Numbered:
    return Numbered(row["n"], Entry(**json.loads(row["body"])), row["hash"])
