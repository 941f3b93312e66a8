"""Endpoints of runs, their steps and log, and of the triggers that start them by a schedule or after other runs."""

from typing import Annotated, Literal

from pydantic import AliasChoices, AliasPath, BeforeValidator, Field

from lakehold import workspaces
from lakehold.api.http.dependencies import CreateContext, ReadContext, WriteContext
from lakehold.api.http.models import IdText, ItemsResponse, RecordEnd, RecordTime, RequestModel, ResponseModel
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.directory.request_context import RequestContext
from lakehold.runs import service
from lakehold.runs.runnable import BackfillSpan, RunOptions
from lakehold.runs.scheduler import service as scheduler
from lakehold.runs.scheduler.schedule import TriggerSchedule

routes = make_router("/api/v1/runs", "Runs")

RunStateName = Literal["queued", "waiting", "running", "stopping", "succeeded", "failed", "stopped"]
CursorText = Annotated[str, Field(max_length=200)]
_runs = service.Runs(workspaces.runnables())


class RunSpanJson(RequestModel):
    """A range of cursor values."""

    from_: CursorText = Field(
        default="", alias="from", examples=["2031-01-01"], description="The first value (inclusive)."
    )
    until: CursorText = Field(default="", examples=["2031-02-01"], description="The end value (exclusive).")


class NewRun(RequestModel):
    """A run to start."""

    resource: IdText = Field(examples=["daily_sales"], description="A source, a query, a data mart, a report, a task …")
    reload: bool = Field(default=False, description="Full refresh: reload all rows.")
    span: RunSpanJson | None = Field(
        default=None,
        examples=[None],
        description="Backfill of this range, for a source or a query with a cursor.",
    )


def _read_span(span: object) -> object:
    return {"from": span.since, "until": span.until} if isinstance(span, BackfillSpan) else span


class RunStepJson(ResponseModel):
    """A step, and its progress."""

    name: str = Field(examples=["query"])
    state: str = Field(examples=["succeeded"])
    rows: int
    bytes: int = Field(validation_alias=AliasChoices("bytes", "size"))
    bad: int = Field(description="Rejected rows, stored with the reason.")
    error: str = Field(examples=[""])
    started_at: RecordEnd = Field(examples=["2031-05-04T10:30:00Z"])
    ended_at: RecordEnd = Field(examples=["2031-05-04T10:30:00Z"])


class RunJson(ResponseModel):
    """A run, and its progress."""

    id: str = Field(examples=["run_1f0c3f1de1a44d54"])
    resource: str = Field(examples=["daily_sales"])
    kind: str = Field(examples=["lakehouse.query"])
    state: str = Field(examples=["succeeded"])
    cause: str = Field(
        validation_alias=AliasPath("cause", "text"),
        examples=["by hand"],
        description="The cause as text; the following fields have its parts.",
    )
    cause_kind: str = Field(
        validation_alias=AliasPath("cause", "kind"),
        examples=["manual"],
        description="manual, schedule, dependency, retry, maintenance or backfill.",
    )
    cause_run: str = Field(
        validation_alias=AliasPath("cause", "run"),
        examples=[""],
        description="The run that it came after, or that it repeats.",
    )
    cause_cron: str = Field(validation_alias=AliasPath("cause", "cron"), examples=[""])
    cause_zone: str = Field(validation_alias=AliasPath("cause", "zone"), examples=[""])
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
    return RunJson.model_validate(_runs.start(ctx, body.resource, RunOptions(body.reload, span=span)))


@routes.get("")
def list_runs(
    ctx: ReadContext,
    paged: PageParams,
    resource: IdText | None = None,
    workspace: IdText | None = None,
    state: RunStateName | None = None,
) -> PageResponse[RunJson]:
    """List runs that you may see, newest first. In a list they come without their steps."""
    before = paged.start_after("runs", str)
    found = _runs.page(ctx, resource=resource, within=workspace, state=state, before=before, limit=paged.limit + 1)
    return paged.build_page("runs", found, lambda run: (run.id,), RunJson.model_validate)


@routes.get("/{run}")
def get_run(ctx: ReadContext, run: IdText) -> RunJson:
    """Get a run, with its steps."""
    return RunJson.model_validate(_runs.get(ctx, run))


@routes.post("/{run}/stop")
def stop_run(ctx: WriteContext, run: IdText) -> RunJson:
    """Stop a run. What it has written completely stays."""
    return RunJson.model_validate(_runs.stop(ctx, run))


@routes.post("/{run}/resume")
def resume_run(ctx: WriteContext, run: IdText) -> RunJson:
    """Resume a run after the last step that succeeded, as you."""
    return RunJson.model_validate(_runs.resume(ctx, run))


@routes.post("/{run}/retry", status_code=202)
def retry_run(ctx: CreateContext, run: IdText) -> RunJson:
    """Start the same run again from its beginning, as a new run."""
    return RunJson.model_validate(_runs.retry(ctx, run))


@routes.delete("/{run}", status_code=204, responses=problem_responses(409))
def delete_run(ctx: WriteContext, run: IdText) -> None:
    """Delete a run that has ended, with its log. What it has written or sent stays.

    Only for runs of kinds that allow it, with the right that the kind asks for.
    """
    _runs.delete(ctx, run)


