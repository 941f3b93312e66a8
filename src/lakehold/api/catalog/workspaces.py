"""Endpoints of workspaces and their members."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import AliasChoices, Field

from lakehold.api.catalog import schemas
from lakehold.api.catalog.schemas import Attributes, Description, RefJson, ResourceJson, Sort, SubjectId, SummaryJson
from lakehold.api.http.dependencies import CreateContext, ReadContext, WriteContext
from lakehold.api.http.models import (
    IdText,
    NameText,
    RecordEnd,
    RecordTime,
    RequestModel,
    ResponseModel,
    SearchText,
    Time,
    Word,
)
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router
from lakehold.catalog import ownership, workspaces
from lakehold.directory.request_context import RequestContext

routes = make_router("/api/v1/workspaces", "Workspaces")

WorkspaceId = Annotated[IdText, Field(examples=["sales"])]
ModelName = Annotated[Word, Field(examples=["marts"])]


class NewWorkspace(RequestModel):
    """A workspace to create."""

    model: ModelName
    name: NameText = Field(examples=["Sales marts"])
    id: IdText | None = Field(default=None, examples=["sales"], description="Without one it is made.")
    description: Description = ""
    attributes: Attributes = Field(default_factory=dict)


class WorkspaceRoleJson(ResponseModel):
    """A role on the workspace, and its duration."""

    role: Word = Field(validation_alias=AliasChoices("role", "name"))
    title: str = Field(examples=["Technical User"])
    since: RecordTime
    until: RecordEnd = Field(description="Null if it has no end.")


class WorkspaceMember(ResponseModel):
    """A member or group of a workspace."""

    subject: RefJson
    roles: list[WorkspaceRoleJson]
    attributes: dict[str, str] = Field(
        examples=[{"scope": "entire_project"}], description="What belongs to the membership."
    )


class WorkspaceMembers(ResponseModel):
    """The members of a workspace."""

    items: list[WorkspaceMember]


class WorkspaceMemberUpdate(RequestModel):
    """Changes of a membership; what is left out stays."""

    subject: SubjectId
    roles: Annotated[list[Word], Field(max_length=50, examples=[["technical_user"]])] | None = Field(
        default=None, description="All roles that they are to have on the workspace."
    )
    attributes: Attributes = Field(default_factory=dict, examples=[{"scope": "selected_contexts"}])
    until: Time | None = Field(default=None, description="When the roles end.")


@routes.get("")
def list_workspaces(
    ctx: ReadContext,
    paged: PageParams,
    model: Annotated[ModelName | None, Query(description="Of one model.")] = None,
    search: Annotated[SearchText, Query(description="A part of the name.")] = "",
    sort: Sort = "name",
) -> PageResponse[SummaryJson]:
    """List the workspaces that the caller may see."""
    found = workspaces.page(ctx, model=model, search=search, sort=sort, after=paged.after, limit=paged.limit)
    return PageResponse(items=[SummaryJson.model_validate(item) for item in found.items], next=found.after)


@routes.post("", status_code=201)
def create_workspace(ctx: CreateContext, body: NewWorkspace) -> ResourceJson:
    """Create a workspace.

    Its creator gets the role that the model names. It is edited and deleted like every other resource.
    """
    made = workspaces.create(
        ctx, body.model, body.name, uid=body.id, attributes=body.attributes, description=body.description
    )
    return schemas.load_resource_json(ctx, made)


@routes.get("/{workspace}/members")
def list_workspace_members(ctx: ReadContext, workspace: WorkspaceId) -> WorkspaceMembers:
    """List the members of a workspace, with their roles and scope.

    Those who manage its members get all of them, everybody else themself and its owners.
    """
    return _workspace_members_json(ctx, workspace)


@routes.put("/{workspace}/members")
def set_workspace_member(ctx: WriteContext, workspace: WorkspaceId, body: WorkspaceMemberUpdate) -> WorkspaceMembers:
    """Set the roles and scope of a member or group in a workspace."""
    workspaces.set_member(ctx, workspace, body.subject, roles=body.roles, attributes=body.attributes, until=body.until)
    return _workspace_members_json(ctx, workspace)


@routes.delete("/{workspace}/members", status_code=204)
def remove_workspace_member(
    ctx: WriteContext,
    workspace: WorkspaceId,
    subject: SubjectId,
    receiver: Annotated[
        IdText | None, Query(examples=["mona"], description="Who gets what they own in it. Without one it waits.")
    ] = None,
) -> None:
    """Remove a member or group from a workspace.

    What they hold on single resources in it stays, and counts again should they come back; with a receiver, what they
    own is transferred, as far as you may give it away.
    """
    if receiver is not None:
        ownership.transfer_all(ctx, workspace, subject, receiver)
    workspaces.remove_member(ctx, workspace, subject)


def _workspace_members_json(ctx: RequestContext, workspace: str) -> WorkspaceMembers:
    return WorkspaceMembers(items=[WorkspaceMember.model_validate(one) for one in workspaces.members(ctx, workspace)])
