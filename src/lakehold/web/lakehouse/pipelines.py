"""The pipelines of a lakehouse: sources, queries, histories, notebooks, destinations, integrations."""

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
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.labels import pluralize
from lakehold.web.lakehouse import graphs, saying, ways
from lakehold.web.lakehouse.doing import PIPELINES, RUNS, TRIGGERS
from lakehold.web.lakehouse.frames import need_lakehouse
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.navigation import NavLink
from lakehold.web.resources import workspace_page
from lakehold.web.routing import router

routes = router("/workspaces")

_COLUMNS = [
    ListColumn("Name", "name"),
    ListColumn("Kind", wide=True),
    ListColumn("Last run"),
    ListColumn("Next", wide=True),
    ListColumn("State"),
]
_MOST_DRAWN = 60


@dataclass(frozen=True, slots=True)
class Row:
    """A pipeline in the list."""

    item: ResourceSummary
    can_run: bool
    last: Run | None
    triggers: Sequence[Trigger]

    @property
    def is_active(self) -> bool:
        """Whether it runs by itself."""
        return any(trigger.active for trigger in self.triggers)

    @property
    def next_at(self) -> Moment | None:
        """When it runs by itself the next time, as far as a schedule can tell."""
        return min((each.next_at for each in self.triggers if each.active and each.next_at), default=None)

    @property
    def follows(self) -> bool:
        """Whether it runs after others."""
        return any(each.active and not each.when.cron for each in self.triggers)


@routes.get("/{uid:path}/pipelines")
def pipelines_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """All that the caller may see, with what became of them."""
    need_lakehouse(ctx, uid)
    titles = {kind: pluralize(ctx.view.policy.kind(kind).schema.title) for kind in PIPELINES}
    listing = ListState.from_request(request, ("name",), (ListFilter("kind", "Kind", tuple(titles.items())),))
    among = (listing.chosen["kind"],) if listing.chosen["kind"] else PIPELINES
    sort = f"-{listing.sort}" if listing.descending else listing.sort
    found = resources.find(
        ctx, listing.search, among=among, within=uid, sort=sort, after=listing.after or None, limit=listing.size
    )
    values: dict[str, object] = {
        **_around(ctx, uid, "pipelines"),
        "listing": listing,
        "columns": _COLUMNS,
        "rows": _rows(ctx, found.items),
        "after": found.after or "",
        "tones": saying.TONES,
        "signs": saying.SIGNS,
    }
    return pages.render(request, "lakehouse/pipelines.html", values)


@routes.get("/{uid:path}/pipelines/graph")
def graph_page(request: Request, ctx: ReadContext, uid: str, focus: str = "") -> Response:
    """The same drawn: what flows from where to where."""
    need_lakehouse(ctx, uid)
    eyes = VisibleRefs(ctx)
    found = resources.find(ctx, among=PIPELINES, within=uid, limit=_MOST_DRAWN)
    links = ways.links(ctx, eyes, [item.uid for item in found.items])
    things = ways.things(links, [item.uid for item in found.items])
    near = eyes.ref(focus) if focus in things else None
    if near is not None:
        things = ways.near(links, focus)
        links = [pair for pair in links if set(pair) <= things.keys()]
    columns = ways.columns(links, things)
    nodes = {each: (columns[each], ways.box(ctx, eyes, each)) for each in things}
    drawn = [item for item in found.items if item.uid in things]
    last = _last(ctx, drawn)
    values: dict[str, object] = {
        **_around(ctx, uid, "pipelines/graph"),
        "drawing": graphs.drawn(nodes, links, focus if near else None),
        "states": {each: run.state for each, run in last.items()},
        "pipelines": frozenset(item.uid for item in drawn),
        "focus": near,
        "cut": found.after is not None,
        "tones": saying.TONES,
        "box": (graphs.WIDTH, graphs.HEIGHT),
    }
    return pages.render(request, "lakehouse/graph.html", values)


def _around(ctx: RequestContext, uid: str, part: str) -> dict[str, object]:
    return {
        "uid": uid,
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Pipelines"),
        "tabs": [
            NavLink("List", urls.workspace(uid, "pipelines"), "workflow"),
            NavLink("Graph", urls.workspace(uid, "pipelines/graph"), "git-branch"),
        ],
        "tab": urls.workspace(uid, part),
        "makes": _makes(ctx, uid),
    }


def _makes(ctx: RequestContext, uid: str) -> list[PageAction]:
    return [
        workspace_page.create_action(ctx, ctx.view.policy.kind(kind).schema, uid)
        for kind in PIPELINES
        if kind in kind_pages.CREATE_FORMS
    ]


def _rows(ctx: RequestContext, items: Sequence[ResourceSummary]) -> list[Row]:
    last = _last(ctx, items)
    return [Row(each, _runs(each), last.get(each.uid), _triggers(ctx, each)) for each in items]


def _triggers(ctx: RequestContext, item: ResourceSummary) -> Sequence[Trigger]:
    return TRIGGERS.for_resource(ctx, item.uid) if _runs(item) else ()


def _runs(item: ResourceSummary) -> bool:
    """Whether it can be run, and the caller may see how."""
    return item.kind in RUNS.runnables and RUNS.runnables[item.kind].see in item.actions


def _last(ctx: RequestContext, items: Sequence[ResourceSummary]) -> dict[str, Run]:
    return RUNS.last_runs(ctx, [item.uid for item in items if _runs(item)])
