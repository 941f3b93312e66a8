"""The cause of a run in columns of its own instead of one English text."""

import json

import sqlalchemy as sa
from alembic import op

from lakehold.migrations.columns import EXACT

revision = "0017"
down_revision = "0016"

_run = sa.table(
    "run", *map(sa.column, ("n", "cause", "options", "cause_kind", "cause_run", "cause_cron", "cause_zone"))
)
_BACKFILLED, _BATCH = '%"span"%', 500


def upgrade() -> None:
    op.add_column("run", sa.Column("cause_kind", sa.Text(), nullable=False, server_default="manual"))
    op.add_column("run", sa.Column("cause_run", EXACT, nullable=False, server_default=""))
    op.add_column("run", sa.Column("cause_cron", sa.Text(), nullable=False, server_default=""))
    op.add_column("run", sa.Column("cause_zone", sa.Text(), nullable=False, server_default=""))
    for kind, begin in (("dependency", "after "), ("retry", "again after ")):
        other = sa.func.substr(_run.c.cause, len(begin) + 1)
        op.execute(_update(_run.c.cause.startswith(begin), cause_kind=kind, cause_run=other))
    op.execute(_update(_run.c.cause == "for upkeep", cause_kind="maintenance"))
    _convert_schedules("by schedule ")
    _convert_backfills()
    op.drop_column("run", "cause")


def _convert_schedules(begin: str) -> None:
    texts = sa.select(_run.c.cause).where(_run.c.cause.startswith(begin)).distinct()
    for text in op.get_bind().execute(texts).scalars().all():
        # A cron expression has blanks, a time zone has none.
        cron, _, zone = text.removeprefix(begin).rpartition(" ")
        op.execute(_update(_run.c.cause == text, cause_kind="schedule", cause_cron=cron, cause_zone=zone))


def _convert_backfills() -> None:
    """Convert runs that were started by hand over a span: only their options tell them apart."""
    some = sa.select(_run.c.n, _run.c.options).where(_run.c.cause == "by hand", _run.c.options.like(_BACKFILLED))
    found = [n for n, options in op.get_bind().execute(some).all() if json.loads(options).get("span")]
    for first in range(0, len(found), _BATCH):
        op.execute(_update(_run.c.n.in_(found[first : first + _BATCH]), cause_kind="backfill"))


def _update(which: sa.ColumnElement[bool], **values: object) -> sa.Update:
    return _run.update().where(which).values(**values)
