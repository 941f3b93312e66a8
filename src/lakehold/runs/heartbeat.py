"""Heartbeats of workers: which workers are alive, and the thread that reports that this one is.

Each worker increments a counter in its row, from a thread of its own so that long work does not make it look dead.
A watching worker measures with its own clock how long a counter has stood still: the clocks of two machines are never
compared.
"""

import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread

import sqlalchemy as sa

from lakehold.directory.platform import Platform
from lakehold.kit.database import ExactText, IdType, Transaction, metadata
from lakehold.kit.errors import ConflictError, LakeholdError

# Of the installation, not of a tenant: a worker works for all of them.
worker_table = sa.Table(
    "worker",
    metadata,
    sa.Column("id", ExactText, primary_key=True),
    sa.Column("beat", IdType, nullable=False),
    # Where a server on the same machine can ask it something; empty if it answers nobody.
    sa.Column("address", ExactText, nullable=False, server_default=""),
)


def register_worker(transaction: Transaction, worker: str, address: str = "") -> None:
    """Add the row of a new worker."""
    transaction.connection.execute(worker_table.insert().values(id=worker, beat=0, address=address))


def worker_addresses(transaction: Transaction) -> list[str]:
    """Return the addresses at which workers answer, the longest-running worker first."""
    c = worker_table.c
    query = sa.select(c.address).where(c.address != "").order_by(c.beat.desc(), c.id)
    return list(transaction.connection.execute(query).scalars())


def record_heartbeat(transaction: Transaction, worker: str) -> bool:
    """Increment the counter of a worker; return False if its row is gone because another worker took over."""
    c = worker_table.c
    counted = worker_table.update().where(c.id == worker).values(beat=c.beat + 1)
    return transaction.connection.execute(counted).rowcount == 1


def remove_worker(transaction: Transaction, worker: str) -> None:
    """Delete the row of a worker, so that its work can be taken over at once."""
    transaction.connection.execute(worker_table.delete().where(worker_table.c.id == worker))


def heartbeat_counts(transaction: Transaction) -> dict[str, int]:
    """Return the heartbeat counter of every worker."""
    rows = transaction.connection.execute(sa.select(worker_table.c.id, worker_table.c.beat))
    return {row.id: row.beat for row in rows}


@dataclass(slots=True)
class HeartbeatMonitor:
    """Remembers when each counter last changed."""

    timeout: float
    """After how many seconds without a heartbeat a worker is dead."""
    clock: Callable[[], float] = time.monotonic
    _last_change: dict[str, tuple[int, float]] = field(default_factory=dict)

    def dead_workers(self, counts: dict[str, int]) -> set[str]:
        """Return the workers whose counter has not changed within the timeout."""
        at = self.clock()
        self._last_change = {
            worker: known if (known := self._last_change.get(worker)) and known[0] == count else (count, at)
            for worker, count in counts.items()
        }
        return {worker for worker, (_, moved) in self._last_change.items() if at - moved > self.timeout}


_log = logging.getLogger("lakehold.runs")
_HEARTBEATS_PER_TIMEOUT = 6
"""In the time after which a worker counts as dead, it has tried so many times to say that it is not."""
_EXIT_CODE_LOST = 75


def refuse_live_workers(platform: Platform, report: Callable[[str], object]) -> None:
    """Refuse if a worker is running. A row that a killed or copied one has left is no sign of life: a heartbeat is."""

    def counts() -> dict[str, int]:
        with platform.database.read() as transaction:
            return heartbeat_counts(transaction)

    first, end = counts(), time.monotonic() + platform.settings.worker_silence
    if first:
        report(f"Waiting up to {platform.settings.worker_silence} s to see whether a worker is running")
    while first and time.monotonic() < end:
        if counts() != first:
            raise ConflictError("A worker of this installation is running.", "Stop all servers and workers first.")
        time.sleep(0.2)


class HeartbeatThread:
    """Sends the heartbeat of this worker from `start` to `stop`."""

    def __init__(self, platform: Platform, worker: str, address: str = "") -> None:
        self.interval = platform.settings.worker_silence / _HEARTBEATS_PER_TIMEOUT
        self._platform = platform
        self._worker = worker
        self._address = address
        self._stop = Event()
        self._thread = Thread(target=self._send_heartbeats, daemon=True, name="heart")

    def start(self) -> None:
        """Register the worker and start the thread."""
        with self._platform.database.write() as transaction:
            register_worker(transaction, self._worker, self._address)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and remove the worker, so that its work can be taken over at once."""
        self._stop.set()
        self._thread.join()
        with self._platform.database.write() as transaction:
            remove_worker(transaction, self._worker)

    def _send_heartbeats(self) -> None:
        while not self._stop.wait(self.interval):
            try:
                with self._platform.database.write() as transaction:
                    alive = record_heartbeat(transaction, self._worker)
            except (LakeholdError, sa.exc.SQLAlchemyError) as error:
                _log.warning("worker %s could not write its heartbeat: %s", self._worker, type(error).__name__)
                continue
            if not alive:
                # Other workers have taken over its work: it must not write anything more.
                _log.error("worker %s was silent for too long, and others have taken over; it ends", self._worker)
                exit_process(_EXIT_CODE_LOST)


def exit_process(code: int) -> None:
    """Exit this process without waiting for its threads."""
    logging.shutdown()
    os._exit(code)
