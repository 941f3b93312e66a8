"""Endpoints of runs. Start, stop, resume and retry them; their steps and log."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AliasChoices, BeforeValidator, Field

from lakehold import workspaces
from lakehold.api.http.dependencies import CreateContext, ReadContext, WriteContext
from lakehold.api.http.models import IdText, RecordEnd, RecordTime, RequestModel, ResponseModel
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.runs import service
from lakehold.runs.runnable import BackfillSpan, RunOptions

routes = make_router("/api/v1/runs", "Runs")

RunStateName = Literal["queued", "waiting", "running", "stopping", "succeeded", "failed", "stopped"]
CursorText = Annotated[str, Field(max_length=200)]
_runs = service.Runs(workspaces.runnables())


class RunSpanJson(RequestModel):
    """A range of cursor values."""

    from_: CursorText = Field(default="", alias="from", examples=["2031-01-01"], description="The first; or none.")
    until: CursorText = Field(default="", examples=["2031-02-01"], description="The first that is left out; or none.")


class NewRun(RequestModel):
    """A run to start."""

    resource: IdText = Field(examples=["daily_sales"], description="A source, a query, a data mart, a report, a task …")
    reload: bool = Field(default=False, description="All of it anew, not only what is new.")
    span: RunSpanJson | None = Field(
        default=None,
        examples=[None],
        description="Only this part, anew: of a source that is read by a cursor, or a query that names one.",
    )


def _read_span(span: object) -> object:
    return {"from": span.since, "until": span.until} if isinstance(span, BackfillSpan) else span


class RunStepJson(ResponseModel):
    """A step, and its progress."""

    name: str = Field(examples=["query"])
    state: str = Field(examples=["succeeded"])
    rows: int
    bytes: int = Field(validation_alias=AliasChoices("bytes", "size"))
    bad: int = Field(description="Rows that were kept aside, with the reason.")
    error: str = Field(examples=[""])
    started_at: RecordEnd = Field(examples=["2031-05-04T10:30:00Z"])
    ended_at: RecordEnd = Field(examples=["2031-05-04T10:30:00Z"])


class RunJson(ResponseModel):
    """A run, and its progress."""

    id: str = Field(examples=["run_1f0c3f1de1a44d54"])
    resource: str = Field(examples=["daily_sales"])
    kind: str = Field(examples=["lakehouse.query"])
    state: str = Field(examples=["succeeded"])
    cause: str = Field(examples=["by hand"])
    started_by: str = Field(examples=["erik"])
    reload: bool
    span: Annotated[RunSpanJson | None, BeforeValidator(_read_span)] = Field(
        examples=[None], description="The range of cursor values to load again."
    )
    tries: int = Field(description="How often it was resumed.")
    error: str = Field(examples=[""])
    made_at: RecordTime
    started_at: RecordEnd = Field(examples=["2031-05-04T10:30:00Z"])
    ended_at: RecordEnd = Field(examples=["2031-05-04T10:30:00Z"])
    steps: list[RunStepJson]


class RunLogLineJson(ResponseModel):
    """A line of a run's log."""

    n: int
    step: int = Field(description="The number of the step; -1 before the first.")
    at: RecordTime
    level: str = Field(examples=["info"])
    text: str = Field(examples=["100 rows written, 0 removed; the table has 100"])


@routes.post("", status_code=202)
def start_run(ctx: CreateContext, body: NewRun) -> RunJson:
    """Start a run, as you. Poll it to see its progress."""
    span = BackfillSpan(body.span.from_, body.span.until) if body.span else None
    return run_json(_runs.start(ctx, body.resource, RunOptions(body.reload, span=span)))


@routes.get("")
def list_runs(
    ctx: ReadContext,
    paged: PageParams,
    resource: IdText | None = None,
    workspace: IdText | None = None,
    state: RunStateName | None = None,
) -> PageResponse[RunJson]:
    """List runs that you may see, newest first. In a list they come without their steps."""
    start = paged.start_key("runs", str)
    before = None if start is None else str(start[0])
    found = _runs.page(ctx, resource=resource, within=workspace, state=state, before=before, limit=paged.limit + 1)
    return paged.build_page("runs", found, lambda run: (run.id,), run_json)


@routes.get("/{run}")
def get_run(ctx: ReadContext, run: IdText) -> RunJson:
    """Get a run, with its steps."""
    return run_json(_runs.get(ctx, run))


@routes.post("/{run}/stop")
def stop_run(ctx: WriteContext, run: IdText) -> RunJson:
    """Stop a run. What it has written completely stays."""
    return run_json(_runs.stop(ctx, run))


@routes.post("/{run}/resume")
def resume_run(ctx: WriteContext, run: IdText) -> RunJson:
    """Resume a run after the last step that succeeded, as you."""
    return run_json(_runs.resume(ctx, run))


@routes.post("/{run}/retry", status_code=202)
def retry_run(ctx: CreateContext, run: IdText) -> RunJson:
    """Start the same run again from its beginning, as a new run."""
    return run_json(_runs.retry(ctx, run))


@routes.delete("/{run}", status_code=204, responses=problem_responses(409))
def delete_run(ctx: WriteContext, run: IdText) -> None:
    """Delete a run that has ended, with its log. What it has written or sent stays.

    Of a project of marts, for its admins.
    """
    _runs.delete(ctx, run)


@routes.get("/{run}/log")
def get_run_log(ctx: ReadContext, paged: PageParams, run: IdText) -> PageResponse[RunLogLineJson]:
    """Get the log of a run, oldest first."""
    start = paged.start_key("log", int)
    after = 0 if start is None else int(str(start[0]))
    found = _runs.log_lines(ctx, run, after=after, limit=paged.limit + 1)
    return paged.build_page("log", found, lambda line: (line.n,), RunLogLineJson.model_validate)


def run_json(run: service.Run) -> RunJson:
    """Convert a run to JSON."""
    return RunJson.model_validate(run)
