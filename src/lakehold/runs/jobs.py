"""Jobs: work that takes longer than a request, what became of it, and where its result lies.

A job is written down in the transaction of whoever asks for it. It runs as them: what they may no longer do when it
starts is not done.
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
from lakehold.runs import book, kinds
from lakehold.runs.book import job_table


@dataclass(frozen=True, slots=True)
class Job:
    """What was asked for, and how far it is."""

    id: str
    kind: str
    state: str
    started_by: str
    wanted: Mapping[str, object]
    progress: int
    """In percent."""
    doing: str
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
class Result:
    """A file to hand out."""

    file: Path
    media_type: str


def start(ctx: RequestContext, kind: str, wanted: Mapping[str, object] | None = None) -> Job:
    """Let a job be done in the background, as the caller."""
    ctx.need_writable()
    found = kinds.known(kind)
    asked = found.read(ctx, {} if wanted is None else wanted)
    found.need(ctx, asked)
    uid = f"job_{secrets.token_hex(8)}"
    book.add(
        ctx.session.transaction,
        tenant_id=ctx.session.tenant,
        id=uid,
        tenant=ctx.caller.tenant,
        kind=kind,
        started_by=ctx.caller.member,
        caller=book.kept(ctx.caller),
        wanted=json.dumps(asked, ensure_ascii=False, sort_keys=True),
        made_at=ctx.at,
    )
    ctx.note(f"start {kind}", ctx.caller.tenant, after={"job": uid, **asked})
    return get(ctx, uid)


def get(ctx: RequestContext, uid: str) -> Job:
    """A job of one's own, or of anybody for those who may see the audit log."""
    query = sa.select(job_table).where(_mine(ctx), job_table.c.id == uid)
    found = ctx.session.transaction.connection.execute(query).first()
    if found is None:
        raise NotFoundError(f"There is no job {quote(uid)}.", "Look the id up in the list of jobs.")
    return _job(found)


def page(ctx: RequestContext, *, kind: str | None = None, before: str | None = None, limit: int = 50) -> Sequence[Job]:
    """The newest jobs first, from before a job on."""
    c = job_table.c
    query = sa.select(job_table).where(_mine(ctx))
    if kind is not None:
        query = query.where(c.kind == kind)
    if before is not None:
        last = get(ctx, before)
        earlier = sa.or_(c.made_at < last.made_at, sa.and_(c.made_at == last.made_at, c.id < last.id))
        query = query.where(earlier)
    rows = ctx.session.transaction.connection.execute(query.order_by(c.made_at.desc(), c.id.desc()).limit(limit))
    return [_job(row) for row in rows]


def result(ctx: RequestContext, uid: str, data: Path) -> Result:
    """The file that the job made, for whoever may still ask for it. Written down if the transaction writes."""
    job = get(ctx, uid)
    kinds.known(job.kind).need(ctx, job.wanted)
    if job.state not in book.ENDED:
        raise ConflictError(f"The job {quote(uid)} is not done yet.", "Ask again later.")
    if job.state == book.FAILED:
        raise ConflictError(f"The job {quote(uid)} has failed.", job.error)
    file = book.folder(data, ctx.session.tenant) / job.result
    if not job.result or not file.is_file():
        raise NotFoundError(f"The result of the job {quote(uid)} is no longer kept.", "Start it again.")
    ctx.note(f"take {job.kind}", ctx.caller.tenant, after={"job": uid})
    return Result(file, kinds.MEDIA[file.suffix])


def _mine(ctx: RequestContext) -> sa.ColumnElement[bool]:
    mine = [job_table.c.tenant_id == ctx.session.tenant]
    if not ctx.session.check(ctx.asker, "see_audit", ctx.caller.tenant):
        mine.append(job_table.c.started_by == ctx.caller.member)
    return sa.and_(*mine)


def _job(row: book.JobRow) -> Job:
    said = {name: getattr(row, name) for name in Job.__dataclass_fields__}
    return Job(**{**said, "wanted": json.loads(row.wanted)})