@routes.get("/{run}/log")
def get_run_log(ctx: ReadContext, paged: PageParams, run: IdText) -> PageResponse[RunLogLineJson]:
    """Get the log of a run, oldest first."""
    after = paged.start_after("log", int) or 0
    found = _runs.log_lines(ctx, run, after=after, limit=paged.limit + 1)
    return paged.build_page("log", found, lambda line: (line.n,), RunLogLineJson.model_validate)


trigger_routes = make_router("/api/v1/triggers", "Runs")

_triggers = scheduler.Triggers(_runs)


class TriggerBody(RequestModel):
    """The trigger of a resource: a schedule, or resources after whose runs it runs."""

    cron: Annotated[str, Field(max_length=200)] = Field(
        default="", examples=["30 6 * * 1-5"], description="Minute, hour, day, month, weekday."
    )
    zone: Annotated[str, Field(max_length=60)] = Field(default="UTC", examples=["Europe/Berlin"])
    after: Annotated[list[IdText], Field(max_length=50)] = Field(
        default_factory=list, examples=[[]], description="Instead of a schedule: run after these have succeeded."
    )
    every: bool = Field(default=False, description="Whether all of these must succeed; else any one of them.")
    active: bool = True
    parameters: dict[str, Annotated[str, Field(max_length=200)]] = Field(
        default_factory=dict,
        examples=[{}],
        description='Parameters of its runs, for example of a data mart: {"do": "check"}.',
    )


class NewTrigger(TriggerBody):
    """A trigger to create."""

    resource: IdText = Field(examples=["daily_sales"])


class TriggerJson(ResponseModel):
    """A trigger, and as whom it runs."""

    id: str = Field(examples=["trigger_1f0c3f1de1a44d54"])
    resource: str = Field(examples=["daily_sales"])
    cron: str = Field(validation_alias=AliasPath("when", "cron"), examples=["30 6 * * 1-5"])
    zone: str = Field(validation_alias=AliasPath("when", "zone"), examples=["Europe/Berlin"])
    after: list[str] = Field(
        validation_alias=AliasPath("when", "after"), examples=[[]], description="Those of them that you may see."
    )
    every: bool = Field(validation_alias=AliasPath("when", "every"))
    active: bool
    parameters: dict[str, str] = Field(examples=[{}], description="Parameters of its runs.")
    saved_by: str = Field(examples=["erik"], description="The member that it runs as.")
    saved_at: RecordTime
    next_at: RecordEnd = Field(examples=["2031-05-04T10:30:00Z"])
    last_at: RecordEnd = Field(examples=["2031-05-04T10:30:00Z"])


class PipelineBody(RequestModel):
    """A resource whose triggers are activated or deactivated."""

    resource: IdText = Field(examples=["daily_sales"])


@trigger_routes.post("", status_code=201)
def create_trigger(ctx: CreateContext, body: NewTrigger) -> TriggerJson:
    """Create a trigger, which runs as you."""
    return TriggerJson.model_validate(_save_trigger(ctx, body.resource, body))


@trigger_routes.get("")
def list_triggers(ctx: ReadContext, resource: IdText) -> ItemsResponse[TriggerJson]:
    """List the triggers of a resource."""
    return ItemsResponse[TriggerJson].from_records(_triggers.for_resource(ctx, resource))


@trigger_routes.post("/activate")
def activate_pipeline(ctx: WriteContext, body: PipelineBody) -> ItemsResponse[TriggerJson]:
    """Activate all triggers of a pipeline, which run as you."""
    return ItemsResponse[TriggerJson].from_records(_triggers.set_all_active(ctx, body.resource, active=True))


@trigger_routes.post("/deactivate")
def deactivate_pipeline(ctx: WriteContext, body: PipelineBody) -> ItemsResponse[TriggerJson]:
    """Deactivate all triggers of a pipeline. It can still be run by hand."""
    return ItemsResponse[TriggerJson].from_records(_triggers.set_all_active(ctx, body.resource, active=False))


@trigger_routes.get("/{trigger}")
def get_trigger(ctx: ReadContext, trigger: IdText) -> TriggerJson:
    """Get a trigger."""
    return TriggerJson.model_validate(_triggers.get(ctx, trigger))


@trigger_routes.put("/{trigger}")
def replace_trigger(ctx: WriteContext, trigger: IdText, body: TriggerBody) -> TriggerJson:
    """Change when a trigger runs. It runs as you from now on."""
    return TriggerJson.model_validate(_save_trigger(ctx, _triggers.get(ctx, trigger).resource, body, trigger))


@trigger_routes.delete("/{trigger}", status_code=204)
def delete_trigger(ctx: WriteContext, trigger: IdText) -> None:
    """Delete a trigger."""
    _triggers.delete(ctx, trigger)


def _save_trigger(ctx: RequestContext, resource: str, body: TriggerBody, uid: str | None = None) -> scheduler.Trigger:
    when = TriggerSchedule(body.cron, body.zone, tuple(body.after), body.every)
    return _triggers.save(ctx, resource, when, uid=uid, active=body.active, parameters=body.parameters)
