"""Endpoints of workspaces and their members, and of the kinds of resources that the access models define."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Query
from pydantic import AliasChoices, Field

from lakehold.access.model.policy import Policy
from lakehold.access.model.schema import KindSchema
from lakehold.api.catalog import schemas
from lakehold.api.catalog.schemas import Attributes, Description, RefJson, ResourceJson, SubjectId, SummaryJson
from lakehold.api.http.dependencies import CreateContext, ReadContext, WriteContext
from lakehold.api.http.models import (
    GENERATED_ID,
    IdText,
    ItemsResponse,
    NameText,
    RecordEnd,
    RecordTime,
    RequestModel,
    ResponseModel,
    Time,
    Word,
)
from lakehold.api.http.paging import ListParams, PageResponse
from lakehold.api.http.routing import make_router
from lakehold.catalog import kinds, ownership, workspaces
from lakehold.workspaces import registry

routes = make_router("/api/v1/workspaces", "Workspaces")

WorkspaceId = Annotated[IdText, Field(examples=["sales"])]
ModelName = Annotated[Word, Field(examples=["marts"])]


class NewWorkspace(RequestModel):
    """A workspace to create."""

    model: ModelName
    name: NameText = Field(examples=["Sales marts"])
    id: IdText | None = Field(default=None, examples=["sales"], description=GENERATED_ID)
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
        examples=[{"scope": "entire_project"}], description="Attributes of the membership."
    )


class WorkspaceMemberUpdate(RequestModel):
    """Changes of a membership; what is left out stays."""

    subject: SubjectId
    roles: Annotated[list[Word], Field(max_length=50, examples=[["technical_user"]])] | None = Field(
        default=None, description="The complete list of roles on the workspace."
    )
    attributes: Attributes = Field(default_factory=dict, examples=[{"scope": "selected_contexts"}])
    until: Time | None = Field(default=None, description="When all these roles end, also earlier than before.")


@routes.get("")
def list_workspaces(
    ctx: ReadContext,
    listed: ListParams,
    model: Annotated[ModelName | None, Query(description="Only this model.")] = None,
) -> PageResponse[SummaryJson]:
    """List the workspaces that the caller may see."""
    return PageResponse[SummaryJson].model_validate(workspaces.page(ctx, model=model, **asdict(listed)))


@routes.post("", status_code=201)
def create_workspace(ctx: CreateContext, body: NewWorkspace) -> ResourceJson:
    """Create a workspace.

    Its creator gets the role that the model names. It is edited and deleted like every other resource.
    """
    created = workspaces.create(
        ctx, body.model, body.name, uid=ctx.accept_id(body.id), attributes=body.attributes, description=body.description
    )
    return schemas.load_resource_json(ctx, created)


@routes.get("/{workspace}/members")
def list_workspace_members(ctx: ReadContext, workspace: WorkspaceId) -> ItemsResponse[WorkspaceMember]:
    """List the members of a workspace, with their roles and scope.

    Those who manage its members get all of them, everybody else themself and its owners.
    """
    return ItemsResponse[WorkspaceMember].from_records(workspaces.members(ctx, workspace))


@routes.put("/{workspace}/members")
def set_workspace_member(
    ctx: WriteContext, workspace: WorkspaceId, body: WorkspaceMemberUpdate
) -> ItemsResponse[WorkspaceMember]:
    """Set the roles and scope of a member or group in a workspace."""
    workspaces.set_member(ctx, workspace, body.subject, roles=body.roles, attributes=body.attributes, until=body.until)
    return ItemsResponse[WorkspaceMember].from_records(workspaces.members(ctx, workspace))


@routes.delete("/{workspace}/members", status_code=204)
def remove_workspace_member(
    ctx: WriteContext,
    workspace: WorkspaceId,
    subject: SubjectId,
    receiver: Annotated[
        IdText | None,
        Query(
            examples=["mona"], description="New owner of what they own in it; without one, ownership does not change."
        ),
    ] = None,
) -> None:
    """Remove a member or group from a workspace.

    What they hold on single resources in it stays, and counts again should they come back; with a receiver, what they
    own is transferred, as far as you may give it away.
    """
    if receiver is not None:
        ownership.transfer_all(ctx, workspace, subject, receiver)
    workspaces.remove_member(ctx, workspace, subject)


kind_routes = make_router("/api/v1/kinds", "Kinds")


class RoleJson(ResponseModel):
    """A role that can be held on a resource of the kind."""

    name: Word
    title: str = Field(examples=["Viewer"])
    person_only: bool = Field(description="Whether only a person can hold it.")
    single: bool = Field(description="Whether one holds it at a time.")


class AttributeJson(ResponseModel):
    """An attribute of resources of the kind."""

    name: Word
    values: list[str] = Field(examples=[["false", "true"]])
    default: str = Field(examples=["false"])


class EdgeJson(ResponseModel):
    """An edge of resources of the kind, and the kinds it can point at."""

    name: Word
    to: list[str] = Field(examples=[["lakehouse.table"]])
    many: bool


class KindJson(ResponseModel):
    """A kind of resources."""

    id: str = Field(examples=["lakehouse.table"])
    title: str = Field(examples=["Table"])
    model: str = Field(examples=["lakehouse"])
    is_workspace: bool
    parent: str | None = Field(examples=["layer"], description="The edge to its parent.")
    visible: Word = Field(description="The action that makes it visible.")
    actions: list[str] = Field(examples=[["see", "edit"]])
    roles: list[RoleJson]
    attributes: list[AttributeJson]
    membership: list[AttributeJson] = Field(description="Attributes of a membership in it.")
    edges: list[EdgeJson]
    settings: dict[str, Any] | None = Field(
        examples=[{"type": "object"}], description="The JSON schema of its settings; null if they are free."
    )


@kind_routes.get("")
def list_kinds(
    ctx: ReadContext,
    model: Annotated[Word | None, Query(description="Only this model.", examples=["lakehouse"])] = None,
) -> ItemsResponse[KindJson]:
    """List all kinds of resources, by model."""
    policy = ctx.view.policy
    roots = {root.id for root in kinds.workspace_kinds(policy)}
    found = [kind for kind in kinds.all_kinds(policy) if model is None or kind.model == model]
    return ItemsResponse[KindJson](items=[_kind_json(policy, kind, is_workspace=kind.id in roots) for kind in found])


def _kind_json(policy: Policy, kind: KindSchema, *, is_workspace: bool) -> KindJson:
    steps = policy.kinds[kind.id].steps
    schema = registry.find_settings_schema(kind.id)
    return KindJson(
        id=kind.id,
        title=kind.title,
        model=kind.model,
        is_workspace=is_workspace,
        parent=kind.parent,
        visible=kind.visible,
        actions=list(kind.actions),
        roles=[RoleJson.model_validate(role) for role in kind.roles.values()],
        attributes=[AttributeJson.model_validate(attribute) for attribute in kind.attributes.values()],
        membership=[AttributeJson.model_validate(attribute) for attribute in kind.membership.values()],
        edges=[
            EdgeJson(name=edge.name, to=list(steps[edge.name].kinds), many=edge.many) for edge in kind.edges.values()
        ],
        settings=schema.json_schema() if schema else None,
    )
