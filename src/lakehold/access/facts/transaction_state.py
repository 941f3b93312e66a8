"""The state of an open transaction: its own changes on top of the committed facts, and the rows that it locks.

A transaction decides by what it saw when it began, so what would not be true any more once another one commits has to
be refused to one of them: the database finds that out by the rows of `resource`. SQLite has one writer at a time, and
nothing to lock.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.access.facts.changes import RowChange
from lakehold.access.facts.tables import resource
from lakehold.access.facts.view import FactRow, FactView
from lakehold.kit.database import Transaction


@dataclass(slots=True)
class RowLocks:
    """The rows of `resource` that one transaction relies on until it ends."""

    transaction: Transaction
    _shared: set[int] = field(default_factory=set)
    _exclusive: set[int] = field(default_factory=set)

    def add_new(self, number: int) -> None:
        """Register a new resource, which no other transaction knows of yet."""
        self._shared.add(number)
        self._exclusive.add(number)

    def lock_shared(self, numbers: Iterable[int]) -> None:
        """Lock resources that must still exist when this transaction commits. The lock is shared."""
        new = {number for number in numbers if number} - self._shared
        if new and self._has_concurrent_writers:
            query = sa.select(resource.c.id).where(resource.c.id.in_(new)).order_by(resource.c.id)
            self.transaction.connection.execute(query.with_for_update(key_share=True, read=True))
        self._shared |= new

    def lock_for_update(self, number: int) -> None:
        """Lock a resource of which a single-valued fact is changed. One transaction at a time may hold this lock."""
        if number not in self._exclusive and self._has_concurrent_writers:
            same = resource.update().where(resource.c.id == number).values(workspace_id=resource.c.workspace_id)
            self.transaction.connection.execute(same)
        self._exclusive.add(number)

    def lock_for_delete(self, number: int) -> None:
        """Lock a resource that is deleted. No other transaction may rely on it at this moment."""
        if self._has_concurrent_writers:
            query = sa.select(resource.c.id).where(resource.c.id == number)
            self.transaction.connection.execute(query.with_for_update(nowait=True))

    @property
    def _has_concurrent_writers(self) -> bool:
        return self.transaction.dialect == "postgresql"


class Overlay:
    """The view of a transaction: its own changes on top of a base view, which may be another one each time."""

    def __init__(self, base: Callable[[], FactView]) -> None:
        self._base = base
        self.changes: list[RowChange] = []
        self._view: FactView | None = None
        self._base_version: tuple[FactView, int] | None = None
        self._applied = 0

    def open(self, row: FactRow) -> None:
        """Let the fact hold in this transaction."""
        self.changes.append((True, row))

    def close(self, row: FactRow) -> None:
        """Let the fact no longer hold in this transaction."""
        self.changes.append((False, row))

    def forget(self) -> None:
        """Drop all changes so far: the base view contains them from now on."""
        self.changes.clear()
        self._view, self._applied = None, 0

    @property
    def view(self) -> FactView:
        """The facts as this transaction sees them now."""
        base = self._base()
        if not self.changes:
            return base
        if self._view is None or self._base_version != (base, base.version):
            self._view, self._base_version, self._applied = FactView(base.policy, base), (base, base.version), 0
        if self._applied < len(self.changes):
            for opens, row in self.changes[self._applied :]:
                (self._view.open if opens else self._view.close)(row)
            self._applied = len(self.changes)
            self._view.touch()
        return self._view
