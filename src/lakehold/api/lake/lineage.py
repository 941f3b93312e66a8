"""Endpoints of lineage, as far as the caller may see it."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from lakehold.api.catalog.schemas import RefJson
from lakehold.api.http.dependencies import ReadContext
from lakehold.api.http.models import IdText, ResponseModel
from lakehold.api.http.routing import make_router
from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.lake.lineage import MAX_DEPTH, Lineage, LineageDirection, list_resources
from lakehold.workspaces.registry import find_lineage

routes = make_router("/api/v1/lineage", "Lineage")

Depth = Annotated[int, Query(ge=1, le=MAX_DEPTH, description="Maximum distance in steps.")]
"""A table to the pipeline that writes it is one step."""


class LineageItemJson(RefJson):
    """A resource that rows come from or go to."""

    steps: int = Field(examples=[1], description="Distance in steps.")


class LineageLinkJson(ResponseModel):
    """A pair of resources between which rows flow."""

    source: IdText = Field(examples=["orders"])
    target: IdText = Field(examples=["day_totals"])


class LineageSideJson(ResponseModel):
    """Lineage in one direction."""

    items: list[LineageItemJson] = Field(description="The nearest first.")
    links: list[LineageLinkJson] = Field(description="In the direction in which rows go.")
    more: bool = Field(description="Whether there is more that you may not see.")
    cut: bool = Field(description="Whether the list was cut off.")


class LineageJson(ResponseModel):
    """Upstream and downstream lineage."""

    up: LineageSideJson = Field(description="Upstream lineage.")
    down: LineageSideJson = Field(description="Downstream lineage.")


@routes.get("/{resource}")
def get_lineage(ctx: ReadContext, resource: IdText, depth: Depth = MAX_DEPTH) -> LineageJson:
    """Get the upstream and downstream lineage of a table, volume or pipeline."""
    lineage = _need_lineage(ctx, resource)
    up, down = lineage.upstream(ctx, resource, max_depth=depth), lineage.downstream(ctx, resource, max_depth=depth)
    return LineageJson(up=_side_json(ctx, up, upward=True), down=_side_json(ctx, down))


@routes.get("/{resource}/impact")
def get_impact(ctx: ReadContext, resource: IdText, depth: Depth = MAX_DEPTH) -> LineageSideJson:
    """Get the resources that a change of this one may affect."""
    return _side_json(ctx, _need_lineage(ctx, resource).downstream(ctx, resource, max_depth=depth))


def _need_lineage(ctx: RequestContext, uid: str) -> Lineage:
    """Return the lineage of a resource's kind, if the caller sees the resource and it can have one."""
    ctx.need_visible(uid)
    schema = kinds.schema_of(ctx.view, uid)
    found = find_lineage(schema.id)
    if found is None:
        raise InvalidInputError(f"A {schema.title.lower()} has no lineage.", "Choose a table, a volume or a pipeline.")
    return found


def _side_json(ctx: RequestContext, side: LineageDirection, *, upward: bool = False) -> LineageSideJson:
    items = [
        LineageItemJson(id=ref.uid, kind=ref.kind, name=ref.name, steps=steps)
        for ref, steps in list_resources(ctx, side)
    ]
    pairs = dict.fromkeys((far, near) if upward else (near, far) for near, far in side.links)
    links = [LineageLinkJson(source=one, target=other) for one, other in pairs]
    return LineageSideJson(items=items, links=links, more=side.hidden, cut=side.cut)
