"""Background jobs: start, read, list, and fetch the result. So far there is one kind, the access review.

A job is inserted in the transaction of the member who starts it and runs as that member; access is checked
again when it starts.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import quote, valid_id
from lakehold.runs.jobs import table
from lakehold.runs.jobs.table import job_table

ACCESS_REVIEW = "review"
"""Every member × resource × action."""
MEDIA_TYPES = {
    ".arrow": "application/vnd.apache.arrow.file",
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
}
FORMATS = tuple(suffix.removeprefix(".") for suffix in MEDIA_TYPES)
_FIELDS = ("format", "kinds", "inside")


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
    """Number of rows of the result."""
    made_at: Moment
    started_at: Moment | None
    ended_at: Moment | None
    result: str
    """The name of the file; empty unless there is one."""


def start_job(ctx: RequestContext, kind: str, options: Mapping[str, object] | None = None) -> Job:
    """Start a job in the background, as the caller."""
    ctx.need_writable()
    parsed = _parse_options(ctx, kind, options or {})
    need_job(ctx, kind, parsed)
    uid = f"job_{secrets.token_hex(8)}"
    ctx.rows(job_table).insert(
        id=uid,
        tenant=ctx.caller.tenant,
        kind=kind,
        started_by=ctx.caller.member,
        caller=json.dumps(ctx.caller.to_stored()),
        options=json.dumps(parsed, ensure_ascii=False, sort_keys=True),
        made_at=ctx.at,
        **table.NEW,
    )
    ctx.note(f"start {kind}", ctx.caller.tenant, after={"job": uid, **parsed})
    return get_job(ctx, uid)


def get_job(ctx: RequestContext, uid: str) -> Job:
    """Return a job of the caller, or any job for those who may see the audit log."""
    found = ctx.rows(job_table).select(_visible_jobs(ctx), job_table.c.id == uid).first()
    if found is None:
        raise NotFoundError(f"There is no job {quote(uid)}.", "Check the ID in the list of jobs.")
    return _build_job(found)


def list_jobs(
    ctx: RequestContext, *, kind: str | None = None, before: str | None = None, limit: int = 50
) -> Sequence[Job]:
    """Return jobs, newest first, optionally those before a given job."""
    c = job_table.c
    where = [_visible_jobs(ctx)]
    if kind is not None:
        where.append(c.kind == kind)
    if before is not None:
        last = get_job(ctx, before)
        where.append(sa.tuple_(c.made_at, c.id) < sa.tuple_(sa.literal(last.made_at), sa.literal(last.id)))
    rows = ctx.rows(job_table).select(*where, order_by=(c.made_at.desc(), c.id.desc()), limit=limit)
    return [_build_job(row) for row in rows]


def get_result(ctx: RequestContext, uid: str, data: Path) -> Path:
    """Return the file that the job produced, if the caller may still have it. Audited if the transaction writes."""
    job = get_job(ctx, uid)
    need_job(ctx, job.kind, job.options)
    if job.state not in table.ENDED:
        raise ConflictError(f"The job {quote(uid)} is not done yet.", "Try again later.")
    if job.state == table.FAILED:
        raise ConflictError(f"The job {quote(uid)} has failed.", job.error)
    file = table.results_folder(data, ctx.session.tenant) / job.result
    if not job.result or not file.is_file():
        raise NotFoundError(f"The result of the job {quote(uid)} has expired.", "Start it again.")
    ctx.note(f"take {job.kind}", ctx.caller.tenant, after={"job": uid})
    return file


def _visible_jobs(ctx: RequestContext) -> sa.ColumnElement[bool]:
    sees_all = ctx.session.check(ctx.principal, "see_audit", ctx.caller.tenant)
    return sa.true() if sees_all else job_table.c.started_by == ctx.caller.member


def _build_job(row: table.JobRow) -> Job:
    values = {name: getattr(row, name) for name in Job.__dataclass_fields__}
    return Job(**{**values, "options": json.loads(row.options)})


def need_job(ctx: RequestContext, kind: str, options: Mapping[str, object]) -> None:
    """Refuse a caller who may not ask about others. They get only rows about what they may see."""
    _check_kind(kind)
    ctx.need("ask_about_others", ctx.caller.tenant)
    if "inside" in options:
        ctx.need_visible(str(options["inside"]))


def _parse_options(ctx: RequestContext, kind: str, options: Mapping[str, object]) -> dict[str, object]:
    """Validate the options of a job; empty ones are left out."""
    _check_kind(kind)
    for name in options:
        if name not in _FIELDS:
            raise InvalidInputError(f"There is no field {quote(name)} here.", f"Use {', '.join(_FIELDS)}.")
    given = {name: value for name, value in options.items() if value is not None}
    form = given.get("format", "parquet")
    if not isinstance(form, str) or form not in FORMATS:
        raise InvalidInputError(f"The format {quote(str(form))} is not known.", f"Use {', '.join(FORMATS)}.")
    parsed: dict[str, object] = {"format": form}
    if "kinds" in given:
        parsed["kinds"] = [ctx.view.policy.kind(each).id for each in _texts(given["kinds"])]
    if "inside" in given:
        parsed["inside"] = valid_id(given["inside"], "inside")
    return parsed


def _check_kind(kind: str) -> None:
    if kind != ACCESS_REVIEW:
        raise InvalidInputError(f"There is no kind of job {quote(kind)}.", f"Use {ACCESS_REVIEW}.")


def _texts(value: object) -> list[str]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(part, str) for part in value):
        raise InvalidInputError("kinds must be a list of texts.", "For example: lakehouse.table.")
    return list(value)
