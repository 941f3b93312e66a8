"""Tracks when tokens and sign-ins were last used, and writes it at most once a minute.

It is written in a transaction of its own, so that no request has to write in order to read. What is lost with the
process is a time that nobody has seen yet.
"""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

import sqlalchemy as sa

from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.database import Database
from lakehold.kit.errors import BusyError

_INTERVAL = 60 * SECOND
_MAX_REMEMBERED = 10_000


class _UsedRow(NamedTuple):
    table: sa.Table
    tenant: int
    id: str


class LastUsedTracker:
    """Collects the last uses of one process, shared by its threads."""

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
