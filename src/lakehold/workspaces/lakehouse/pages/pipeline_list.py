"""The pipelines of a lakehouse (sources, queries, histories, notebooks, destinations, integrations), as a list and a
graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import resources
from lakehold.catalog.resource_view import ResourceSummary, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.runs.scheduler.service import Trigger
from lakehold.runs.service import Run
from lakehold.web import lineage_page, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.labels import pluralize
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.navigation import NavLink
from lakehold.web.resources import workspace_page
from lakehold.web.routing import router
from lakehold.web.runs import labels
from lakehold.web.runs.services import RUNS, TRIGGERS
from lakehold.workspaces.lakehouse.pages import pipeline_graph
from lakehold.workspaces.lakehouse.pages.page_frame import need_lakehouse
from lakehold.workspaces.lakehouse.pages.pipeline_graph import PIPELINE_KINDS
from lakehold.workspaces.registry import describe_kind

routes = router("/workspaces")

_COLUMNS = [
    ListColumn("Name", "name"),
    ListColumn("Kind", wide=True),
    ListColumn("Last run"),
    ListColumn("Next run", wide=True),
    ListColumn("State"),
]
_MAX_GRAPH_NODES = 60


@dataclass(frozen=True, slots=True)
class PipelineRow:
    """A pipeline in the list."""

    item: ResourceSummary
    can_run: bool
    last: Run | None
    triggers: Sequence[Trigger]

    @property
    def is_active(self) -> bool:
        """Whether it has an active trigger."""
        return any(trigger.active for trigger in self.triggers)

    @property
    def next_at(self) -> Moment | None:
        """The next time at which a schedule starts it."""
        return min((each.next_at for each in self.triggers if each.active and each.next_at), default=None)

    @property
    def follows(self) -> bool:
        """Whether it runs after others."""
        return any(each.active and not each.when.cron for each in self.triggers)


@routes.get("/{uid:path}/pipelines")
def pipelines_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the pipelines that the caller may see, with their last runs."""
    need_lakehouse(ctx, uid)
    titles = {kind: pluralize(ctx.view.policy.kind(kind).schema.title) for kind in PIPELINE_KINDS}
    listing = ListState.from_request(request, ("name",), (ListFilter("kind", "Kind", tuple(titles.items())),))
    among = (listing.chosen["kind"],) if listing.chosen["kind"] else PIPELINE_KINDS
    sort = f"-{listing.sort}" if listing.descending else listing.sort
    found = resources.find(
        ctx, listing.search, among=among, within=uid, sort=sort, after=listing.after or None, limit=listing.size
    )
    values: dict[str, object] = {
        **_frame(ctx, uid, "pipelines"),
        "listing": listing,
        "columns": _COLUMNS,
        "rows": _rows(ctx, found.items),
        "after": found.after or "",
        "tones": labels.TONES,
        "signs": labels.ICONS,
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
        **_frame(ctx, uid, "pipelines/graph"),
        "drawing": lineage_page.layout_graph(nodes, links, focus if near else None),
        "states": {each: run.state for each, run in last.items()},
        "pipelines": frozenset(item.uid for item in drawn),
        "focus": near,
        "cut": found.after is not None,
        "tones": labels.TONES,
        "box": (lineage_page.WIDTH, lineage_page.HEIGHT),
    }
    return pages.render(request, "lakehouse/graph.html", values)


def _frame(ctx: RequestContext, uid: str, part: str) -> dict[str, object]:
    return {
        "uid": uid,
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Pipelines"),
        "tabs": [
            NavLink("List", urls.workspace(uid, "pipelines"), "workflow"),
            NavLink("Graph", urls.workspace(uid, "pipelines/graph"), "git-branch"),
        ],
        "tab": urls.workspace(uid, part),
        "makes": _create_actions(ctx, uid),
    }


def _create_actions(ctx: RequestContext, uid: str) -> list[PageAction]:
    return [
        workspace_page.create_action(ctx, ctx.view.policy.kind(kind).schema, uid)
        for kind in PIPELINE_KINDS
        if describe_kind(kind).create_form
    ]


def _rows(ctx: RequestContext, items: Sequence[ResourceSummary]) -> list[PipelineRow]:
    last = _last_runs(ctx, items)
    return [PipelineRow(each, _sees_runs(each), last.get(each.uid), _triggers(ctx, each)) for each in items]


def _triggers(ctx: RequestContext, item: ResourceSummary) -> Sequence[Trigger]:
    return TRIGGERS.for_resource(ctx, item.uid) if _sees_runs(item) else ()


def _sees_runs(item: ResourceSummary) -> bool:
    """Return whether it can be run and the caller may see its runs."""
    return item.kind in RUNS.runnables and RUNS.runnables[item.kind].see in item.actions


def _last_runs(ctx: RequestContext, items: Sequence[ResourceSummary]) -> dict[str, Run]:
    return RUNS.last_runs(ctx, [item.uid for item in items if _sees_runs(item)])
