"""The queue of runs: oldest first, limited per workspace, and one at a time for each table that is written.

Runs are claimed in one exclusive transaction, so that two workers never start runs that exclude each other.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from lakehold.kit.clock import Moment
from lakehold.kit.database import Transaction
from lakehold.runs import run_table as states
from lakehold.runs.run_table import run_output_table, run_table

QUEUE_LOCK = "runs"
"""The lock that a worker takes before it claims a run."""
_MAX_CANDIDATES = 100
"""Per workspace, so that a long queue in one of them does not starve the others."""


class ClaimedRun(NamedTuple):
    """A run that is to be executed, and the id of the workflow that executes this attempt of it."""

    number: int
    workflow: str


def claim_runs(transaction: Transaction, at: Moment, *, most: int, at_once: int) -> list[ClaimedRun]:
    """Start some runs and return them. The others wait, and their state says so."""
    rows = _candidates(transaction)
    outputs = _outputs(transaction, [row.n for row in rows])
    busy = [row for row in rows if row.state in states.BUSY]
    taken = {output for row in busy for output in outputs.get(row.n, ())}
    in_workspace = Counter((row.tenant_id, row.workspace_id) for row in busy)
    begun: list[ClaimedRun] = []
    for row in rows:
        if row.state in states.BUSY:
            continue
        where, writes = (row.tenant_id, row.workspace_id), outputs.get(row.n, set())
        waits = bool(writes & taken)
        if not waits and in_workspace[where] < at_once and len(begun) < most:
            in_workspace[where] += 1
            # From the random id: a workflow that is known by its id is not begun again.
            begun.append(ClaimedRun(row.n, f"{row.id}-{row.tries}"))
            _set_state(transaction, row.n, states.RUNNING, at)
        elif waits != (row.state == states.WAITING):
            _set_state(transaction, row.n, states.WAITING if waits else states.QUEUED)
        # Runs with the same output keep their order: one that waits holds back those behind it.
        taken |= writes
    return begun


def _candidates(transaction: Transaction) -> Sequence[sa.Row[Any]]:
    """Return the first queued runs of each workspace, and all running ones."""
    c = run_table.c
    place = sa.func.row_number().over(partition_by=(c.tenant_id, c.workspace_id), order_by=c.n).label("place")
    open_ = sa.select(c.n, c.id, c.tenant_id, c.workspace_id, c.state, c.tries, place).where(c.state.in_(states.OPEN))
    o = open_.subquery().c
    first = sa.select(*o).where(sa.or_(o.place <= _MAX_CANDIDATES, o.state.in_(states.BUSY))).order_by(o.n)
    return transaction.connection.execute(first).all()


def _outputs(transaction: Transaction, runs: list[int]) -> dict[int, set[tuple[int, int]]]:
    c = run_output_table.c
    found: dict[int, set[tuple[int, int]]] = {}
    for row in transaction.connection.execute(sa.select(run_output_table).where(c.run.in_(runs))):
        found.setdefault(row.run, set()).add((row.tenant_id, row.resource_id))
    return found


def _set_state(transaction: Transaction, number: int, state: str, at: Moment | None = None) -> None:
    values = {"state": state} if at is None else {"state": state, "started_at": at}
    transaction.connection.execute(run_table.update().where(run_table.c.n == number).values(**values))
