"""Where runs of pipelines, their steps and logs are written down."""

from __future__ import annotations

import sqlalchemy as sa

from lakehold.kit.database import ExactText, IdType, metadata

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
    # By hand, by a trigger, after another run: in words.
    sa.Column("cause", sa.Text, nullable=False),
    sa.Column("started_by", ExactText, nullable=False),
    # As whom it runs, as JSON: also how narrow the token was that it was started with.
    sa.Column("caller", sa.Text, nullable=False),
    sa.Column("wanted", sa.Text, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("error", sa.Text, nullable=False),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("started_at", IdType),
    sa.Column("ended_at", IdType),
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
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("rows", IdType, nullable=False),
    sa.Column("size", IdType, nullable=False),
    # Rows that were kept aside.
    sa.Column("bad", IdType, nullable=False),
    sa.Column("told", sa.Text, nullable=False),
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
"""What they write, nobody else writes."""
ENDED = frozenset({SUCCEEDED, FAILED, STOPPED})

RunRow = sa.Row[tuple[object, ...]]
