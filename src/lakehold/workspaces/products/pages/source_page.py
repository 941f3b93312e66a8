"""The page of a source: the profile of its columns, and its first rows."""

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog import kinds, resources
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake import table_views
from lakehold.lake.previews import PreviewOptions, read_preview
from lakehold.web import pages
from lakehold.web.routing import router
from lakehold.web.runs.runnable_page import latest_runs, overview_values
from lakehold.web.table_pages import build_grid, current_metadata
from lakehold.workspaces.graph import edge_sources
from lakehold.workspaces.products import source_profiles
from lakehold.workspaces.products.settings import SOURCE_KIND

routes = router("/resources")

_LATEST, _ROWS = 5, 20


@routes.get("/{uid:path}/product-source")
def source_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, lake: CurrentLake, uid: str) -> Response:
    """Render the page of a source."""
    found = resources.get(ctx, uid)
    if found.kind != SOURCE_KIND:
        raise NotFoundError(f"There is no source {quote(uid)}.", "Check the name in the project.")
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, found.kind).visible, uid)
    now, viewing, grid = current_metadata(ctx, lake, uid), bool(ctx.caller.impersonator), None
    if now is not None and not viewing:
        view = table_views.view_of(ctx, uid)
        platform.record_read(ctx.caller, "preview", uid)
        with platform.table_reads.take((ctx.caller.tenant, ctx.caller.member)):
            preview = read_preview(lake, view.place, PreviewOptions(rows=_ROWS, hidden=view.hidden))
        grid = build_grid(preview.rows.schema, preview.rows.to_batches())
    users = edge_sources(ctx, uid, "sources")
    values: dict[str, object] = {
        **overview_values(ctx, found, "product-source", latest_runs(ctx, found, _LATEST)),
        "now": now,
        "profile": source_profiles.load(ctx, uid),
        "grid": grid,
        "viewing": viewing,
        "products": VisibleRefs(ctx).refs(users),
    }
    return pages.render(request, "products/source.html", values)
