"""Endpoints of resources of every kind, their moves, the transfer of ownership, and their secrets."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated

from fastapi import Depends, Query, Request, Response
from pydantic import Field, SecretStr

from lakehold.api.access.what_if import EffectGroupsJson
from lakehold.api.catalog import resource_usage, schemas
from lakehold.api.catalog.schemas import (
    Attributes,
    Description,
    Edges,
    KindName,
    ResourceId,
    ResourceJson,
    SettingsJson,
    SummaryJson,
)
from lakehold.api.http.dependencies import (
    CreateContext,
    CurrentPlatform,
    ReadContext,
    WriteContext,
    get_platform,
    read_transaction,
)
from lakehold.api.http.models import GENERATED_ID, IdText, IfMatch, NameText, RequestModel, ResponseModel, Word
from lakehold.api.http.paging import ListParams, PageResponse
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.catalog import credentials, kinds, ownership, resource_edit, resource_view, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.runs import sql_definitions
from lakehold.runs.sql_definitions import SqlDefinition

routes = make_router("/api/v1/resources", "Resources")


class NewResource(RequestModel):
    """A resource to create. Its parent is one of its edges."""

    kind: KindName
    name: NameText
    id: IdText | None = Field(default=None, examples=["orders"], description=GENERATED_ID)
    edges: Edges = Field(default_factory=dict)
    attributes: Attributes = Field(default_factory=dict)
    description: Description = ""
    settings: SettingsJson = Field(default_factory=dict)


class ResourceUpdate(RequestModel):
    """Changes of a resource; what is left out stays."""

    name: NameText | None = None
    description: Description | None = None
    settings: SettingsJson | None = None
    attributes: Attributes = Field(default_factory=dict)
    edges: Edges = Field(
        default_factory=dict, description="All targets of each named edge. Targets that the caller cannot see are kept."
    )


class MoveTargetBody(RequestModel):
    """The new parent of a resource."""

    to: IdText = Field(examples=["clean"])


class OwnershipTransferBody(RequestModel):
    """The role to transfer, and to whom."""

    role: Word = Field(examples=["owner"])
    to: IdText = Field(examples=["tim"])
    from_member: IdText | None = Field(
        default=None, examples=["tara"], description="May be left out where one person holds it."
    )


class RestoreBody(RequestModel):
    """The name of a restored resource."""

    name: NameText | None = Field(default=None, examples=[None], description="Default: the one that it had.")


class DeletionResultJson(ResponseModel):
    """The result of a deletion."""

    restorable: bool = Field(description="Whether others still point at it, so that it can be restored.")


@routes.get("")
def list_resources(
    ctx: ReadContext,
    listed: ListParams,
    kind: Annotated[list[KindName] | None, Query(max_length=50, description="Only these kinds; default: all.")] = None,
    action: Annotated[
        Word | None,
        Query(
            description="Only those on which the caller may perform this action; requires one kind.", examples=["read"]
        ),
    ] = None,
    within: Annotated[ResourceId | None, Query(description="Only in this layer, project, workspace …")] = None,
) -> PageResponse[SummaryJson]:
    """List the resources that the caller may see, of one kind, of some, or of all."""
    needed = action if kind is not None and len(kind) == 1 else None
    found = resources.find(ctx, among=kind, action=needed, within=within, **asdict(listed))
    return PageResponse[SummaryJson].model_validate(found)


def _analyse(request: Request, find: Callable[[RequestContext], SqlDefinition | None]) -> list[str] | None:
    caller, definition = read_transaction(request).run(lambda ctx: (ctx.caller, find(ctx)))
    return sql_definitions.analyse(get_platform(request), caller, definition) if definition else None


def _analyse_new(request: Request, body: NewResource) -> list[str] | None:
    """Return the tables that the query in the settings reads; refuse one that cannot be run."""
    return _analyse(request, lambda ctx: sql_definitions.find_definition(ctx, body.kind, body.settings, body.edges.get))


def _analyse_edit(request: Request, resource: ResourceId, body: ResourceUpdate) -> list[str] | None:
    """Return the tables that the query in the changed settings reads; refuse one that cannot be run."""

    def find(ctx: RequestContext) -> SqlDefinition | None:
        if body.settings is None or not VisibleRefs(ctx).sees(resource):
            return None
        found = resource_view.load_resource(ctx, resource)

        def ends(edge: str) -> list[str]:
            return body.edges.get(edge) or [end.uid for end in found.edges.get(edge, ())]

        before, after = (
            sql_definitions.find_definition(ctx, found.kind, settings or {}, ends)
            for settings in (found.settings, body.settings)
        )
        return after if after != before else None

    return _analyse(request, find)


NewReads = Annotated[list[str] | None, Depends(_analyse_new)]
EditedReads = Annotated[list[str] | None, Depends(_analyse_edit)]


@routes.post("", status_code=201)
def create_resource(ctx: CreateContext, body: NewResource, reads: NewReads) -> ResourceJson:
    """Create a resource."""
    created = resources.create(
        ctx,
        body.kind,
        body.name,
        uid=ctx.accept_id(body.id),
        edges=body.edges,
        attributes=body.attributes,
        description=body.description,
        settings=body.settings,
        managed=sql_definitions.managed_settings(body.kind, reads),
    )
    return schemas.load_resource_json(ctx, created)


@routes.get("/{resource}")
def get_resource(ctx: ReadContext, platform: CurrentPlatform, resource: ResourceId) -> ResourceJson:
    """Get a resource, as the caller may see it."""
    found = resources.get(ctx, resource)
    resource_usage.record(platform, ctx, ctx.view.policy.kind(found.kind).schema.visible, resource)
    return ResourceJson.model_validate(found)


@routes.patch("/{resource}", responses=problem_responses(412, 428))
def edit_resource(
    ctx: WriteContext,
    platform: CurrentPlatform,
    resource: ResourceId,
    body: ResourceUpdate,
    seen: IfMatch,
    reads: EditedReads,
) -> ResourceJson:
    """Change name, description, settings, attributes and edges of a resource, all or nothing."""
    ctx.need_visible(resource, "edit")
    managed = sql_definitions.managed_settings(kinds.schema_of(ctx.view, resource).id, reads)
    edit = ResourceEdit(body.name, body.description, body.settings, managed, body.attributes, body.edges)
    plan = resource_edit.plan_edit(ctx, resource, edit)
    seen.need(schemas.load_resource_json(ctx, resource))
    resource_edit.apply_edit_plan(ctx, plan)
    right = ctx.session.read_view(lambda view: kinds.edit_right(view, resource))
    if right is not None:
        resource_usage.record(platform, ctx, right.action, resource)
    return schemas.load_resource_json(ctx, resource)


@routes.delete("/{resource}")
def delete_resource(ctx: WriteContext, resource: ResourceId) -> DeletionResultJson:
    """Delete a resource.

    Where the model knows deleted ones and others point at it, it can be restored. What lies in it must go first.
    """
    return DeletionResultJson(restorable=not resources.delete(ctx, resource))


@routes.post(
    "/{resource}/restore",
    response_model=ResourceJson,
    responses={204: {"description": "Restored, and not visible to the caller"}},
)
def restore_resource(
    ctx: WriteContext, resource: ResourceId, body: RestoreBody | None = None
) -> ResourceJson | Response:
    """Restore a resource that was deleted while others pointed at it.

    Another name is needed if its own was taken meanwhile.

    The caller need not see it: it is enough to see what points at it, and to have the right.
    """
    resources.restore(ctx, resource, (body.name if body else None) or "")
    visible = ctx.session.can_see(ctx.principal, resource)
    return schemas.load_resource_json(ctx, resource) if visible else Response(status_code=204)


@routes.post("/{resource}/move", responses=problem_responses(412, 428))
def move_resource(ctx: WriteContext, resource: ResourceId, body: MoveTargetBody, seen: IfMatch) -> ResourceJson:
    """Move a resource to another parent.

    Its own grants stay; inherited rights change. Rights are needed on both sides.
    """
    resource_edit.need_reparent(ctx, resource, body.to)
    seen.need(schemas.load_resource_json(ctx, resource))
    resource_edit.reparent(ctx, resource, body.to)
    return schemas.load_resource_json(ctx, resource)


@routes.post("/{resource}/move/preview")
def preview_move(ctx: ReadContext, resource: ResourceId, body: MoveTargetBody) -> EffectGroupsJson:
    """Preview which rights members would gain and lose by a move. For those who may make it."""
    return EffectGroupsJson.model_validate(resource_edit.preview_reparent(ctx, resource, body.to))


@routes.post("/{resource}/take-over")
def take_over_definition(ctx: WriteContext, resource: ResourceId) -> ResourceJson:
    """Become the author of a definition as it is.

    Its runs need your rights from now on, beside those of their starter.
    """
    resource_edit.take_over(ctx, resource)
    return schemas.load_resource_json(ctx, resource)


@routes.post("/{resource}/transfer")
def transfer_ownership(ctx: WriteContext, resource: ResourceId, body: OwnershipTransferBody) -> ResourceJson:
    """Transfer a role to another member, in one step."""
    ownership.transfer_role(ctx, resource, body.role, body.to, from_=body.from_member)
    return schemas.load_resource_json(ctx, resource)


credential_routes = make_router("/api/v1/resources/{resource}/credentials", "Credentials")

Secret = Annotated[SecretStr, Field(min_length=1, max_length=credentials.MAX_LENGTH, examples=["correct horse"])]


class CredentialNames(ResponseModel):
    """The names of the secrets that are set, without their values."""

    names: list[str] = Field(examples=[["password"]])


class CredentialsUpdate(RequestModel):
    """Secrets to set; null removes one, and those left out stay."""

    credentials: Annotated[
        dict[IdText, Secret | None], Field(min_length=1, max_length=50, examples=[{"password": "correct horse"}])
    ]


class CredentialValues(ResponseModel):
    """Secrets with their values."""

    credentials: dict[str, str] = Field(examples=[{"password": "correct horse"}])


@credential_routes.get("")
def list_credentials(ctx: ReadContext, resource: ResourceId) -> CredentialNames:
    """List the names of a resource's secrets. For those who may edit it or copy them."""
    return CredentialNames(names=credentials.list_names(ctx, resource))


@credential_routes.patch("")
def set_credentials(ctx: WriteContext, resource: ResourceId, body: CredentialsUpdate) -> CredentialNames:
    """Set or remove secrets of a resource."""
    values = {name: None if secret is None else secret.get_secret_value() for name, secret in body.credentials.items()}
    credentials.save(ctx, resource, values)
    return CredentialNames(names=credentials.list_names(ctx, resource))


@credential_routes.post("/copy")
def copy_credentials(ctx: WriteContext, platform: CurrentPlatform, resource: ResourceId) -> CredentialValues:
    """Copy the secrets of a resource.

    Needs the right `copy_credentials`, and is recorded in the audit log.
    """
    found = credentials.copy(ctx, resource)
    resource_usage.record(platform, ctx, credentials.COPY, resource)
    return CredentialValues(credentials=found)
