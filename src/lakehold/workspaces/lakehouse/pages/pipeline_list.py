"""The pipelines of a lakehouse (sources, queries, histories, notebooks, destinations, integrations), as a list and a
graph.
"""

from collections.abc import Sequence

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import resources
from lakehold.catalog.resource_view import ResourceSummary, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.runs.scheduler.service import Trigger
from lakehold.runs.service import Run
from lakehold.web import lineage_page, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.labels import pluralize
from lakehold.web.list_view import ListFilter, ListState
from lakehold.web.resources import workspace_page
from lakehold.web.routing import router
from lakehold.web.runs.runnable_page import sees_runs
from lakehold.web.runs.services import RUNS, TRIGGERS
from lakehold.workspaces.lakehouse.pages import pipeline_graph
from lakehold.workspaces.lakehouse.pages.page_frame import need_lakehouse
from lakehold.workspaces.lakehouse.pages.pipeline_graph import PIPELINE_KINDS
from lakehold.workspaces.registry import describe_kind

routes = router("/workspaces")

_MAX_GRAPH_NODES = 60


@routes.get("/{uid:path}/pipelines")
def pipelines_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the pipelines that the caller may see, with their last runs."""
    need_lakehouse(ctx, uid)
    titles = {kind: pluralize(ctx.view.policy.kind(kind).schema.title) for kind in PIPELINE_KINDS}
    listing = ListState.from_request(request, ("name",), (ListFilter("kind", "Kind", tuple(titles.items())),))
    among = (listing.chosen["kind"],) if listing.chosen["kind"] else PIPELINE_KINDS
    found = resources.find(ctx, among=among, within=uid, **listing.query)
    last = _last_runs(ctx, found.items)
    values: dict[str, object] = {
        **_frame(ctx, uid),
        "listing": listing,
        "rows": [(each, last.get(each.uid), _triggers(ctx, each)) for each in found.items],
        "after": found.after or "",
    }
    return pages.render(request, "lakehouse/pipelines.html", values)


@routes.get("/{uid:path}/pipelines/graph")
def graph_page(request: Request, ctx: ReadContext, uid: str, focus: str = "") -> Response:
    """Render the pipelines as a graph."""
    need_lakehouse(ctx, uid)
    eyes = VisibleRefs(ctx)
    found = resources.find(ctx, among=PIPELINE_KINDS, within=uid, limit=_MAX_GRAPH_NODES)
    links = pipeline_graph.pipeline_links(ctx, eyes, [item.uid for item in found.items])
    things = lineage_page.all_nodes(links, [item.uid for item in found.items])
    near = eyes.ref(focus) if focus in things else None
    if near is not None:
        things = lineage_page.connected_nodes(links, focus)
        links = [pair for pair in links if set(pair) <= things.keys()]
    columns = lineage_page.assign_columns(links, things)
    nodes = {each: (columns[each], pipeline_graph.node_box(ctx, eyes, each)) for each in things}
    drawn = [item for item in found.items if item.uid in things]
    last = _last_runs(ctx, drawn)
    values: dict[str, object] = {
        **_frame(ctx, uid),
        "drawing": lineage_page.layout_graph(nodes, links, focus if near else None),
        "states": {each: run.state for each, run in last.items()},
        "pipelines": frozenset(item.uid for item in drawn),
        "focus": near,
        "cut": found.after is not None,
        "box": (lineage_page.WIDTH, lineage_page.HEIGHT),
    }
    return pages.render(request, "lakehouse/graph.html", values)


def _frame(ctx: RequestContext, uid: str) -> dict[str, object]:
    return {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Pipelines"),
        "at": urls.workspace(uid, "pipelines"),
        "makes": [
            workspace_page.create_action(ctx, ctx.view.policy.kind(kind).schema, uid)
            for kind in PIPELINE_KINDS
            if describe_kind(kind).create_form
        ],
    }


def _triggers(ctx: RequestContext, item: ResourceSummary) -> list[Trigger] | None:
    """Return the triggers of a pipeline; None if it cannot be run, or the caller may not see its runs."""
    return TRIGGERS.for_resource(ctx, item.uid) if sees_runs(item) else None


def _last_runs(ctx: RequestContext, items: Sequence[ResourceSummary]) -> dict[str, Run]:
    return RUNS.last_runs(ctx, [item.uid for item in items if sees_runs(item)])
