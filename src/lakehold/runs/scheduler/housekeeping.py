"""Periodic tasks, run once per interval however many workers there are; the platform's expire, close and clean up.

Each may be called at any time, and twice.
"""

import logging
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import sqlalchemy as sa

from lakehold.catalog import approvals, campaigns
from lakehold.directory import tenants, throttle
from lakehold.directory.caller import Caller
from lakehold.directory.invites import invite_table
from lakehold.directory.links import link_table
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.directory.sign_ins import sign_in_table
from lakehold.directory.tokens import token_table
from lakehold.kit.clock import DAY, SECOND, Moment, format_moment
from lakehold.kit.errors import LakeholdError
from lakehold.ledger.outbox import outbox_table
from lakehold.runs import queries
from lakehold.runs import run_table as states
from lakehold.runs.jobs import table
from lakehold.runs.jobs.table import job_table
from lakehold.runs.run_table import run_table


@dataclass(frozen=True, slots=True)
class PeriodicTask:
    """A function to call about every so many seconds. Calling it twice must do no harm."""

    name: str
    interval: int
    action: Callable[[Platform], object]

    def slot(self, at: Moment) -> int:
        """Return the number of the current interval, which is the same for every worker."""
        return at // (self.interval * SECOND)

    def run(self, platform: Platform) -> None:
        """Call the function; log an error and try again in the next interval."""
        try:
            self.action(platform)
        except Exception:  # noqa: BLE001 - the edge: the worker has other things to do
            _log.exception("tick %s failed", self.name)


class DueTasks:
    """Finds the tasks that have entered a new interval since the last call."""

    def __init__(self, tasks: Iterable[PeriodicTask]) -> None:
        self._tasks = tuple(tasks)
        self._slots: dict[str, int] = {}

    def due(self, at: Moment) -> Iterator[tuple[PeriodicTask, int]]:
        """Yield the tasks to run now, each with its interval."""
        for task in self._tasks:
            slot = task.slot(at)
            if self._slots.get(task.name) != slot:
                self._slots[task.name] = slot
                yield task, slot


_log = logging.getLogger("lakehold.runs")
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_MAIL_RETENTION = 30 * DAY
"""So long one can look up whether a mail was sent. What it said is gone when it is sent."""


def housekeeping_tasks() -> list[PeriodicTask]:
    """Return all housekeeping tasks."""
    return [
        PeriodicTask("expire requests", _MINUTE, expire_requests),
        PeriodicTask("close campaigns", _MINUTE, close_campaigns),
        PeriodicTask("tidy", 10 * _MINUTE, delete_expired),
        PeriodicTask("clear results", _HOUR, delete_old_results),
        PeriodicTask("forget mails", _HOUR, partial(_delete_old, outbox_table.c.made_at, _MAIL_RETENTION)),
        PeriodicTask("forget queries", _HOUR, partial(_delete_old, queries.query_table.c.asked_at, queries.RETENTION)),
        PeriodicTask("clear runs", _HOUR, delete_retained_folders),
        PeriodicTask("forget reads", _DAY, forget_reads),
    ]


def expire_requests(platform: Platform) -> int:
    """Expire unanswered access requests in all tenants; return how many."""
    return _in_every_tenant(platform, "expire requests", approvals.expire_requests)


def close_campaigns(platform: Platform) -> int:
    """Close access reviews whose due day has come, in all tenants; return how many."""
    return _in_every_tenant(platform, "close campaigns", lambda ctx: campaigns.close_due(ctx, platform.settings))


def forget_reads(platform: Platform) -> int:
    """Delete the entries of old reads from the audit logs of all tenants; return how many.

    A log that does not verify is left as it is: what was done to it can be found out.
    """
    before = platform.clock() - platform.settings.read_log_days * DAY
    count = 0
    for tenant in tenants.list_all(platform):
        with platform.read(Caller(tenant.uid, "", address="worker")) as ctx:
            fault = platform.anchors.verify(ctx.reads).fault
        if fault:
            _log.error("reads of %s are not forgotten: %s", tenant.uid, fault)
            continue
        with platform.write(Caller(tenant.uid, "", address="worker")) as ctx:
            forgotten = ctx.reads.forget(before)
            if forgotten:
                ctx.note("forget reads", tenant.uid, before={"entries": forgotten, "until": format_moment(before)})
            count += forgotten
    return count


def delete_old_results(platform: Platform) -> int:
    """Delete the files and rows of jobs that ended long ago; return how many."""
    c = job_table.c
    old = sa.and_(c.state.in_(table.ENDED), c.ended_at < platform.clock() - platform.settings.result_days * DAY)
    with platform.database.read() as transaction:
        found = transaction.connection.execute(sa.select(c.id, c.tenant_id, c.result).where(old)).all()
    for job in found:
        folder = table.results_folder(platform.settings.data, job.tenant_id)
        if job.result:
            (folder / job.result).unlink(missing_ok=True)
        shutil.rmtree(folder / f"{job.id}.rough", ignore_errors=True)
    if found:
        with platform.database.write() as transaction:
            transaction.connection.execute(job_table.delete().where(c.id.in_([job.id for job in found])))
    return len(found)


def delete_retained_folders(platform: Platform) -> int:
    """Delete the retained folders of runs that ended long ago or were deleted; return how many."""
    retained = platform.settings.data / "runs" / "kept"
    folders = {folder: int(folder.name.partition("-")[0]) for folder in retained.glob("[0-9]*-*")}
    c = run_table.c
    old = sa.and_(c.state.in_(states.ENDED), c.ended_at < platform.clock() - platform.settings.result_days * DAY)
    with platform.database.read() as transaction:
        young = sa.select(c.n).where(c.n.in_(folders.values()), sa.not_(old))
        stay = set(transaction.connection.execute(young).scalars())
    found = [folder for folder, number in folders.items() if number not in stay]
    for folder in found:
        shutil.rmtree(folder, ignore_errors=True)
    return len(found)


def _in_every_tenant(platform: Platform, what: str, do: Callable[[RequestContext], int]) -> int:
    """Call a function in every tenant as the platform; return the sum."""
    count = 0
    for tenant in tenants.list_all(platform):
        try:
            with platform.write(Caller(tenant.uid, "", address="worker")) as ctx:
                count += do(ctx)
        except LakeholdError as error:
            # One tenant's trouble is not another's.
            _log.warning("%s failed in %s: %s", what, tenant.uid, error.code)
    return count


def _delete_old(at: sa.Column[Moment], retention: Moment, platform: Platform) -> None:
    """Delete the rows of a table whose moment is longer ago than the retention."""
    with platform.database.write() as transaction:
        transaction.connection.execute(at.table.delete().where(at < platform.clock() - retention))


_KEEP_LISTED = 30 * DAY
"""How long ended tokens and invites stay listed, so that users see why one stopped, or send it again."""


def delete_expired(platform: Platform) -> int:
    """Delete expired rows of all tenants and return their number. Called by the worker."""
    at = platform.clock()
    platform.last_used.flush(platform.database)
    with platform.database.write("tidy") as transaction:
        count = throttle.delete_old(transaction, at)
        for table, until in (
            (sign_in_table, at),
            (link_table, at),
            (token_table, at - _KEEP_LISTED),
            (invite_table, at - _KEEP_LISTED),
        ):
            count += transaction.connection.execute(table.delete().where(table.c.until <= until)).rowcount
    return count
