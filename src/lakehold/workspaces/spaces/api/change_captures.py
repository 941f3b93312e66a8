"""Endpoints of change data capture: the replication slots of a landing task."""

from pydantic import Field

from lakehold.api.http.dependencies import ReadContext
from lakehold.api.http.models import IdText, RecordEnd, ResponseModel
from lakehold.api.http.routing import make_router
from lakehold.connectors.database.change_capture.messages import format_lsn
from lakehold.directory.request_context import RequestContext
from lakehold.workspaces.graph import need_kind
from lakehold.workspaces.spaces import change_captures
from lakehold.workspaces.spaces.change_captures import ChangeCapture
from lakehold.workspaces.spaces.settings import TASK_KIND

routes = make_router("/api/v1/tasks", "Data tasks")


class ChangeCaptureJson(ResponseModel):
    """A replication slot of a landing task, and what it does to its source database."""

    slot: str = Field(examples=["lakehold_37b11a342223_1_40"], description="Also the name of the publication.")
    connection: str = Field(examples=["4fK0aQx9Zb"], description="Empty if it was deleted.")
    confirmed: str = Field(examples=["0/2A2D020"], description="Up to where in the log all datasets have the changes.")
    retained: int = Field(examples=[17860128], description="The bytes of its log that the database keeps for the slot.")
    problem: str = Field(examples=[""], description="What is wrong with the slot; empty if nothing is.")
    checked_at: RecordEnd = Field(examples=["2031-05-04T10:30:00Z"], description="When the slot was looked at.")


class ChangeCapturesJson(ResponseModel):
    """The replication slots of a task."""

    items: list[ChangeCaptureJson]


@routes.get("/{task}/change-captures")
def list_change_captures(ctx: ReadContext, task: IdText) -> ChangeCapturesJson:
    """List the replication slots of a landing task: one, or none, or more while an old one is not dropped yet."""
    need_kind(ctx, task, "open", (TASK_KIND,))
    return ChangeCapturesJson(items=[_render(ctx, each) for each in change_captures.list_of_task(ctx, task)])


def _render(ctx: RequestContext, capture: ChangeCapture) -> ChangeCaptureJson:
    values = {
        "slot": capture.slot,
        "connection": ctx.view.uids.get(capture.connection) or "",
        "confirmed": format_lsn(capture.state.confirmed),
        "retained": capture.retained,
        "problem": capture.problem,
        "checked_at": capture.checked_at,
    }
    return ChangeCaptureJson.model_validate(values)
