"""Records who read what: collected in memory, and written to the audit log of reads in batches.

A read must not wait for the lock of those who write. What a process has not written yet is lost if it is killed: at
most what was read in the last seconds. If the log cannot be written, no more is read than a full buffer.
"""

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock

import sqlalchemy as sa

from lakehold.access import AccessEngine
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import audit_entry
from lakehold.kit.clock import Moment
from lakehold.kit.database import Database
from lakehold.kit.errors import BusyError, LakeholdError, UnavailableError
from lakehold.kit.keys import KeyRing
from lakehold.ledger.audit import READS, AuditLog

_log = logging.getLogger("lakehold.audit")
_MAX_WAITING, _BATCH = 1_000, 100
"""How many reads wait in memory at most, and how many are written while others wait for the lock."""
_MAX_TABLES = 1_000
"""Most tables of a query that its entry names; the others are counted."""


@dataclass(frozen=True, slots=True)
class DataRead:
    """A read: who did what with which resource, and what was read of it."""

    caller: Caller
    at: Moment
    action: str
    resource: str
    tables: Collection[str] = ()
    """The ids of the tables that were read, where they are others than the resource."""
    details: Mapping[str, object] = field(default_factory=dict)
    reason: str = ""
    """Why it failed, if it did."""

    def to_values(self) -> dict[str, object]:
        """Return what was read, as an audit entry keeps it."""
        named = sorted(self.tables)[:_MAX_TABLES]
        values: dict[str, object] = {"tables": named} if named else {}
        if len(self.tables) > len(named):
            values["more_tables"] = len(self.tables) - len(named)
        return {**values, **self.details}


class ReadRecorder:
    """Reads that this process has recorded and not written yet, shared by its threads."""

    def __init__(self, database: Database, access: AccessEngine, keys: Callable[[], KeyRing]) -> None:
        self._database = database
        self._access = access
        self._keys = keys
        self._lock = Lock()
        self._waiting: list[DataRead] = []

    def record(self, read: DataRead) -> None:
        """Record a read. Raise if so many wait that they must be written first, and cannot be."""
        with self._lock:
            self._waiting.append(read)
            full = len(self._waiting) >= _MAX_WAITING
        if full and not self.flush():
            raise UnavailableError("Reads cannot be written to the audit log.", "Try again; else tell your admin.")

    def flush(self) -> bool:
        """Write the recorded reads. False if the database did not take them all: they are kept for the next time."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        by_tenant: dict[str, list[DataRead]] = {}
        for read in waiting:
            by_tenant.setdefault(read.caller.tenant, []).append(read)
        batches = [
            (tenant, reads[start : start + _BATCH])
            for tenant, reads in by_tenant.items()
            for start in range(0, len(reads), _BATCH)
        ]
        left = [read for tenant, reads in batches if not self._write(tenant, reads) for read in reads]
        if left:
            with self._lock:
                self._waiting[:0] = left
        return not left

    def _write(self, tenant: str, reads: list[DataRead]) -> bool:
        try:
            with self._database.write(tenant) as transaction:
                session = self._access.session(transaction, tenant)
                view = session.current_view()
                AuditLog(transaction, session.tenant, tenant, self._keys(), READS).append(
                    [
                        replace(
                            audit_entry(read.caller, view, read.at, read.action, read.resource),
                            after=read.to_values(),
                            reason=read.reason,
                        )
                        for read in reads
                    ]
                )
        except (BusyError, sa.exc.SQLAlchemyError) as error:
            _log.warning("%s reads of %s were not written yet: %s", len(reads), tenant, type(error).__name__)
            return False
        except LakeholdError:
            _log.exception("%s reads of %s are lost", len(reads), tenant)
        return True
