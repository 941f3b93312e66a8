"""The pipelines of a lakehouse: their kinds, their list, and the graph that they form with the tables."""

from collections.abc import Iterable, Sequence

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import kinds, resources
from lakehold.catalog.resource_view import ResourceSummary, ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.runs.scheduler.service import Trigger
from lakehold.runs.service import Run
from lakehold.web import lineage_page, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.labels import pluralize
from lakehold.web.list_view import ListFilter, ListState
from lakehold.web.resources import workspace_page
from lakehold.web.routing import router
from lakehold.web.runs import RUNS, TRIGGERS
from lakehold.web.runs.runnable_page import sees_runs
from lakehold.workspaces.graph import edge_sources, edge_targets
from lakehold.workspaces.lakehouse.pages.page_frame import need_lakehouse
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND, TABLE_KIND
from lakehold.workspaces.lakehouse.volumes import VOLUME_KIND
from lakehold.workspaces.lakehouse.workspace import WORKSPACE
from lakehold.workspaces.registry import describe_kind

routes = router("/workspaces")

_MAX_GRAPH_NODES = 60
PIPELINE_KINDS = tuple(kind for kind, found in WORKSPACE.kind_descriptors().items() if found.overview == "pipeline")
"""The kinds that move data."""


def need_pipeline(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the pipeline; raise InvalidInputError if the resource is not one."""
    found = resources.get(ctx, uid)
    if found.kind not in PIPELINE_KINDS:
        title = kinds.catalog_kind(ctx.view.policy, found.kind).title
        raise InvalidInputError(f"A {title.lower()} is not a pipeline.", "Open the list of pipelines.")
    return found


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
    visible = VisibleRefs(ctx)
    found = resources.find(ctx, among=PIPELINE_KINDS, within=uid, limit=_MAX_GRAPH_NODES)
    links = pipeline_links(ctx, visible, [item.uid for item in found.items])
    things = lineage_page.all_nodes(links, [item.uid for item in found.items])
    near = visible.ref(focus) if focus in things else None
    if near is not None:
        things = lineage_page.connected_nodes(links, focus)
        links = [pair for pair in links if set(pair) <= things.keys()]
    columns = lineage_page.assign_columns(links, things)
    nodes = {each: (columns[each], _node_box(ctx, visible, each)) for each in things}
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


_PLANNED_TABLE = "\0"
"""Between a pipeline and the layer in which its table will be made: no id has it in it."""


def pipeline_links(ctx: RequestContext, visible: VisibleRefs, pipelines: Iterable[str]) -> list[lineage_page.Link]:
    """Return each link between a pipeline and a table once, in the direction of the data."""
    found: dict[lineage_page.Link, None] = {}
    for uid in pipelines:
        for end in visible.refs(edge_targets(ctx, uid, "reads")):
            found[end.uid, uid] = None
        for end in visible.refs(written_ids(ctx, visible, uid)):
            found[uid, f"{uid}{_PLANNED_TABLE}{end.uid}" if end.kind == LAYER_KIND else end.uid] = None
    return list(found)


def written_ids(ctx: RequestContext, visible: VisibleRefs, uid: str) -> list[str]:
    """Return the ids that a pipeline writes, visible or not: its own, those of visible streams, or the target layer."""
    seen = [each for each in stream_ids(ctx, uid) if visible.sees(each)]
    own = [end for each in (uid, *seen) for end in edge_targets(ctx, each, "writes")]
    return list(dict.fromkeys(own or edge_targets(ctx, uid, "into")))


def stream_ids(ctx: RequestContext, uid: str) -> list[str]:
    """Return the ids of the streams of a source, visible or not."""
    return sorted(edge_sources(ctx, uid, "source"))


def _node_box(ctx: RequestContext, visible: VisibleRefs, uid: str) -> lineage_page.GraphBox:
    """Return the box of a node. A table names its layer."""
    pipeline, _, layer = uid.partition(_PLANNED_TABLE)
    found = visible.ref(layer or pipeline)
    assert found is not None  # noqa: S101 - only what is seen was followed
    if layer:
        return lineage_page.GraphBox(
            f"Table in {found.name}", "Not created yet", "circle-dashed", resource_header.overview_url(ctx, layer), uid
        )
    title = ctx.view.policy.kind(found.kind).schema.title
    above = visible.parent(uid) if found.kind in {TABLE_KIND, VOLUME_KIND} else None
    return lineage_page.resource_box(
        f"{title} in {above.name}" if above else title, found, resource_header.overview_url(ctx, uid)
    )
