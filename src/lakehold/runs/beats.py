"""Which workers are alive.

Each counts upwards in its row. Who watches sees that a number stands still, by a clock of their own: the clocks of two
machines are never compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.kit.database import ExactText, IdType, Transaction, metadata

# Of the installation, not of a tenant: a worker works for all of them.
worker_table = sa.Table(
    "worker",
    metadata,
    sa.Column("id", ExactText, primary_key=True),
    sa.Column("beat", IdType, nullable=False),
    # Where a server on the same machine can ask it something; empty if it answers nobody.
    sa.Column("address", ExactText, nullable=False, server_default=""),
)


def begin(transaction: Transaction, worker: str, address: str = "") -> None:
    """A worker that nobody has heard of yet."""
    transaction.connection.execute(worker_table.insert().values(id=worker, beat=0, address=address))


def addresses(transaction: Transaction) -> list[str]:
    """Where workers can be asked; the one that has worked longest first."""
    c = worker_table.c
    query = sa.select(c.address).where(c.address != "").order_by(c.beat.desc(), c.id)
    return list(transaction.connection.execute(query).scalars())


def beat(transaction: Transaction, worker: str) -> bool:
    """Count on. False if somebody thought this worker dead, and took over."""
    c = worker_table.c
    counted = worker_table.update().where(c.id == worker).values(beat=c.beat + 1)
    return transaction.connection.execute(counted).rowcount == 1


def end(transaction: Transaction, worker: str) -> None:
    """The worker is gone; what it left may be taken over at once."""
    transaction.connection.execute(worker_table.delete().where(worker_table.c.id == worker))


def counted(transaction: Transaction) -> dict[str, int]:
    """The count of every worker."""
    rows = transaction.connection.execute(sa.select(worker_table.c.id, worker_table.c.beat))
    return {row.id: row.beat for row in rows}


@dataclass(slots=True)
class Watch:
    """Remembers when each count last moved."""

    silence: float
    """After how many seconds without a beat a worker is dead."""
    clock: Callable[[], float] = time.monotonic
    _moved: dict[str, tuple[int, float]] = field(default_factory=dict)

    def dead(self, counts: dict[str, int]) -> set[str]:
        """Those whose count has stood still for too long."""
        at = self.clock()
        self._moved = {
            worker: known if (known := self._moved.get(worker)) and known[0] == count else (count, at)
            for worker, count in counts.items()
        }
        return {worker for worker, (_, moved) in self._moved.items() if at - moved > self.silence}
