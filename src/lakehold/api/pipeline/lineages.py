"""Lineage: what a table or pipeline is made from, and what reads it, as far as the caller sees."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from lakehold.api.catalog.shown import KindName
from lakehold.api.frame.models import Answer, IdText, NameText
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Reading
from lakehold.directory.request_context import RequestContext
from lakehold.workspaces.lakehouse import lineage
from lakehold.workspaces.lakehouse.lineage import MAX_DEPTH, LineageDirection

routes = router("/api/v1/lineage", "Lineage")

Depth = Annotated[int, Query(ge=1, le=MAX_DEPTH, description="How many steps away is looked.")]
"""A table to the pipeline that writes it is one step."""


class LineageItem(Answer):
    """Something that rows come from or go into."""

    id: IdText
    kind: KindName
    name: NameText
    steps: int = Field(examples=[1], description="How many steps it is away.")


class LineageLink(Answer):
    """Two of them that rows go between."""

    source: IdText = Field(examples=["orders"])
    target: IdText = Field(examples=["day_totals"])


class LineageSide(Answer):
    """One direction."""

    items: list[LineageItem] = Field(description="The nearest first.")
    links: list[LineageLink] = Field(description="In the direction in which rows go.")
    more: bool = Field(description="Whether there is more that you may not see. How much, nobody is told.")
    cut: bool = Field(description="Whether there is more than is listed: ask for one of these to go on.")


class Lineage(Answer):
    """Where rows come from and go to."""

    up: LineageSide = Field(description="What it is made from.")
    down: LineageSide = Field(description="What reads it, and what is made from that.")


@routes.get("/{resource}")
def get_lineage(ctx: Reading, resource: IdText, depth: Depth = MAX_DEPTH) -> Lineage:
    """What a table, volume or pipeline is made from, and what reads it."""
    lineage.need_lineage(ctx, resource)
    up, down = lineage.upstream(ctx, resource, max_depth=depth), lineage.downstream(ctx, resource, max_depth=depth)
    return Lineage(up=_told(ctx, up, upward=True), down=_told(ctx, down))


@routes.get("/{resource}/impact")
def get_impact(ctx: Reading, resource: IdText, depth: Depth = MAX_DEPTH) -> LineageSide:
    """What reads this, and what is made from that: what a change here may reach."""
    lineage.need_lineage(ctx, resource)
    return _told(ctx, lineage.downstream(ctx, resource, max_depth=depth))


def _told(ctx: RequestContext, side: LineageDirection, *, upward: bool = False) -> LineageSide:
    items = [
        LineageItem(id=ref.uid, kind=ref.kind, name=ref.name, steps=steps)
        for ref, steps in lineage.list_resources(ctx, side)
    ]
    pairs = dict.fromkeys((far, near) if upward else (near, far) for near, far in side.links)
    links = [LineageLink(source=one, target=other) for one, other in pairs]
    return LineageSide(items=items, links=links, more=side.hidden, cut=side.cut)
