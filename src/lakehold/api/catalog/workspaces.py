"""Workspaces and who is in them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from lakehold.api.catalog import shown
from lakehold.api.catalog.shown import Attributes, Description, RefJson, ResourceJson, Sort, SubjectId, SummaryJson
from lakehold.api.frame.models import Answer, Body, IdText, NameText, Search, Time, Word, time_of, told
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Creating, Reading, Writing
from lakehold.catalog import ownership, workspaces
from lakehold.directory.request_context import RequestContext

routes = router("/api/v1/workspaces", "Workspaces")

WorkspaceId = Annotated[IdText, Field(examples=["sales"])]
ModelName = Annotated[Word, Field(examples=["marts"])]


class NewWorkspace(Body):
    """A workspace that is to be."""

    model: ModelName
    name: NameText = Field(examples=["Sales marts"])
    id: IdText | None = Field(default=None, examples=["sales"], description="Without one it is made.")
    description: Description = ""
    attributes: Attributes = Field(default_factory=dict)


class HeldRole(Answer):
    """A role on the workspace, and for how long."""

    role: Word
    title: str = Field(examples=["Technical User"])
    since: Time
    until: Time | None = Field(description="Null if it has no end.")


class WorkspaceMember(Answer):
    """A member or group of a workspace."""

    subject: RefJson
    roles: list[HeldRole]
    attributes: dict[str, str] = Field(
        examples=[{"scope": "entire_project"}], description="What belongs to the membership."
    )


class WorkspaceMembers(Answer):
    """Who is in a workspace."""

    items: list[WorkspaceMember]


class WantedMember(Body):
    """What is to be so; what is left out stays."""

    subject: SubjectId
    roles: Annotated[list[Word], Field(max_length=50, examples=[["technical_user"]])] | None = Field(
        default=None, description="All roles that they are to have on the workspace."
    )
    attributes: Attributes = Field(default_factory=dict, examples=[{"scope": "selected_contexts"}])
    until: Time | None = Field(default=None, description="When the roles end.")


@routes.get("")
def list_workspaces(
    ctx: Reading,
    paged: Paged,
    model: Annotated[ModelName | None, Query(description="Of one model.")] = None,
    search: Annotated[Search, Query(description="A part of the name.")] = "",
    sort: Sort = "name",
) -> Page[SummaryJson]:
    """The workspaces that the caller may see."""
    found = workspaces.page(ctx, model=model, search=search, sort=sort, after=paged.after, limit=paged.limit)
    return Page(items=[shown.summary(item) for item in found.items], next=found.after)


@routes.post("", status_code=201)
def create_workspace(ctx: Creating, body: NewWorkspace) -> ResourceJson:
    """Make a workspace.

    Its maker gets the role that the model names. It is edited and deleted like every other resource.
    """
    made = workspaces.create(
        ctx, body.model, body.name, uid=body.id, attributes=body.attributes, description=body.description
    )
    return shown.shown(ctx, made)


@routes.get("/{workspace}/members")
def list_workspace_members(ctx: Reading, workspace: WorkspaceId) -> WorkspaceMembers:
    """Who is in a workspace, with which roles and scope.

    Who keeps its members sees all of them, everybody else themself and its owners.
    """
    return _members(ctx, workspace)


@routes.put("/{workspace}/members")
def set_workspace_member(ctx: Writing, workspace: WorkspaceId, body: WantedMember) -> WorkspaceMembers:
    """Let a member or group have these roles and this scope in a workspace."""
    workspaces.set_member(ctx, workspace, body.subject, roles=body.roles, attributes=body.attributes, until=body.until)
    return _members(ctx, workspace)


@routes.delete("/{workspace}/members", status_code=204)
def remove_workspace_member(
    ctx: Writing,
    workspace: WorkspaceId,
    subject: SubjectId,
    receiver: Annotated[
        IdText | None, Query(examples=["mona"], description="Who gets what they own in it. Without one it waits.")
    ] = None,
) -> None:
    """Take a member or group out of a workspace.

    What they hold on single resources in it stays, and counts again should they come back; with a receiver, what they
    own is handed over, as far as you may give it away.
    """
    if receiver is not None:
        ownership.transfer_all(ctx, workspace, subject, receiver)
    workspaces.remove_member(ctx, workspace, subject)


def _members(ctx: RequestContext, workspace: str) -> WorkspaceMembers:
    return WorkspaceMembers(
        items=[
            WorkspaceMember(
                subject=shown.ref(member.subject),
                roles=[
                    HeldRole(role=role.name, title=role.title, since=time_of(role.since), until=told(role.until))
                    for role in member.roles
                ],
                attributes=dict(member.attributes),
            )
            for member in workspaces.members(ctx, workspace)
        ]
    )
