"""The tables of runs, their steps, outputs and logs; and the totals that metrics are made from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND
from lakehold.kit.database import ExactText, IdType, Transaction, metadata
from lakehold.runs.cause import CauseKind, RunCause

run_table = sa.Table(
    "run",
    metadata,
    sa.Column("n", IdType, primary_key=True, autoincrement=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("id", ExactText, nullable=False),
    sa.Column("tenant", ExactText, nullable=False),
    # What is run.
    sa.Column("resource_id", IdType, nullable=False),
    sa.Column("workspace_id", IdType, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("started_by", ExactText, nullable=False),
    # As whom it runs, as JSON: also how narrow the token was that it was started with.
    sa.Column("caller", sa.Text, nullable=False),
    sa.Column("options", sa.Text, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("error", sa.Text, nullable=False),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("started_at", IdType),
    sa.Column("ended_at", IdType),
    # Why it was started: by whom or what, the run that it came after, or its schedule.
    sa.Column("cause_kind", sa.Text, nullable=False, server_default=CauseKind.MANUAL.value),
    sa.Column("cause_run", ExactText, nullable=False, server_default=""),
    sa.Column("cause_cron", sa.Text, nullable=False, server_default=""),
    sa.Column("cause_zone", sa.Text, nullable=False, server_default=""),
    # Numbers are in the names of folders and locks: that of a deleted run is not used again.
    sqlite_autoincrement=True,
)
sa.Index("run_by_id", run_table.c.tenant_id, run_table.c.id, unique=True)
sa.Index("run_by_state", run_table.c.state, run_table.c.n)
sa.Index("run_by_resource", run_table.c.tenant_id, run_table.c.resource_id, run_table.c.n)

# What it writes: of two runs that write the same table, one waits.
run_output_table = sa.Table(
    "run_output",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("run", IdType, primary_key=True),
    sa.Column("resource_id", IdType, primary_key=True),
)
sa.Index("run_output_by_resource", run_output_table.c.tenant_id, run_output_table.c.resource_id)

run_step_table = sa.Table(
    "run_step",
    metadata,
    sa.Column("run", IdType, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    # The step as it was planned when the run began; empty for runs of releases that planned each step anew.
    sa.Column("plan", sa.Text, nullable=False, server_default=""),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("rows", IdType, nullable=False),
    sa.Column("size", IdType, nullable=False),
    # Rows that were rejected.
    sa.Column("bad", IdType, nullable=False),
    sa.Column("saved_state", sa.Text, nullable=False),
    # How often it was begun: a step at which workers die is given up after some of them.
    sa.Column("begun", sa.Integer, nullable=False),
    sa.Column("error", sa.Text, nullable=False),
    sa.Column("started_at", IdType),
    sa.Column("ended_at", IdType),
)

run_log_table = sa.Table(
    "run_log",
    metadata,
    sa.Column("n", IdType, primary_key=True, autoincrement=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("run", IdType, nullable=False),
    sa.Column("step", sa.Integer, nullable=False),
    sa.Column("at", IdType, nullable=False),
    sa.Column("level", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
)
sa.Index("run_log_by_run", run_log_table.c.run, run_log_table.c.n)

QUEUED, WAITING, RUNNING, STOPPING = "queued", "waiting", "running", "stopping"
SUCCEEDED, FAILED, STOPPED = "succeeded", "failed", "stopped"
OPEN = frozenset({QUEUED, WAITING, RUNNING, STOPPING})
"""Neither ended, nor given up."""
BUSY = frozenset({RUNNING, STOPPING})
"""The states in which nobody else may write what the run writes."""
ENDED = frozenset({SUCCEEDED, FAILED, STOPPED})

STOPPED_MESSAGE = "It was stopped."

RunRow = sa.Row[tuple[object, ...]]


def load_run(platform: Platform, number: int) -> RunRow:
    """Return the row of a run."""
    with platform.database.read() as transaction:
        return transaction.connection.execute(sa.select(run_table).where(run_table.c.n == number)).one()


def load_step(platform: Platform, number: int, place: int) -> RunRow:
    """Return the row of a step of a run."""
    c = run_step_table.c
    query = sa.select(run_step_table).where(c.run == number, c.number == place)
    with platform.database.read() as transaction:
        return transaction.connection.execute(query).one()


def update_step(platform: Platform, number: int, place: int, **values: object) -> None:
    """Write values into the row of a step."""
    c = run_step_table.c
    update = run_step_table.update().where(c.run == number, c.number == place).values(**values)
    with platform.database.write() as transaction:
        transaction.connection.execute(update)


PRIVATE = "private"
"""The level of an error in a log that not all who see the run may read."""


def write_log(platform: Platform, row: RunRow, place: int, text: str, level: str) -> None:
    """Write a line to the log of a run."""
    line = {"tenant_id": row.tenant_id, "run": row.n, "step": place, "at": platform.clock()}
    with platform.database.write() as transaction:
        transaction.connection.execute(run_log_table.insert().values(**line, level=level, text=text))


def load_caller(row: RunRow) -> Caller:
    """Return the caller that a run or a job is executed as."""
    return Caller.from_stored(row.tenant, json.loads(row.caller), address="worker")


def load_cause(row: RunRow) -> RunCause:
    """Return why a run was started."""
    return RunCause(CauseKind(row.cause_kind), row.cause_run, row.cause_cron, row.cause_zone)


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """Totals of all runs of one kind in one state."""

    kind: str
    state: str
    count: int
    seconds: float
    rows: int
    bad: int


def run_metrics(transaction: Transaction) -> list[RunMetrics]:
    """Return the totals by kind and state over all tenants, without ids or names."""
    c, s = run_table.c, run_step_table.c
    by_run = sa.select(s.run, sa.func.sum(s.rows).label("rows"), sa.func.sum(s.bad).label("bad")).group_by(s.run)
    steps = by_run.subquery()
    totals = [sa.func.coalesce(sa.func.sum(each), 0) for each in (c.ended_at - c.started_at, steps.c.rows, steps.c.bad)]
    query = sa.select(c.kind, c.state, sa.func.count(), *totals).outerjoin(steps, steps.c.run == c.n)
    return [
        RunMetrics(kind, state, count, float(took) / SECOND, int(rows), int(bad))
        for kind, state, count, took, rows, bad in transaction.connection.execute(query.group_by(c.kind, c.state))
    ]


def last_run_state(ctx: RequestContext, uid: str) -> Mapping[str, object]:
    """Return the state that the first step of the last successful run left. The caller's access was checked before."""
    c, each = run_table.c, run_step_table.c
    query = (
        sa.select(each.saved_state)
        .join(run_table, c.n == each.run)
        .where(
            c.tenant_id == ctx.session.tenant,
            c.resource_id == ctx.view.resource(uid),
            c.state == SUCCEEDED,
            each.number == 0,
        )
        .order_by(c.n.desc())
        .limit(1)
    )
    found = ctx.session.transaction.connection.execute(query).scalar()
    state: Mapping[str, object] = json.loads(found or "{}")
    return state
