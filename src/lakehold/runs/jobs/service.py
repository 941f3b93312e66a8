"""Background jobs: start, read, list, and fetch the result.

A job is inserted in the transaction of the member who starts it and runs as that member; access is checked
again when it starts.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.runs.jobs import registry, table
from lakehold.runs.jobs.table import job_table


@dataclass(frozen=True, slots=True)
class Job:
    """A background job: its options, state and progress."""

    id: str
    kind: str
    state: str
    started_by: str
    options: Mapping[str, object]
    progress: int
    """In percent."""
    activity: str
    """What it is busy with, in a word or two."""
    error: str
    rows: int
    """How many rows the result has."""
    made_at: Moment
    started_at: Moment | None
    ended_at: Moment | None
    result: str
    """The name of the file; empty unless there is one."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """The file that a job produced."""

    file: Path
    media_type: str


def start_job(ctx: RequestContext, kind: str, options: Mapping[str, object] | None = None) -> Job:
    """Start a job in the background, as the caller."""
    ctx.need_writable()
    parsed = registry.parse_options(ctx, kind, options or {})
    registry.need(ctx, kind, parsed)
    uid = f"job_{secrets.token_hex(8)}"
    table.insert_job(
        ctx.session.transaction,
        tenant_id=ctx.session.tenant,
        id=uid,
        tenant=ctx.caller.tenant,
        kind=kind,
        started_by=ctx.caller.member,
        caller=json.dumps(ctx.caller.to_stored()),
        options=json.dumps(parsed, ensure_ascii=False, sort_keys=True),
        made_at=ctx.at,
    )
    ctx.note(f"start {kind}", ctx.caller.tenant, after={"job": uid, **parsed})
    return get_job(ctx, uid)


def get_job(ctx: RequestContext, uid: str) -> Job:
    """Return a job of the caller, or any job for those who may see the audit log."""
    query = sa.select(job_table).where(_visible_jobs(ctx), job_table.c.id == uid)
    found = ctx.session.transaction.connection.execute(query).first()
    if found is None:
        raise NotFoundError(f"There is no job {quote(uid)}.", "Check the ID in the list of jobs.")
    return _build_job(found)


def list_jobs(
    ctx: RequestContext, *, kind: str | None = None, before: str | None = None, limit: int = 50
) -> Sequence[Job]:
    """Return jobs, newest first, optionally those before a given job."""
    c = job_table.c
    query = sa.select(job_table).where(_visible_jobs(ctx))
    if kind is not None:
        query = query.where(c.kind == kind)
    if before is not None:
        last = get_job(ctx, before)
        earlier = sa.or_(c.made_at < last.made_at, sa.and_(c.made_at == last.made_at, c.id < last.id))
        query = query.where(earlier)
    rows = ctx.session.transaction.connection.execute(query.order_by(c.made_at.desc(), c.id.desc()).limit(limit))
    return [_build_job(row) for row in rows]


def get_result(ctx: RequestContext, uid: str, data: Path) -> JobResult:
    """Return the file that the job produced, if the caller may still have it.

    Audited if the transaction writes.
    """
    job = get_job(ctx, uid)
    registry.need(ctx, job.kind, job.options)
    if job.state not in table.ENDED:
        raise ConflictError(f"The job {quote(uid)} is not done yet.", "Ask again later.")
    if job.state == table.FAILED:
        raise ConflictError(f"The job {quote(uid)} has failed.", job.error)
    file = table.results_folder(data, ctx.session.tenant) / job.result
    if not job.result or not file.is_file():
        raise NotFoundError(f"The result of the job {quote(uid)} is no longer kept.", "Start it again.")
    ctx.note(f"take {job.kind}", ctx.caller.tenant, after={"job": uid})
    return JobResult(file, registry.MEDIA_TYPES[file.suffix])


def _visible_jobs(ctx: RequestContext) -> sa.ColumnElement[bool]:
    mine = [job_table.c.tenant_id == ctx.session.tenant]
    if not ctx.session.check(ctx.principal, "see_audit", ctx.caller.tenant):
        mine.append(job_table.c.started_by == ctx.caller.member)
    return sa.and_(*mine)


def _build_job(row: table.JobRow) -> Job:
    values = {name: getattr(row, name) for name in Job.__dataclass_fields__}
    return Job(**{**values, "options": json.loads(row.options)})
