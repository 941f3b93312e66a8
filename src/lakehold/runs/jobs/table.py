"""The table of background jobs, and the writes of a worker to it."""

from collections.abc import Mapping
from pathlib import Path

import sqlalchemy as sa

from lakehold.directory.platform import Platform
from lakehold.kit.database import ExactText, IdType, Transaction, metadata

job_table = sa.Table(
    "job",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("id", ExactText, primary_key=True),
    sa.Column("tenant", ExactText, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("started_by", ExactText, nullable=False),
    # As whom it runs, as JSON: also how narrow the token was that it was started with.
    sa.Column("caller", sa.Text, nullable=False),
    sa.Column("options", sa.Text, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("progress", sa.Integer, nullable=False),
    sa.Column("activity", sa.Text, nullable=False),
    sa.Column("error", sa.Text, nullable=False),
    sa.Column("result", sa.Text, nullable=False),
    sa.Column("rows", IdType, nullable=False),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("started_at", IdType),
    sa.Column("ended_at", IdType),
)
sa.Index("job_by_state", job_table.c.state, job_table.c.made_at)
sa.Index("job_by_time", job_table.c.tenant_id, job_table.c.made_at)

WAITING, QUEUED, RUNNING, DONE, FAILED = "waiting", "queued", "running", "done", "failed"
ENDED = frozenset({DONE, FAILED})

NEW = {"state": WAITING, "tries": 0, "progress": 0, "activity": "", "error": "", "result": "", "rows": 0}
"""The values with which a job begins."""

JobRow = sa.Row[tuple[object, ...]]


def load_row(platform: Platform, uid: str) -> JobRow:
    """Return the row of a job."""
    with platform.database.read() as transaction:
        return transaction.connection.execute(sa.select(job_table).where(job_table.c.id == uid)).one()


def waiting_jobs(transaction: Transaction) -> list[str]:
    """Return the ids of some jobs that no worker has claimed yet, oldest first."""
    c = job_table.c
    query = sa.select(c.id).where(c.state == WAITING).order_by(c.made_at, c.id).limit(50)
    return list(transaction.connection.execute(query).scalars())


def claim_job(transaction: Transaction, uid: str) -> bool:
    """Claim a waiting job; return whether this worker now has it."""
    c = job_table.c
    taken = job_table.update().where(c.id == uid, c.state == WAITING).values(state=QUEUED)
    return transaction.connection.execute(taken).rowcount == 1


def update_job(
    transaction: Transaction, uid: str, values: Mapping[str, object], *, unless: frozenset[str] = ENDED
) -> None:
    """Update a job unless it is in one of the given states."""
    c = job_table.c
    transaction.connection.execute(job_table.update().where(c.id == uid, c.state.not_in(unless)).values(**values))


def results_folder(data: Path, tenant: int) -> Path:
    """Return the folder of a tenant's results, which lies in the data folder that all machines share."""
    return data / "results" / str(tenant)
