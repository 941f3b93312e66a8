"""The tamper-evident audit log: what was done, by whom, through what; also what was tried and denied.

Append-only and hash-chained: every entry carries the hash of the one before it, so that none can be altered, removed
or moved without breaking the chain. The head and the number of entries are sealed with a key that is not in the
database, so that the tail cannot be cut off either.

Entries are written at the very end of a transaction that holds the tenant's lock: nobody else appends meanwhile.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256

import sqlalchemy as sa

from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, TenantRows, Transaction, metadata
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.keys import KeyRing

audit_table = sa.Table(
    "audit",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("n", IdType, primary_key=True),
    sa.Column("at", IdType, nullable=False),
    sa.Column("member", ExactText, nullable=False),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("resource", ExactText, nullable=False),
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
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("entries", IdType, nullable=False),
    sa.Column("head", sa.Text, nullable=False),
    sa.Column("seal", sa.Text, nullable=False),
)

DONE, DENIED = "done", "denied"
_START = "0" * 64
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class AuditLogEntry:
    """One entry of the audit log. `before` and `after` hold what changed, never a secret."""

    at: Moment
    member: str
    """The id of the member who did it; empty for the installation itself."""
    action: str
    resource: str = ""
    outcome: str = DONE
    member_name: str = ""
    resource_name: str = ""
    kind: str = ""
    token: str = ""
    """The id of the API token, if one was used."""
    viewing_as: str = ""
    """The member whom the caller impersonated."""
    request: str = ""
    address: str = ""
    before: Mapping[str, object] = field(default_factory=dict)
    after: Mapping[str, object] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NumberedEntry:
    """An audit entry with its number and hash."""

    n: int
    entry: AuditLogEntry
    hash: str


@dataclass(frozen=True, slots=True)
class AuditVerification:
    """The result of verifying the whole chain."""

    entries: int
    head: str
    fault: str = ""
    """Empty if nothing was altered, removed, reordered or cut off."""


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Criteria for audit entries; a criterion that is None is ignored."""

    member: str | None = None
    resource: str | None = None
    action: str | None = None
    outcome: str | None = None
    since: Moment | None = None
    until: Moment | None = None

    def to_condition(self, tenant: int) -> sa.ColumnElement[bool]:
        """Return the filter as an SQL condition."""
        c = audit_table.c
        exact = {name: getattr(self, name) for name in ("member", "resource", "action", "outcome")}
        conditions = [c.tenant_id == tenant, *(c[name] == value for name, value in exact.items() if value is not None)]
        if self.since is not None:
            conditions.append(c.at >= self.since)
        if self.until is not None:
            conditions.append(c.at < self.until)
        return sa.and_(*conditions)


