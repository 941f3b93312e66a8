"""Runs: start a pipeline, stop it, let it go on; how far it is, and what it said."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from lakehold import workspaces
from lakehold.api.frame.models import Answer, Body, IdText, Time, time_of, told
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import problems, router
from lakehold.api.frame.works import Creating, Reading, Writing
from lakehold.runs import service
from lakehold.runs.runnable import BackfillSpan, RunOptions

routes = router("/api/v1/runs", "Runs")

State = Literal["queued", "waiting", "running", "stopping", "succeeded", "failed", "stopped"]
CursorText = Annotated[str, Field(max_length=200)]
_runs = service.Runs(workspaces.runnables())


class RunSpan(Body):
    """A part of what is read, by the cursor."""

    from_: CursorText = Field(default="", alias="from", examples=["2031-01-01"], description="The first; or none.")
    until: CursorText = Field(default="", examples=["2031-02-01"], description="The first that is left out; or none.")


class NewRun(Body):
    """What is to be run."""

    resource: IdText = Field(examples=["daily_sales"], description="A source, a query, a data mart, a report, a task …")
    reload: bool = Field(default=False, description="All of it anew, not only what is new.")
    span: RunSpan | None = Field(
        default=None,
        examples=[None],
        description="Only this part, anew: of a source that is read by a cursor, or a query that names one.",
    )


class RunStep(Answer):
    """A step, and how far it is."""

    name: str = Field(examples=["query"])
    state: str = Field(examples=["succeeded"])
    rows: int
    bytes: int
    bad: int = Field(description="Rows that were kept aside, with the reason.")
    error: str = Field(examples=[""])
    started_at: Time | None = Field(examples=["2031-05-04T10:30:00Z"])
    ended_at: Time | None = Field(examples=["2031-05-04T10:30:00Z"])


class Run(Answer):
    """A run, and how far it is."""

    id: str = Field(examples=["run_1f0c3f1de1a44d54"])
    resource: str = Field(examples=["daily_sales"])
    kind: str = Field(examples=["lakehouse.query"])
    state: str = Field(examples=["succeeded"])
    cause: str = Field(examples=["by hand"])
    started_by: str = Field(examples=["erik"])
    reload: bool
    span: RunSpan | None = Field(examples=[None], description="The part that was wanted anew.")
    tries: int = Field(description="How often it was resumed.")
    error: str = Field(examples=[""])
    made_at: Time
    started_at: Time | None = Field(examples=["2031-05-04T10:30:00Z"])
    ended_at: Time | None = Field(examples=["2031-05-04T10:30:00Z"])
    steps: list[RunStep]


class RunLine(Answer):
    """Something that a run said."""

    n: int
    step: int = Field(description="The number of the step; -1 before the first.")
    at: Time
    level: str = Field(examples=["info"])
    text: str = Field(examples=["100 rows written, 0 removed; the table has 100"])


@routes.post("", status_code=202)
def start_run(ctx: Creating, body: NewRun) -> Run:
    """Let something be run, as you. Ask for the run again to see how far it is."""
    span = BackfillSpan(body.span.from_, body.span.until) if body.span else None
    return told_run(_runs.start(ctx, body.resource, RunOptions(body.reload, span=span)))


@routes.get("")
def list_runs(
    ctx: Reading,
    paged: Paged,
    resource: IdText | None = None,
    workspace: IdText | None = None,
    state: State | None = None,
) -> Page[Run]:
    """Runs that you may see, the newest first. In a list they come without their steps."""
    start = paged.start("runs", str)
    before = None if start is None else str(start[0])
    found = _runs.page(ctx, resource=resource, within=workspace, state=state, before=before, limit=paged.limit + 1)
    return paged.page("runs", found, lambda run: (run.id,), told_run)


@routes.get("/{run}")
def get_run(ctx: Reading, run: IdText) -> Run:
    """A run, with its steps."""
    return told_run(_runs.get(ctx, run))


@routes.post("/{run}/stop")
def stop_run(ctx: Writing, run: IdText) -> Run:
    """Stop it. What it has written whole stays."""
    return told_run(_runs.stop(ctx, run))


@routes.post("/{run}/resume")
def resume_run(ctx: Writing, run: IdText) -> Run:
    """Go on behind the last step that succeeded, as you."""
    return told_run(_runs.resume(ctx, run))


@routes.post("/{run}/retry", status_code=202)
def retry_run(ctx: Creating, run: IdText) -> Run:
    """The same from its beginning, as a run of its own."""
    return told_run(_runs.retry(ctx, run))


@routes.delete("/{run}", status_code=204, responses=problems(409))
def delete_run(ctx: Writing, run: IdText) -> None:
    """Delete a run that has ended, with all that it said. What it has written or sent stays.

    Of a project of marts, for its admins.
    """
    _runs.delete(ctx, run)


@routes.get("/{run}/log")
def get_run_log(ctx: Reading, paged: Paged, run: IdText) -> Page[RunLine]:
    """What it said, the oldest first."""
    start = paged.start("log", int)
    after = 0 if start is None else int(str(start[0]))
    found = _runs.log_lines(ctx, run, after=after, limit=paged.limit + 1)
    return paged.page("log", found, lambda line: (line.n,), _line)


def told_run(run: service.Run) -> Run:
    """A run as it is answered."""
    return Run(
        id=run.id,
        resource=run.resource,
        kind=run.kind,
        state=run.state,
        cause=run.cause,
        started_by=run.started_by,
        reload=run.reload,
        span=RunSpan.model_validate({"from": run.span.since, "until": run.span.until}) if run.span else None,
        tries=run.tries,
        error=run.error,
        made_at=time_of(run.made_at),
        started_at=told(run.started_at),
        ended_at=told(run.ended_at),
        steps=[
            RunStep(
                name=step.name,
                state=step.state,
                rows=step.rows,
                bytes=step.size,
                bad=step.bad,
                error=step.error,
                started_at=told(step.started_at),
                ended_at=told(step.ended_at),
            )
            for step in run.steps
        ],
    )


def _line(line: service.RunLogLine) -> RunLine:
    return RunLine(n=line.n, step=line.step, at=time_of(line.at), level=line.level, text=line.text)
