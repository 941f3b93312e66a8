"""Endpoints of data tasks: validate, prepare, and preview a dataset of a transform before it is saved."""

from typing import Annotated, Any

from fastapi import Request
from pydantic import Field

from lakehold.api.catalog.schemas import SettingsJson
from lakehold.api.http.dependencies import CreateContext, CurrentPlatform, read_transaction
from lakehold.api.http.models import IdText, RequestModel, ResponseModel
from lakehold.api.http.routing import WORKER_CALL, make_router, problem_responses
from lakehold.api.lake.queries import OwnQueryUid
from lakehold.api.runs import RunJson
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.workspaces.spaces import validation
from lakehold.workspaces.spaces.datasets import DesignState
from lakehold.workspaces.spaces.validation import TaskProblem

routes = make_router("/api/v1/tasks", "Data tasks")


class TaskProblemJson(ResponseModel):
    """Something that keeps a task from being prepared or run."""

    message: str = Field(examples=["Step 3 (select): There is no column 'amount'."])
    hint: str = Field(examples=["There are: id, name."])
    field: str = Field(examples=["datasets.0.steps.2.columns"], description="The path of the setting; may be empty.")


class DatasetPlanJson(ResponseModel):
    """The change that prepare makes to the table of a dataset."""

    name: str = Field(examples=["orders"])
    change: str = Field(
        examples=["create"],
        description="none, create, alter, recreate, drop, register, unregister, or later (by a run).",
    )
    columns: list[tuple[str, str]] = Field(examples=[[["id", "bigint"]]], description="As they will be.")
    details: list[str] = Field(examples=[["name (string) is added."]])
    loses_values: bool = Field(description="Whether it is done only where recreating is allowed.")


class TaskValidationJson(ResponseModel):
    """The result of validating a task."""

    state: str = Field(examples=["ready to prepare"], description="new, ready to prepare, or ready to run.")
    problems: list[TaskProblemJson]
    datasets: list[DatasetPlanJson] = Field(description="What prepare would do; empty if something is wrong.")


class PrepareBody(RequestModel):
    """The options of preparing a task."""

    recreate: bool = Field(default=False, description="Whether tables may be made anew, or dropped, with their rows.")


class TransformPreviewBody(RequestModel):
    """A dataset of a transform task, perhaps not saved yet."""

    dataset: SettingsJson = Field(examples=[{"name": "paid", "sql": "SELECT * FROM land.orders"}])
    step: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="The visual step whose result is shown; 0 is the start. Without it, the last one."
    )
    id: OwnQueryUid = None


class TransformPreviewJson(ResponseModel):
    """The query of a dataset, with its columns and first rows."""

    sql: str = Field(examples=["SELECT * FROM land.orders"])
    fields: list[dict[str, str]] = Field(examples=[[{"name": "id", "type": "bigint"}]])
    rows: list[list[Any]] | None = Field(examples=[[[1]]], description="Null for those who may not view the data.")


@routes.post("/{task}/validate", **WORKER_CALL)
def validate_task(request: Request, platform: CurrentPlatform, task: IdText) -> TaskValidationJson:
    """Validate a task, and list what prepare would do to its tables. Nothing is changed."""

    def find(ctx: RequestContext) -> tuple[Caller, list[TaskProblem], DesignState]:
        validation.need_validate(ctx, task)
        return ctx.caller, *validation.find_problems(ctx, task)

    caller, problems, state = read_transaction(request).run(find)
    return TaskValidationJson.model_validate(validation.validate_task(platform, caller, task, problems, state))


@routes.post("/{task}/prepare", status_code=202, responses=problem_responses(409))
def prepare_task(ctx: CreateContext, task: IdText, body: PrepareBody) -> RunJson:
    """Start the run that creates and alters the tables of a task, as you and in the context of the project's owner.

    A change that loses values fails, unless `recreate` is set. Validate tells beforehand.
    """
    return RunJson.model_validate(validation.start_prepare(ctx, task, recreate=body.recreate))


@routes.post("/{task}/preview", **WORKER_CALL)
def preview_transform(
    request: Request, platform: CurrentPlatform, task: IdText, body: TransformPreviewBody
) -> TransformPreviewJson:
    """Preview a dataset of a transform task, or a visual step of it, for those who may update the task."""
    caller = read_transaction(request).run(lambda ctx: validation.need_preview(ctx, task))
    asked = {"task": task, "dataset": body.dataset, "step": body.step}
    return TransformPreviewJson.model_validate(validation.preview(platform, caller, asked, body.id or ""))
