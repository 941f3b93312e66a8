"""The tamper-evident audit log: what was done, by whom, through what; what was tried and denied; and who read what.

Append-only and hash-chained: every entry carries the hash of the one before it, so that none can be altered, removed
or moved without breaking the chain. The head and the number of entries are sealed with a key that is not in the
database, so that the tail cannot be cut off either.

Changes and reads are two chains. Reads are many, and are forgotten after a time: the oldest are deleted, and the hash
of the last deleted one, from which the chain then begins, is sealed too.

Entries are written at the very end of a transaction that holds the tenant's lock: nobody else appends meanwhile.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256

import sqlalchemy as sa

from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, TenantRows, Transaction, metadata
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.keys import KeyRing


def _entries_table(name: str) -> sa.Table:
    table = sa.Table(
        name,
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
    for index, column in (("member", "member"), ("resource", "resource"), ("action", "action"), ("time", "at")):
        sa.Index(f"{name}_by_{index}", table.c.tenant_id, table.c[column], table.c.n)
    return table


audit_table, read_table = _entries_table("audit"), _entries_table("audit_read")

seal_table = sa.Table(
    "audit_seal",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("entries", IdType, nullable=False),
    sa.Column("head", sa.Text, nullable=False),
    sa.Column("seal", sa.Text, nullable=False),
)
read_seal_table = sa.Table(
    "audit_read_seal",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    # What was written in all, and of that the oldest that were forgotten, with the hash of the last of them.
    sa.Column("entries", IdType, nullable=False),
    sa.Column("head", sa.Text, nullable=False),
    sa.Column("forgotten", IdType, nullable=False),
    sa.Column("base", sa.Text, nullable=False),
    sa.Column("seal", sa.Text, nullable=False),
)


@dataclass(frozen=True, slots=True)
class AuditChain:
    """One of the chains of a tenant, with its tables. Its name goes into the seal."""

    name: str
    entries: sa.Table
    seals: sa.Table


CHANGES, READS = AuditChain("audit", audit_table, seal_table), AuditChain("reads", read_table, read_seal_table)
DONE, DENIED = "done", "denied"
_START = "0" * 64
_AT_ONCE = 1_000
_FOREIGN_SEAL = "The seal was not made with this installation's key."


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
    anchored: int = 0
    """Up to which entry the anchor outside the database confirms it; 0 without one."""
    anchored_at: Moment = 0


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Criteria for audit entries; a criterion that is None is ignored."""

    member: str | None = None
    resource: str | None = None
    action: str | None = None
    outcome: str | None = None
    since: Moment | None = None
    until: Moment | None = None

    def to_condition(self, tenant: int, chain: AuditChain = CHANGES) -> sa.ColumnElement[bool]:
        """Return the filter as an SQL condition. A read is also of every table that its query read."""
        c = chain.entries.c
        exact = {name: getattr(self, name) for name in ("member", "action", "outcome")}
        conditions = [c.tenant_id == tenant, *(c[name] == value for name, value in exact.items() if value is not None)]
        if self.resource is not None:
            is_of = c.resource == self.resource
            quoted = json.dumps(self.resource, ensure_ascii=False)
            conditions.append(is_of | c.body.contains(quoted, autoescape=True) if chain is READS else is_of)
        if self.since is not None:
            conditions.append(c.at >= self.since)
        if self.until is not None:
            conditions.append(c.at < self.until)
        return sa.and_(*conditions)


@dataclass(frozen=True, slots=True)
class ChainSeal:
    """The state of a chain that its seal confirms."""

    entries: int = 0
    """How many were ever written: the number of the last one."""
    head: str = _START
    """The hash of the last one."""
    forgotten: int = 0
    """How many of the oldest were deleted after their time."""
    base: str = _START
    """The hash of the last deleted one."""
    seal: str = ""

    def payload(self, chain: str, tenant_uid: str) -> str:
        """Return the text that is signed."""
        begins = [self.forgotten, self.base] if self.forgotten else []
        return json.dumps([chain, tenant_uid, self.entries, self.head, *begins])