class AuditLog:
    """The audit log of one tenant. `tenant_uid` goes into the seal: no tenant's log can stand in for another's."""

    def __init__(self, transaction: Transaction, tenant: int, tenant_uid: str, keys: KeyRing) -> None:
        self._transaction = transaction
        self._tenant = tenant
        self._uid = tenant_uid
        self._keys = keys

    def append(self, entries: Sequence[AuditLogEntry]) -> None:
        """Append entries to the chain, and seal it. Requires the tenant's lock."""
        if not entries:
            return
        assert self._transaction.lock_name == self._uid  # noqa: S101 - two chains from one head would be a fault
        sealed = self._rows_of_seal().select().first()
        count, head = (sealed.entries, sealed.head) if sealed is not None else (0, _START)
        rows = []
        for n, entry in enumerate(entries, start=count + 1):
            body = _serialize(entry)
            head = _hash(head, self._tenant, n, body)
            indexed = {name: getattr(entry, name) for name in _COLUMNS}
            rows.append({"tenant_id": self._tenant, "n": n, **indexed, "body": body, "hash": head})
        self._transaction.connection.execute(audit_table.insert(), rows)
        self._seal(count + len(rows), head)

    def reseal(self) -> None:
        """Seal the chain with the newest key, if it verifies."""
        verdict = self.verify()
        if verdict.fault:
            raise InvalidInputError(f"The audit log does not verify: {verdict.fault}", "Find out why first.")
        if verdict.entries:
            self._seal(verdict.entries, verdict.head)

    def page(self, filters: AuditFilter, *, before: int | None = None, limit: int = 50) -> list[NumberedEntry]:
        """Return the newest entries first, from before a number on."""
        number = audit_table.c.n
        older = sa.true() if before is None else number < before
        query = sa.select(audit_table).where(filters.to_condition(self._tenant), older)
        found = self._transaction.connection.execute(query.order_by(number.desc()).limit(limit))
        return [NumberedEntry(row.n, AuditLogEntry(**json.loads(row.body)), row.hash) for row in found]

    def export(self, filters: AuditFilter, after: int = 0) -> Iterator[str]:
        """Yield the entries as JSON lines, oldest first, each with its number and hash; from behind a number on."""
        while True:
            query = (
                sa.select(audit_table)
                .where(filters.to_condition(self._tenant), audit_table.c.n > after)
                .order_by(audit_table.c.n)
                .limit(_AT_ONCE)
            )
            rows = self._transaction.connection.execute(query).mappings().all()
            for row in rows:
                yield json.dumps({"n": row["n"], **json.loads(row["body"]), "hash": row["hash"]}, ensure_ascii=False)
            if len(rows) < _AT_ONCE:
                return
            after = rows[-1]["n"]

    def verify(self) -> AuditVerification:
        """Verify the whole chain and its seal."""
        head, n = _START, 0
        c = audit_table.c
        query = sa.select(c.n, c.body, c.hash, *(c[name] for name in _COLUMNS)).where(c.tenant_id == self._tenant)
        # For this statement alone: as an option of the connection it would make cursors of all that follow.
        some = {"yield_per": _AT_ONCE}
        with self._transaction.connection.execute(query.order_by(c.n), execution_options=some) as found:
            for number, body, written, *columns in found:
                n += 1
                if number != n:
                    fault = f"Entry {n} is missing: entry {number} follows entry {n - 1}."
                    return AuditVerification(n - 1, head, fault)
                head = _hash(head, self._tenant, n, body)
                if head != written or _indexed_values(body) != columns:
                    return AuditVerification(n - 1, head, f"Entry {n} was altered or moved.")
        return AuditVerification(n, head, self._seal_fault(n, head))

    def _seal_fault(self, count: int, head: str) -> str:
        found = self._rows_of_seal().select().first()
        if found is None:
            return "The seal is missing." if count else ""
        if not self._keys.is_sealed(self._seal_payload(found.entries, found.head), found.seal):
            return "The seal was not made with this installation's key."
        if found.entries != count:
            return f"The seal covers {found.entries} entries, but there are {count}: entries were cut off or appended."
        return "" if found.head == head else f"The seal does not match entry {count}."

    def _rows_of_seal(self) -> TenantRows:
        return TenantRows(self._transaction, self._tenant, seal_table)

    def _seal(self, count: int, head: str) -> None:
        values = {"entries": count, "head": head, "seal": self._keys.seal(self._seal_payload(count, head))}
        if not self._rows_of_seal().update(**values):
            self._rows_of_seal().insert(**values)

    def _seal_payload(self, count: int, head: str) -> str:
        return json.dumps(["audit", self._uid, count, head])


_DEFAULTS: dict[str, object] = asdict(AuditLogEntry(0, "", ""))
_COLUMNS = ("at", "member", "action", "resource", "outcome")


def _indexed_values(body: str) -> list[object]:
    values = json.loads(body)
    return [values.get(name, _DEFAULTS[name]) for name in _COLUMNS]


def _serialize(entry: AuditLogEntry) -> str:
    """Serialise an entry for hashing; values that are the default are left out."""
    values = {name: value for name, value in asdict(entry).items() if value != _DEFAULTS[name] or name in _COLUMNS[:3]}
    return json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _hash(before: str, tenant: int, n: int, body: str) -> str:
    return sha256(f"{before}\n{tenant}\n{n}\n{body}".encode()).hexdigest()
