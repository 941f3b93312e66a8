"""Resources of every kind."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response
from pydantic import Field

from lakehold.api.catalog import shown, using
from lakehold.api.catalog.shown import (
    Attributes,
    Description,
    Edges,
    KindName,
    ResourceId,
    ResourceJson,
    Settings,
    Sort,
    SummaryJson,
)
from lakehold.api.frame.etags import IfMatch
from lakehold.api.frame.models import Answer, Body, IdText, NameText, Search, Word
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import problems, router
from lakehold.api.frame.works import Creating, House, Reading, Writing
from lakehold.catalog import kinds, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit

routes = router("/api/v1/resources", "Resources")


class NewResource(Body):
    """A resource that is to be: its parent is one of its edges."""

    kind: KindName
    name: NameText
    id: IdText | None = Field(default=None, examples=["orders"], description="Without one it is made.")
    edges: Edges = Field(default_factory=dict)
    attributes: Attributes = Field(default_factory=dict)
    description: Description = ""
    settings: Settings = Field(default_factory=dict)


class ChangedResource(Body):
    """What is to be so afterwards; what is left out stays."""

    name: NameText | None = None
    description: Description | None = None
    settings: Settings | None = None
    attributes: Attributes = Field(default_factory=dict)
    edges: Edges = Field(
        default_factory=dict, description="All ends of each edge that is named. Ends out of the caller's sight stay."
    )


class Deleted(Answer):
    """What became of it."""

    restorable: bool = Field(description="Whether others still point at it, so that it can be restored.")


@routes.get("")
def list_resources(
    ctx: Reading,
    paged: Paged,
    kind: Annotated[list[KindName] | None, Query(max_length=50, description="Of these kinds; of all without.")] = None,
    action: Annotated[
        Word | None, Query(description="That the caller may do this with; goes with one kind.", examples=["read"])
    ] = None,
    within: Annotated[ResourceId | None, Query(description="In this layer, project, workspace …")] = None,
    search: Annotated[Search, Query(description="A part of the name.")] = "",
    sort: Sort = "name",
) -> Page[SummaryJson]:
    """The resources that the caller may see, of one kind, of some, or of all."""
    if kind is not None and len(kind) == 1:
        found = resources.page(
            ctx,
            kind[0],
            action=action,
            within=within,
            search=search,
            sort=sort,
            after=paged.after,
            limit=paged.limit,
        )
    else:
        found = resources.find(ctx, search, among=kind, within=within, sort=sort, after=paged.after, limit=paged.limit)
    return Page(items=[shown.summary(item) for item in found.items], next=found.after)


@routes.post("", status_code=201)
def create_resource(ctx: Creating, body: NewResource) -> ResourceJson:
    """Make a resource."""
    made = resources.create(
        ctx,
        body.kind,
        body.name,
        uid=body.id,
        edges=shown.one_or_many(body.edges),
        attributes=body.attributes,
        description=body.description,
        settings=body.settings,
    )
    return shown.shown(ctx, made)


@routes.get("/{resource}")
def get_resource(ctx: Reading, platform: House, resource: ResourceId) -> ResourceJson:
    """A resource, as the caller may see it."""
    found = resources.get(ctx, resource)
    using.note(platform, ctx, ctx.view.policy.kind(found.kind).schema.visible, resource)
    return shown.resource(found)


@routes.patch("/{resource}", responses=problems(412, 428))
def edit_resource(
    ctx: Writing, platform: House, resource: ResourceId, body: ChangedResource, seen: IfMatch
) -> ResourceJson:
    """Change what a resource says: name, description, settings, attributes and edges, all or nothing."""
    wanted = ResourceEdit(
        name=body.name,
        description=body.description,
        settings=body.settings,
        attributes=body.attributes,
        edges=shown.one_or_many(body.edges),
    )
    plan = resource_edit.plan_edit(ctx, resource, wanted)
    seen.need(shown.shown(ctx, resource))
    resource_edit.apply_edit_plan(ctx, plan)
    right = ctx.session.read_view(lambda view: kinds.edit_right(view, resource))
    if right is not None:
        using.note(platform, ctx, right.action, resource)
    return shown.shown(ctx, resource)


@routes.delete("/{resource}")
def delete_resource(ctx: Writing, resource: ResourceId) -> Deleted:
    """Delete a resource.

    Where the model knows deleted ones and others point at it, it can be restored. What lies in it must go first.
    """
    return Deleted(restorable=not resources.delete(ctx, resource))


@routes.post(
    "/{resource}/restore",
    response_model=ResourceJson,
    responses={204: {"description": "It is back, and not visible to the caller"}},
)
def restore_resource(ctx: Writing, resource: ResourceId) -> ResourceJson | Response:
    """Bring back what was deleted while others pointed at it.

    Who may need not see it: a Technical User restores the destination of a report that they see.
    """
    resources.restore(ctx, resource)
    return shown.shown(ctx, resource) if ctx.session.can_see(ctx.asker, resource) else Response(status_code=204)
