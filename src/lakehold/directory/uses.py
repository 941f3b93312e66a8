"""When a token or a sign-in was last used: remembered at once, written at most once a minute.

It is written in a transaction of its own, by whoever has time for it, so that no request has to write in order to read.
What is lost with the process is a moment that nobody has seen yet.
"""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

import sqlalchemy as sa

from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.database import Database
from lakehold.kit.errors import BusyError

_OFTEN = 60 * SECOND
_MOST = 10_000


class _Used(NamedTuple):
    table: sa.Table
    tenant: int
    id: str


class Uses:
    """Of one process. Threads share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: dict[_Used, Moment] = {}
        self._written: dict[_Used, Moment] = {}

    def note(self, table: sa.Table, row: sa.Row[tuple[object, ...]], at: Moment) -> None:
        """Remember that this row was used now."""
        used = _Used(table, row.tenant_id, row.id)
        if at - row.used_at < _OFTEN or at - self._written.get(used, 0) < _OFTEN:
            return
        with self._lock:
            self._waiting[used] = at

    def write(self, database: Database) -> int:
        """Write what waits, and tell how much it was. If another writes the same at this moment, that is enough."""
        with self._lock:
            waiting, self._waiting = self._waiting, {}
            if len(self._written) > _MOST:
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
