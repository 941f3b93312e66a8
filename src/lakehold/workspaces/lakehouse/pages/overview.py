"""The overview page of a lakehouse: layers, counts, pipelines and latest runs that the caller may see."""

from collections.abc import Sequence

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import kinds, resources
from lakehold.directory.request_context import RequestContext
from lakehold.runs import queries
from lakehold.runs.run_table import FAILED
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.navigation_context import listed_kinds
from lakehold.web.resources import workspace_page
from lakehold.web.routing import router
from lakehold.web.runs import RUNS, run_list
from lakehold.workspaces.lakehouse.pages.data_browser import LAYER, TABLE, VOLUME
from lakehold.workspaces.lakehouse.pages.page_frame import need_lakehouse
from lakehold.workspaces.lakehouse.pages.pipeline_list import PIPELINE_KINDS
from lakehold.workspaces.lakehouse.saved_queries import SAVED_QUERY

routes = router("/workspaces")

_LATEST, _MAX_ITEMS, _COUNTED, _MOST_LAYERS = 8, 6, 500, 12


@routes.get("/{uid:path}/lakehouse")
def overview(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the overview."""
    need_lakehouse(ctx, uid)
    found = resources.get(ctx, uid)
    layers = resources.find(ctx, among=[LAYER], within=uid, sort="created", limit=_MOST_LAYERS)
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid),
        "found": found,
        **kind_pages.workspace_tab_values(uid, found.kind),
        "makes": _create_actions(ctx, uid),
        "asks": queries.may_query(ctx, uid),
        "counts": _counts(ctx, uid),
        "layers": layers.items,
        "more_layers": layers.after is not None,
        "new_layer": workspace_page.create_action(ctx, kinds.catalog_kind(ctx.view.policy, LAYER), uid),
        "runs": run_list.run_rows(ctx, RUNS.page(ctx, within=uid, limit=_LATEST)),
        "failed": run_list.run_rows(ctx, RUNS.page(ctx, within=uid, state=FAILED, limit=_MAX_ITEMS)),
        "pipelines": resources.find(ctx, among=PIPELINE_KINDS, within=uid, limit=_MAX_ITEMS).items,
        "saved": resources.find(ctx, among=[SAVED_QUERY], within=uid, limit=_MAX_ITEMS).items,
    }
    return pages.render(request, "lakehouse/overview.html", values)


def _create_actions(ctx: RequestContext, uid: str) -> list[PageAction]:
    root = kinds.schema_of(ctx.view, uid)
    actions = [
        workspace_page.create_action(ctx, kind, uid) for kind in listed_kinds(ctx, root) if kind.create is not None
    ]
    return [each for each in actions if not each.why_not]


def _counts(ctx: RequestContext, uid: str) -> list[tuple[str, str, str]]:
    """Return the number of visible resources by label, each with the address of their list."""
    parts = (
        ("Layers", (LAYER,), "data"),
        ("Tables", (TABLE,), "table"),
        ("Volumes", (VOLUME,), "volume"),
        ("Pipelines", PIPELINE_KINDS, "pipelines"),
    )
    return [(label, _count_visible(ctx, uid, among), urls.workspace(uid, part)) for label, among, part in parts]


def _count_visible(ctx: RequestContext, uid: str, among: Sequence[str]) -> str:
    number, more = 0, False
    for kind in among:
        sight = ctx.view.policy.kind(kind).schema.visible
        found = ctx.session.list(ctx.principal, sight, kind, within=uid, limit=_COUNTED)
        number, more = number + len(found.items), more or found.after is not None
    return f"{number:,}{'+' if more else ''}"
