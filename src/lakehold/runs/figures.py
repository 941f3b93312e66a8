"""How many runs there are, how long they took and how much they moved: for whoever watches the installation."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from lakehold.kit.clock import SECOND
from lakehold.kit.database import Transaction
from lakehold.runs.run_table import run_step_table, run_table


@dataclass(frozen=True, slots=True)
class Figures:
    """Of all runs of one kind in one state."""

    kind: str
    state: str
    count: int
    seconds: float
    rows: int
    bad: int


def figures(transaction: Transaction) -> list[Figures]:
    """By kind and state, of all tenants. No ids, no names."""
    c, s = run_table.c, run_step_table.c
    seconds = sa.func.coalesce(sa.func.sum(c.ended_at - c.started_at), 0)
    of_runs = sa.select(c.kind, c.state, sa.func.count(), seconds).group_by(c.kind, c.state)
    of_steps = (
        sa.select(c.kind, c.state, sa.func.sum(s.rows), sa.func.sum(s.bad))
        .join(run_step_table, s.run == c.n)
        .group_by(c.kind, c.state)
    )
    moved = {
        (kind, state): (int(rows), int(bad)) for kind, state, rows, bad in transaction.connection.execute(of_steps)
    }
    return [
        Figures(kind, state, count, float(took) / SECOND, *moved.get((kind, state), (0, 0)))
        for kind, state, count, took in transaction.connection.execute(of_runs)
    ]
