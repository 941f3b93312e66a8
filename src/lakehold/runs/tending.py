"""What an installation wants done again and again. Every function may be called at any time, and twice."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable

import sqlalchemy as sa

from lakehold.catalog import approvals, campaigns
from lakehold.directory import tenants
from lakehold.directory.caller import Caller
from lakehold.directory.cleanup import delete_expired
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY
from lakehold.kit.errors import LakeholdError
from lakehold.ledger.outbox import outbox_table
from lakehold.runs import book, queries
from lakehold.runs import run_table as states
from lakehold.runs.book import job_table
from lakehold.runs.run_table import run_table
from lakehold.runs.ticks import Tick

_log = logging.getLogger("lakehold.runs")
_MINUTE, _HOUR = 60, 3600
_MAILS_STAY = 30 * DAY
"""So long one can look up whether a mail was sent. What it said is gone when it is sent."""


def ticks() -> list[Tick]:
    """All of it."""
    return [
        Tick("expire requests", _MINUTE, expire_requests),
        Tick("close campaigns", _MINUTE, close_campaigns),
        Tick("tidy", 10 * _MINUTE, delete_expired),
        Tick("clear results", _HOUR, clear_results),
        Tick("forget mails", _HOUR, forget_mails),
        Tick("forget queries", _HOUR, queries.forget),
        Tick("clear runs", _HOUR, clear_runs),
    ]


def expire_requests(platform: Platform) -> int:
    """End access requests that nobody has answered, in all tenants; how many."""
    return _everywhere(platform, "expire requests", approvals.expire_requests)


def close_campaigns(platform: Platform) -> int:
    """Close access reviews whose day has come, in all tenants; how many."""
    return _everywhere(platform, "close campaigns", lambda ctx: campaigns.close_due(ctx, platform.settings))


def clear_results(platform: Platform) -> int:
    """Remove the files and rows of jobs that ended long ago; how many."""
    c = job_table.c
    old = sa.and_(c.state.in_(book.ENDED), c.ended_at < platform.clock() - platform.settings.result_days * DAY)
    with platform.database.read() as transaction:
        found = transaction.connection.execute(sa.select(c.id, c.tenant_id, c.result).where(old)).all()
    for job in found:
        folder = book.folder(platform.settings.data, job.tenant_id)
        if job.result:
            (folder / job.result).unlink(missing_ok=True)
        shutil.rmtree(folder / f"{job.id}.rough", ignore_errors=True)
    if found:
        with platform.database.write() as transaction:
            transaction.connection.execute(job_table.delete().where(c.id.in_([job.id for job in found])))
    return len(found)


def clear_runs(platform: Platform) -> int:
    """Remove what runs have kept to go on with, if they ended long ago or were deleted; how many."""
    kept = platform.settings.data / "runs" / "kept"
    folders = {folder: int(folder.name.partition("-")[0]) for folder in kept.glob("[0-9]*-*")}
    c = run_table.c
    old = sa.and_(c.state.in_(states.ENDED), c.ended_at < platform.clock() - platform.settings.result_days * DAY)
    with platform.database.read() as transaction:
        young = sa.select(c.n).where(c.n.in_(folders.values()), sa.not_(old))
        stay = set(transaction.connection.execute(young).scalars())
    found = [folder for folder, number in folders.items() if number not in stay]
    for folder in found:
        shutil.rmtree(folder, ignore_errors=True)
    return len(found)


def _everywhere(platform: Platform, what: str, do: Callable[[RequestContext], int]) -> int:
    """Do it in every tenant, as the installation itself; how many there were of it."""
    count = 0
    for tenant in tenants.list_all(platform):
        try:
            with platform.write(Caller(tenant.uid, "", address="worker")) as ctx:
                count += do(ctx)
        except LakeholdError as error:
            # One tenant's trouble is not another's.
            _log.warning("%s failed in %s: %s", what, tenant.uid, error.code)
    return count


def forget_mails(platform: Platform) -> int:
    """Remove mails that were sent, or given up, long ago; how many."""
    c = outbox_table.c
    with platform.database.write() as transaction:
        return transaction.connection.execute(
            outbox_table.delete().where(c.made_at < platform.clock() - _MAILS_STAY)
        ).rowcount