class AuditLog:
    """A chain of one tenant. `tenant_uid` goes into the seal: no tenant's log can stand in for another's."""

    def __init__(
        self, transaction: Transaction, tenant: int, tenant_uid: str, keys: KeyRing, chain: AuditChain = CHANGES
    ) -> None:
        self.chain = chain
        self.tenant = tenant
        self.tenant_uid = tenant_uid
        self._transaction = transaction
        self._keys = keys
        self._table = chain.entries

    def append(self, entries: Sequence[AuditLogEntry]) -> None:
        """Append entries to the chain, and seal it. Requires the tenant's lock."""
        if not entries:
            return
        assert self._transaction.lock_name == self.tenant_uid  # noqa: S101 - two chains from one head would be a fault
        sealed = self.load_seal() or ChainSeal()
        head, rows = sealed.head, []
        for n, entry in enumerate(entries, start=sealed.entries + 1):
            body = _serialize(entry)
            head = _hash(head, self.tenant, n, body)
            indexed = {name: getattr(entry, name) for name in _COLUMNS}
            rows.append({"tenant_id": self.tenant, "n": n, **indexed, "body": body, "hash": head})
        self._transaction.connection.execute(self._table.insert(), rows)
        self._save_seal(replace(sealed, entries=sealed.entries + len(rows), head=head))

    def reseal(self) -> None:
        """Seal the chain with the newest key, if it verifies."""
        verdict = self.verify()
        if verdict.fault:
            raise InvalidInputError(f"The audit log does not verify: {verdict.fault}", "Find out why first.")
        sealed = self.load_seal()
        if sealed is not None:
            self._save_seal(sealed)

    def forget(self, before: Moment) -> int:
        """Delete the oldest entries, from before a moment; return how many. The chain then begins behind them."""
        c = self._table.c
        sealed = self.load_seal()
        if sealed is None:
            return 0
        first = sa.select(sa.func.min(c.n)).where(c.tenant_id == self.tenant, c.at >= before)
        kept_from = self._transaction.connection.execute(first).scalar() or sealed.entries + 1
        base = self.hash_of(kept_from - 1)
        if base is None:
            return 0
        old = self._table.delete().where(c.tenant_id == self.tenant, c.n < kept_from)
        count = self._transaction.connection.execute(old).rowcount
        self._save_seal(replace(sealed, forgotten=kept_from - 1, base=base))
        return count

    def page(self, filters: AuditFilter, *, before: int | None = None, limit: int = 50) -> list[NumberedEntry]:
        """Return the newest entries first, from before a number on."""
        number = self._table.c.n
        older = sa.true() if before is None else number < before
        query = sa.select(self._table).where(filters.to_condition(self.tenant, self.chain), older)
        found = self._transaction.connection.execute(query.order_by(number.desc()).limit(limit))
        return [NumberedEntry(row.n, AuditLogEntry(**json.loads(row.body)), row.hash) for row in found]

    def export(self, filters: AuditFilter, after: int = 0) -> Iterator[str]:
        """Yield the entries as JSON lines, oldest first, each with its number and hash; from behind a number on."""
        while True:
            query = (
                sa.select(self._table)
                .where(filters.to_condition(self.tenant, self.chain), self._table.c.n > after)
                .order_by(self._table.c.n)
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
        sealed = self.load_seal()
        if sealed is not None and sealed.forgotten and not self.is_genuine(sealed):
            return AuditVerification(0, _START, _FOREIGN_SEAL)
        head, n = (sealed.base, sealed.forgotten) if sealed is not None else (_START, 0)
        c = self._table.c
        query = sa.select(c.n, c.body, c.hash, *(c[name] for name in _COLUMNS)).where(c.tenant_id == self.tenant)
        # For this statement alone: as an option of the connection it would make cursors of all that follow.
        some = {"yield_per": _AT_ONCE}
        with self._transaction.connection.execute(query.order_by(c.n), execution_options=some) as found:
            for number, body, written, *columns in found:
                n += 1
                if number != n:
                    fault = f"Entry {n} is missing: entry {number} follows entry {n - 1}."
                    return AuditVerification(n - 1, head, fault)
                head = _hash(head, self.tenant, n, body)
                if head != written or _indexed_values(body) != columns:
                    return AuditVerification(n - 1, head, f"Entry {n} was altered or moved.")
        return AuditVerification(n, head, self._seal_fault(sealed, n, head))

    def hash_of(self, n: int) -> str | None:
        """Return the hash of an entry, also of the last forgotten one; None if there is no such entry."""
        sealed = self.load_seal()
        if sealed is not None and n == sealed.forgotten:
            return sealed.base
        c = self._table.c
        found = sa.select(c.hash).where(c.tenant_id == self.tenant, c.n == n)
        return self._transaction.connection.execute(found).scalar()

    def load_seal(self) -> ChainSeal | None:
        """Return what the seal says, whether it is genuine or not; None if there is none."""
        row = self._rows_of_seal().select().mappings().first()
        return None if row is None else ChainSeal(**{name: row[name] for name in row if name != "tenant_id"})

    def _seal_fault(self, sealed: ChainSeal | None, count: int, head: str) -> str:
        if sealed is None:
            return "The seal is missing." if count else ""
        if not self.is_genuine(sealed):
            return _FOREIGN_SEAL
        if sealed.entries != count:
            covered = f"The seal covers {sealed.entries} entries, but there are {count}"
            return f"{covered}: entries were cut off or appended."
        return "" if sealed.head == head else f"The seal does not match entry {count}."

    def is_genuine(self, sealed: ChainSeal) -> bool:
        """Return whether a seal was made with this installation's key."""
        return self._keys.is_sealed(sealed.payload(self.chain.name, self.tenant_uid), sealed.seal)

    def _rows_of_seal(self) -> TenantRows:
        return TenantRows(self._transaction, self.tenant, self.chain.seals)

    def _save_seal(self, sealed: ChainSeal) -> None:
        signed = replace(sealed, seal=self._keys.seal(sealed.payload(self.chain.name, self.tenant_uid)))
        values = {name: value for name, value in asdict(signed).items() if name in self.chain.seals.c}
        if not self._rows_of_seal().update(**values):
            self._rows_of_seal().insert(**values)


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
