"""Endpoints of triggers, which start runs by a schedule or after other runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from lakehold import workspaces
from lakehold.api.http.dependencies import CreateContext, ReadContext, WriteContext
from lakehold.api.http.models import IdText, RequestModel, ResponseModel, Time, to_datetime, to_optional_datetime
from lakehold.api.http.routing import make_router
from lakehold.directory.request_context import RequestContext
from lakehold.runs.scheduler import service
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.runs.service import Runs

routes = make_router("/api/v1/triggers", "Runs")

_triggers = service.Triggers(Runs(workspaces.runnables()))


class TriggerBody(RequestModel):
    """When a resource is run: by a schedule, or after others."""

    cron: Annotated[str, Field(max_length=200)] = Field(
        default="", examples=["30 6 * * 1-5"], description="Minute, hour, day, month, weekday."
    )
    zone: Annotated[str, Field(max_length=60)] = Field(default="UTC", examples=["Europe/Berlin"])
    after: Annotated[list[IdText], Field(max_length=50)] = Field(
        default_factory=list, examples=[[]], description="Instead of a schedule: when these have succeeded."
    )
    every: bool = Field(default=False, description="Whether all of these have to succeed; else any one does.")
    active: bool = True
    parameters: dict[str, Annotated[str, Field(max_length=200)]] = Field(
        default_factory=dict, examples=[{}], description='What to do instead of all: of a data mart, {"do": "check"}.'
    )

    def to_schedule(self) -> TriggerSchedule:
        """Convert to the schedule of the service."""
        return TriggerSchedule(self.cron, self.zone, tuple(self.after), self.every)


class NewTrigger(TriggerBody):
    """A trigger to create."""

    resource: IdText = Field(examples=["daily_sales"])


class TriggerJson(ResponseModel):
    """A trigger, and as whom it runs."""

    id: str = Field(examples=["trigger_1f0c3f1de1a44d54"])
    resource: str = Field(examples=["daily_sales"])
    cron: str = Field(examples=["30 6 * * 1-5"])
    zone: str = Field(examples=["Europe/Berlin"])
    after: list[str] = Field(examples=[[]], description="Those of them that you may see.")
    every: bool
    active: bool
    parameters: dict[str, str] = Field(examples=[{}], description="What it does instead of all.")
    saved_by: str = Field(examples=["erik"], description="As whom it runs.")
    saved_at: Time
    next_at: Time | None = Field(examples=["2031-05-04T10:30:00Z"])
    last_at: Time | None = Field(examples=["2031-05-04T10:30:00Z"])


class PipelineBody(RequestModel):
    """A resource whose triggers are activated or deactivated."""

    resource: IdText = Field(examples=["daily_sales"])


class TriggerListJson(ResponseModel):
    """The triggers of one resource."""

    items: list[TriggerJson]


@routes.post("", status_code=201)
def create_trigger(ctx: CreateContext, body: NewTrigger) -> TriggerJson:
    """Create a trigger, which runs as you."""
    return _trigger_json(_save_trigger(ctx, body.resource, body))


@routes.get("")
def list_triggers(ctx: ReadContext, resource: IdText) -> TriggerListJson:
    """List the triggers of a resource."""
    return _trigger_list_json(_triggers.for_resource(ctx, resource))


@routes.post("/activate")
def activate_pipeline(ctx: WriteContext, body: PipelineBody) -> TriggerListJson:
    """Activate all triggers of a pipeline, which run as you."""
    return _trigger_list_json(_triggers.set_all_active(ctx, body.resource, active=True))


@routes.post("/deactivate")
def deactivate_pipeline(ctx: WriteContext, body: PipelineBody) -> TriggerListJson:
    """Deactivate all triggers of a pipeline. It can still be run by hand."""
    return _trigger_list_json(_triggers.set_all_active(ctx, body.resource, active=False))


@routes.get("/{trigger}")
def get_trigger(ctx: ReadContext, trigger: IdText) -> TriggerJson:
    """Get a trigger."""
    return _trigger_json(_triggers.get(ctx, trigger))


@routes.put("/{trigger}")
def replace_trigger(ctx: WriteContext, trigger: IdText, body: TriggerBody) -> TriggerJson:
    """Change when a trigger runs. It runs as you from now on."""
    return _trigger_json(_save_trigger(ctx, _triggers.get(ctx, trigger).resource, body, trigger))


@routes.delete("/{trigger}", status_code=204)
def delete_trigger(ctx: WriteContext, trigger: IdText) -> None:
    """Delete a trigger."""
    _triggers.delete(ctx, trigger)


def _save_trigger(ctx: RequestContext, resource: str, body: TriggerBody, uid: str | None = None) -> service.Trigger:
    return _triggers.save(ctx, resource, body.to_schedule(), uid=uid, active=body.active, parameters=body.parameters)


def _trigger_list_json(found: Iterable[service.Trigger]) -> TriggerListJson:
    return TriggerListJson(items=[_trigger_json(each) for each in found])


def _trigger_json(found: service.Trigger) -> TriggerJson:
    return TriggerJson(
        id=found.id,
        resource=found.resource,
        cron=found.when.cron,
        zone=found.when.zone,
        after=list(found.when.after),
        every=found.when.every,
        active=found.active,
        parameters=dict(found.parameters),
        saved_by=found.saved_by,
        saved_at=to_datetime(found.saved_at),
        next_at=to_optional_datetime(found.next_at),
        last_at=to_optional_datetime(found.last_at),
    )
