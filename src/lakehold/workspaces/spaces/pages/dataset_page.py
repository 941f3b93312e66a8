"""The page of a dataset: its columns for those who open its task, and its first rows for those who view its data."""

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog import kinds, resource_metadata, resources
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake import table_views
from lakehold.lake.errors import SourceClosedError
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.previews import PreviewOptions, read_preview
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.routing import router
from lakehold.web.runs.runnable_page import latest_runs, overview_values
from lakehold.web.table_pages import Grid, build_grid, current_metadata, sql_field_type
from lakehold.workspaces.spaces import registrations
from lakehold.workspaces.spaces.datasets import COLUMNS
from lakehold.workspaces.spaces.settings import DATASET_KIND

routes = router("/resources")

VIEW_DATA = "view_data"
_ROWS, _LATEST = 50, 5
_COLUMN_ACTIONS = frozenset({"open", VIEW_DATA, "consume_data"})


@routes.get("/{uid:path}/dataset")
def dataset_page(
    request: Request, ctx: ReadContext, platform: CurrentPlatform, lake: CurrentLake, uid: str
) -> Response:
    """Render the page of a dataset."""
    found = _need_dataset(ctx, uid)
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, found.kind).visible, uid)
    knows_columns = bool(_COLUMN_ACTIONS & {*found.actions})
    now, closed = None, None
    try:
        now = current_metadata(ctx, lake, uid) if knows_columns else None
    except SourceClosedError as error:
        closed = error
    source = registrations.source_of(ctx, uid)
    see_rows = PageAction("Show rows", urls.resource(uid, "dataset/first-rows"), icon="eye")
    values: dict[str, object] = {
        **overview_values(ctx, found, "dataset", latest_runs(ctx, found, _LATEST)),
        "knows_columns": knows_columns,
        "now": now,
        "closed": closed,
        "is_registered": bool(source) or COLUMNS in resource_metadata.load(ctx, uid).settings,
        "source": VisibleRefs(ctx).ref(source),
        "is_gone": not source,
        "sql_type": sql_field_type,
        "see_rows": resource_header.actions_of(ctx, uid, {VIEW_DATA: see_rows})[0],
    }
    return pages.render(request, "spaces/dataset.html", values)


@routes.get("/{uid:path}/dataset/first-rows")
def dataset_preview(
    request: Request, ctx: ReadContext, platform: CurrentPlatform, lake: CurrentLake, uid: str
) -> Response:
    """Render the first rows of a dataset, read without Spark."""
    found = _need_dataset(ctx, uid)
    ctx.need(VIEW_DATA, uid)
    viewing = bool(ctx.caller.impersonator)
    grid, more, trouble = None, False, None
    try:
        grid, more = (None, False) if viewing else read_rows(ctx, platform, lake, uid)
    except LakeholdError as error:
        trouble = error
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Preview"),
        "found": found,
        "tabs": resource_header.tabs(ctx, uid),
        "tab": urls.resource(uid, "dataset"),
        "viewing": viewing,
        "grid": grid,
        "more": more,
        "trouble": trouble,
    }
    return pages.render(request, "spaces/dataset_preview.html", values)


def read_rows(ctx: RequestContext, platform: Platform, lake: IcebergCatalog, uid: str) -> tuple[Grid | None, bool]:
    """Return the first rows, and whether there are more; None if nothing was written yet. It is audited."""
    if current_metadata(ctx, lake, uid) is None:
        return None, False
    platform.record_read(ctx.caller, "preview", uid)
    view = table_views.view_of(ctx, uid)
    with platform.table_reads.take((ctx.caller.tenant, ctx.caller.member)):
        preview = read_preview(lake, view.place, PreviewOptions(rows=_ROWS, hidden=view.hidden))
    return build_grid(preview.rows.schema, preview.rows.to_batches()), preview.more


def _need_dataset(ctx: RequestContext, uid: str) -> ResourceView:
    found = resources.get(ctx, uid)
    if found.kind != DATASET_KIND:
        raise NotFoundError(f"There is no dataset {quote(uid)}.", "Check the name in the data space.")
    return found
