"""The lineage page: what a resource is made from and what reads it, as a graph and as a list."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import resources
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake import lineage
from lakehold.lake.lineage import MAX_DEPTH, Lineage, LineageDirection
from lakehold.web import pages
from lakehold.web.access import resource_header
from lakehold.web.lineage import resource_graph
from lakehold.web.lineage.resource_graph import GraphDrawing
from lakehold.web.routing import router
from lakehold.web.tables.page_frame import table_frame
from lakehold.workspaces.descriptor import LINEAGE_PAGE
from lakehold.workspaces.registry import describe_kind, find_lineage

routes = router("/resources")

_DEFAULT_STEPS = 2


@routes.get("/{uid:path}/lineage")
def lineage_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the lineage."""
    found, followed = _need_lineage(ctx, uid)
    up, down = followed.upstream(ctx, uid), followed.downstream(ctx, uid)
    whole = bool(request.query_params.get("all"))
    near = (up, down) if whole else (up.limit_depth(_DEFAULT_STEPS), down.limit_depth(_DEFAULT_STEPS))
    values = {
        "up": up,
        "down": down,
        "made_from": lineage.list_resources(ctx, up),
        "read_by": lineage.list_resources(ctx, down),
        "drawing": lineage_drawing(ctx, uid, *near),
        "whole": whole,
        "no_upstream": followed.no_upstream,
        "no_downstream": followed.no_downstream,
        "goes_on": (up, down) != near,
    }
    return pages.render(request, "lineage/lineage.html", table_frame(ctx, found, LINEAGE_PAGE.part) | values)


def _need_lineage(ctx: RequestContext, uid: str) -> tuple[ResourceView, Lineage]:
    """Return the resource and how its lineage is followed, if its kind has the page."""
    found = resources.get(ctx, uid)
    followed = find_lineage(found.kind) if LINEAGE_PAGE in describe_kind(found.kind).pages else None
    if followed is None:
        raise NotFoundError(f"There is no table {quote(uid)}.", "Look its name up in the catalog.")
    ctx.need("see", uid)
    return found, followed


def lineage_drawing(ctx: RequestContext, uid: str, up: LineageDirection, down: LineageDirection) -> GraphDrawing:
    """Return both directions as one drawing, with the resource in the middle."""
    eyes = VisibleRefs(ctx)
    to = _box_factory(ctx, eyes)
    left, right = _node_columns(up), _node_columns(down)
    nodes = {("", uid): (0, to(uid))}
    nodes |= {("up", each): (-step, to(each)) for each, step in left.items() if step}
    nodes |= {("down", each): (step, to(each)) for each, step in right.items() if step}
    links = [
        (_node_key("up", far, uid), _node_key("up", near, uid)) for near, far in up.links if left[far] > left[near]
    ]
    links += [
        (_node_key("down", near, uid), _node_key("down", far, uid))
        for near, far in down.links
        if right[far] > right[near]
    ]
    for side, name, end in ((up, "up", -1), (down, "down", 1)):
        if side.hidden:
            nodes[name, "\0"] = (end, resource_graph.GraphBox("More", "Not visible to you", "eye-off"))
            links.append((("", uid), (name, "\0")) if end == 1 else ((name, "\0"), ("", uid)))
    return resource_graph.layout_graph(nodes, list(dict.fromkeys(links)), ("", uid))


def _box_factory(ctx: RequestContext, eyes: VisibleRefs) -> Callable[[str], resource_graph.GraphBox]:
    policy = ctx.view.policy

    def box(uid: str) -> resource_graph.GraphBox:
        ref = eyes.ref(uid)
        assert ref is not None  # noqa: S101 - only what is seen was found
        return resource_graph.resource_box(
            policy.kind(ref.kind).schema.title, ref, resource_header.overview_url(ctx, uid)
        )

    return box


def _node_key(side: str, uid: str, here: str) -> tuple[str, str]:
    return ("", uid) if uid == here else (side, uid)


def _node_columns(side: LineageDirection) -> dict[str, int]:
    """Return how far out each node is drawn: farther than all that lead to it, except in cycles."""
    found = dict(side.steps)
    for _ in range(MAX_DEPTH):
        for near, far in side.links:
            if side.steps[far] and found[near] < MAX_DEPTH:
                found[far] = max(found[far], found[near] + 1)
    return found
