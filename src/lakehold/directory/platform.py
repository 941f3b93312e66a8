"""The assembled application services, and the transactions in which callers act."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import NamedTuple

import sqlalchemy as sa

from lakehold.access import AccessEngine
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.read_recorder import DataRead, ReadRecorder
from lakehold.directory.request_context import RequestContext, audit_entry
from lakehold.kit.clock import SECOND, Clock, Moment, now
from lakehold.kit.database import Database
from lakehold.kit.errors import BusyError
from lakehold.kit.keys import KeyRing, load_keys
from lakehold.kit.settings import Settings
from lakehold.kit.slots import Slots
from lakehold.ledger.anchor import AuditAnchors
from lakehold.ledger.audit import DENIED, AuditLog
from lakehold.workspaces import registry

_INTERVAL = 60 * SECOND
_WORKER_CALLS = 100
_TABLE_READS, _TABLE_READS_EACH = 24, 6
_MAX_REMEMBERED = 10_000


class _UsedRow(NamedTuple):
    table: sa.Table
    tenant: int
    id: str


class LastUsedTracker:
    """Collects when tokens and sign-ins were last used, shared by the threads of a process.

    It is written at most once a minute, in a transaction of its own, so that no request has to write in order to read.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: dict[_UsedRow, Moment] = {}
        self._written: dict[_UsedRow, Moment] = {}

    def record(self, table: sa.Table, row: sa.Row[tuple[object, ...]], at: Moment) -> None:
        """Record that this row was used now."""
        used = _UsedRow(table, row.tenant_id, row.id)
        if at - row.used_at < _INTERVAL or at - self._written.get(used, 0) < _INTERVAL:
            return
        with self._lock:
            self._waiting[used] = at

    def flush(self, database: Database) -> int:
        """Write the recorded uses and return their number. A concurrent write by another process is enough."""
        with self._lock:
            waiting, self._waiting = self._waiting, {}
            if len(self._written) > _MAX_REMEMBERED:
                self._written.clear()
            self._written |= waiting
        if not waiting:
            return 0
        try:
            with database.write("uses") as transaction:
                for (table, tenant, id_), at in waiting.items():
                    c = table.c
                    here = sa.and_(c.tenant_id == tenant, c.id == id_, c.used_at < at)
                    transaction.connection.execute(table.update().where(here).values(used_at=at))
        except BusyError:
            return 0
        return len(waiting)


class Platform:
    """Settings, keys, database and access engine, shared by all requests of a process."""

    def __init__(self, settings: Settings, clock: Clock = now) -> None:
        self.settings = settings
        self.clock = clock
        # What is kept there is nobody else's on this machine.
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.database = Database(settings.database_url)
        self.access = AccessEngine(self.database, clock, registry.unique_names())
        self.last_used = LastUsedTracker()
        # What holds a thread of this process for long: it waits for a worker, or reads files itself.
        self.worker_calls = Slots("queries or tests", _WORKER_CALLS, settings.queries_at_once)
        self.table_reads = Slots("table reads", _TABLE_READS, _TABLE_READS_EACH)
        self.reads = ReadRecorder(self.database, self.access, lambda: self.keys)

    @property
    def slow_threads(self) -> int:
        """The number of threads that slow work can hold at once, beside those that everything else has."""
        return self.worker_calls.total + self.table_reads.total

    @cached_property
    def keys(self) -> KeyRing:
        """The encryption and signing keys."""
        return load_keys(self.settings.key.get_secret_value(), self.settings.data / "key")

    @contextmanager
    def read(self, caller: Caller) -> Iterator[RequestContext]:
        """Open a read-only transaction for a caller."""
        with self._auditing_denials(caller), self.database.read() as transaction:
            yield RequestContext(self.access.session(transaction, caller.tenant), caller, self.keys)

    @contextmanager
    def write(self, caller: Caller) -> Iterator[RequestContext]:
        """Open a transaction that is committed at the end, one at a time in a tenant: its audit log is one chain."""
        with self._auditing_denials(caller), self.database.write(caller.tenant) as transaction:
            yield RequestContext(self.access.session(transaction, caller.tenant), caller, self.keys)

    @cached_property
    def anchors(self) -> AuditAnchors:
        """The heads of the audit logs, outside of the database."""
        return AuditAnchors(self.settings.data / "audit-anchors", self.keys)

    def record_read(
        self,
        caller: Caller,
        action: str,
        resource: str,
        *,
        tables: Collection[str] = (),
        reason: str = "",
        **details: object,
    ) -> None:
        """Record that the caller reads data of a resource, or tables that a query names."""
        if self.settings.read_log_days:
            self.reads.record(DataRead(caller, self.clock(), action, resource, tables, details, reason))

    def close(self) -> None:
        """Write what is recorded, and close all database connections."""
        self.reads.flush()
        self.database.close()

    @contextmanager
    def _auditing_denials(self, caller: Caller) -> Iterator[None]:
        try:
            yield
        except (DeniedError, HiddenError) as error:
            self.audit_denial(caller, error)
            raise

    def audit_denial(self, caller: Caller, error: DeniedError | HiddenError) -> None:
        """Audit a denied attempt, in a transaction of its own because that of the attempt is rolled back."""
        self.audit_refusal(caller, error.action, error.resource, error.message)

    def audit_refusal(self, caller: Caller, action: str, resource: str, reason: str) -> None:
        """Audit an attempt that was refused by another rule than access, in a transaction of its own."""
        with self.database.write(caller.tenant) as transaction:
            session = self.access.session(transaction, caller.tenant)
            entry = audit_entry(caller, session.current_view(), session.at, action, resource)
            AuditLog(transaction, session.tenant, caller.tenant, self.keys).append(
                [replace(entry, outcome=DENIED, reason=reason)]
            )
