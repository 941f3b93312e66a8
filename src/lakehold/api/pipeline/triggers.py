"""Triggers: what starts runs by itself."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from lakehold import workspaces
from lakehold.api.frame.models import Answer, Body, IdText, Time, time_of, told
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Creating, Reading, Writing
from lakehold.directory.request_context import RequestContext
from lakehold.runs.scheduler import service
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.runs.service import Runs

routes = router("/api/v1/triggers", "Runs")

_triggers = service.Triggers(Runs(workspaces.runnables()))


class Schedule(Body):
    """When something is run: by a schedule, or after others."""

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

    def when(self) -> TriggerSchedule:
        """As it is kept."""
        return TriggerSchedule(self.cron, self.zone, tuple(self.after), self.every)


class NewTrigger(Schedule):
    """What is to be run, and when."""

    resource: IdText = Field(examples=["daily_sales"])


class Trigger(Answer):
    """When what is run, and as whom."""

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


class Pipeline(Body):
    """What is run by itself, or is not."""

    resource: IdText = Field(examples=["daily_sales"])


class Triggers(Answer):
    """The triggers of one resource."""

    items: list[Trigger]


@routes.post("", status_code=201)
def create_trigger(ctx: Creating, body: NewTrigger) -> Trigger:
    """Let something be run by itself, as you."""
    return _told(_saved(ctx, body.resource, body))


@routes.get("")
def list_triggers(ctx: Reading, resource: IdText) -> Triggers:
    """The triggers of one resource."""
    return Triggers(items=[_told(each) for each in _triggers.for_resource(ctx, resource)])


@routes.post("/activate")
def activate_pipeline(ctx: Writing, body: Pipeline) -> Triggers:
    """Let all triggers of a pipeline go on, as you."""
    return Triggers(items=[_told(each) for each in _triggers.set_all_active(ctx, body.resource, active=True)])


@routes.post("/deactivate")
def deactivate_pipeline(ctx: Writing, body: Pipeline) -> Triggers:
    """Let all triggers of a pipeline pause. By hand it can still be run."""
    return Triggers(items=[_told(each) for each in _triggers.set_all_active(ctx, body.resource, active=False)])


@routes.get("/{trigger}")
def get_trigger(ctx: Reading, trigger: IdText) -> Trigger:
    """One trigger."""
    return _told(_triggers.get(ctx, trigger))


@routes.put("/{trigger}")
def replace_trigger(ctx: Writing, trigger: IdText, body: Schedule) -> Trigger:
    """Change when it runs. It runs as you from now on."""
    known = _triggers.get(ctx, trigger)
    return _told(
        _triggers.save(ctx, known.resource, body.when(), uid=trigger, active=body.active, parameters=body.parameters)
    )


@routes.delete("/{trigger}", status_code=204)
def delete_trigger(ctx: Writing, trigger: IdText) -> None:
    """End it."""
    _triggers.delete(ctx, trigger)


def _saved(ctx: RequestContext, resource: str, body: Schedule, uid: str | None = None) -> service.Trigger:
    return _triggers.save(ctx, resource, body.when(), uid=uid, active=body.active, parameters=body.parameters)


def _told(found: service.Trigger) -> Trigger:
    return Trigger(
        id=found.id,
        resource=found.resource,
        cron=found.when.cron,
        zone=found.when.zone,
        after=list(found.when.after),
        every=found.when.every,
        active=found.active,
        parameters=dict(found.parameters),
        saved_by=found.saved_by,
        saved_at=time_of(found.saved_at),
        next_at=told(found.next_at),
        last_at=told(found.last_at),
    )
