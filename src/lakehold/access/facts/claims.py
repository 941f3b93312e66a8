"""Two writers at once. A transaction decides by what it saw when it began, so what would not be true any more once
another one commits has to be refused to one of them: the database finds that out by the rows of `resource`.

SQLite has one writer at a time, and nothing to find out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.access.facts.tables import resource
from lakehold.kit.database import Transaction


@dataclass(slots=True)
class Claims:
    """What one transaction relies on until it ends."""

    transaction: Transaction
    _kept: set[int] = field(default_factory=set)
    _changed: set[int] = field(default_factory=set)

    def made(self, number: int) -> None:
        """A resource that nobody else knows of yet."""
        self._kept.add(number)
        self._changed.add(number)

    def keep(self, numbers: Iterable[int]) -> None:
        """These resources have to be there still when this transaction commits. Many may rely on that."""
        new = {number for number in numbers if number} - self._kept
        if new and self._many_write:
            query = sa.select(resource.c.id).where(resource.c.id.in_(new)).order_by(resource.c.id)
            self.transaction.connection.execute(query.with_for_update(key_share=True, read=True))
        self._kept |= new

    def change(self, number: int) -> None:
        """Something of which this resource has only one is changed. One transaction at a time may do so."""
        if number not in self._changed and self._many_write:
            same = resource.update().where(resource.c.id == number).values(workspace_id=resource.c.workspace_id)
            self.transaction.connection.execute(same)
        self._changed.add(number)

    def end(self, number: int) -> None:
        """The resource comes to its end. Nobody else may rely on it at this moment."""
        if self._many_write:
            query = sa.select(resource.c.id).where(resource.c.id == number)
            self.transaction.connection.execute(query.with_for_update(nowait=True))

    @property
    def _many_write(self) -> bool:
        return self.transaction.dialect == "postgresql"
