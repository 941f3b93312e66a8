"""Endpoints of data spaces: the caller's personal space, and the monitor of all tasks."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from lakehold.api.catalog import schemas
from lakehold.api.catalog.schemas import RefJson, ResourceId, ResourceJson
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.api.http.models import RecordEnd, ResponseModel
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router
from lakehold.workspaces.spaces import monitor, personal
from lakehold.workspaces.spaces.datasets import DesignState

routes = make_router("/api/v1/data-spaces", "Data spaces")


@routes.put("/personal")
def open_personal_space(ctx: WriteContext) -> ResourceJson:
    """Get your personal data space, which is made by the first call.

    Nobody else can be added to it. Every member has one, without a right to create data spaces.
    """
    uid, _ = personal.ensure(ctx)
    return schemas.load_resource_json(ctx, uid)


class LastRunJson(ResponseModel):
    """The run that last concerned a task, as far as it is about that task."""

    id: str = Field(examples=["run_1f0c3f1de1a44d54"])
    state: str = Field(examples=["succeeded"])
    started_at: RecordEnd = Field(examples=["2031-05-04T10:30:00Z"])
    ended_at: RecordEnd = Field(examples=["2031-05-04T10:31:00Z"])
    rows: int = Field(examples=[1200])
    error: str = Field(examples=[""])
    of_project: bool = Field(description="Whether it was a run of the whole project.")


class TaskStatusJson(ResponseModel):
    """A task in the monitor."""

    task: RefJson
    project: RefJson
    space: RefJson
    design: DesignState = Field(examples=["ready to run"])
    owner_lacks_role: bool = Field(
        description="Whether the owner of the project lacks a role, so that runs are refused."
    )
    sees_runs: bool = Field(description="Whether you may see runs of the task; if not, the next two are null.")
    last: LastRunJson | None
    succeeded_at: RecordEnd = Field(description="When it was last loaded; null if never.")


@routes.get("/monitor")
def monitor_data_tasks(
    ctx: ReadContext,
    paged: PageParams,
    space: Annotated[ResourceId | None, Query(description="Only tasks in this data space.")] = None,
) -> PageResponse[TaskStatusJson]:
    """List all data tasks that you may see, with the state of each, by space, project and name."""
    if space is not None:
        monitor.need_space(ctx, space)
    found = monitor.load(ctx, None if space is None else [space])
    found.sort(key=lambda each: (each.space.name, each.project.name, each.task.name, each.task.uid))
    return paged.slice_page(f"monitor {space or ''}", found, TaskStatusJson.model_validate)
