"""Runs of the demo company's lakehouse, recorded as a worker would."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.runs.cause import RunCause
from lakehold.runs.run_table import run_log_table, run_step_table, run_table
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import MANUAL_CAUSE
from lakehold.web.runs import RUNS
from tests.web.demo import Shop

LAKE = "lake_house"
SQL = "SELECT customer, sum(amount) AS total FROM clean.orders GROUP BY customer"


def as_member(member: str) -> Caller:
    return Caller(company.TENANT, member)


def queue_run(shop: Shop, uid: str, *, member: str = "olga", cause: RunCause = MANUAL_CAUSE) -> str:
    """Queue a run."""
    with shop.platform.write(as_member(member)) as ctx:
        return RUNS.insert(ctx, uid, RunOptions(), cause=cause)


def record_run_state(
    shop: Shop,
    run: str,
    state: str,
    *,
    error: str = "",
    step: str = "",
    rows: int = 0,
    size: int = 0,
    bad: int = 0,
    said: Sequence[tuple[str, str]] = (),
) -> None:
    """Record the state of a run and of its one step, and lines of its log."""
    now = shop.platform.clock()
    with shop.platform.database.write() as transaction:
        connection = transaction.connection
        row = connection.execute(sa.select(run_table).where(run_table.c.id == run)).one()
        ended = now if state in {"succeeded", "failed", "stopped"} else None
        columns = {"state": state, "error": error, "started_at": row.made_at, "ended_at": ended}
        connection.execute(run_table.update().where(run_table.c.n == row.n).values(**columns))
        if step:
            c = run_step_table.c
            connection.execute(run_step_table.delete().where(c.run == row.n, c.number == 0))
            values = {"run": row.n, "number": 0, "tenant_id": row.tenant_id, "name": step, "state": state, "rows": rows}
            values |= {"size": size, "bad": bad, "saved_state": "{}", "begun": 1, "error": error}
            values |= {"started_at": row.made_at, "ended_at": ended}
            connection.execute(run_step_table.insert().values(**values))
        for level, text in said:
            line = {"tenant_id": row.tenant_id, "run": row.n, "step": 0, "at": now, "level": level, "text": text}
            connection.execute(run_log_table.insert().values(**line))


def state_of(shop: Shop, run: str) -> str:
    with shop.platform.read(as_member("olga")) as ctx:
        return RUNS.get(ctx, run).state
