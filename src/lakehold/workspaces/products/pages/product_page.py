"""The page of a data product: its published version, what a run would publish, its sources and its runs."""

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.catalog import kinds, resource_metadata
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.cookies import Flash
from lakehold.web.routing import router
from lakehold.web.runs.runnable_page import latest_runs, overview_values
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.products import publication, versions
from lakehold.workspaces.products.pages.entity_pages import attribute_label, need_product
from lakehold.workspaces.products.pipelines import PUBLISH
from lakehold.workspaces.products.settings import PRODUCT

routes = router("/resources")

_LATEST, _VERSIONS, _RUNS = 5, 10, 100


@routes.get("/{uid:path}/product")
def product_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str) -> Response:
    """Render the page of a data product."""
    found = need_product(ctx, uid)
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, found.kind).visible, uid)
    opened = "open" in found.actions
    visible = VisibleRefs(ctx)
    found_versions = versions.list_versions(ctx, uid, _VERSIONS) if opened else []
    sources = edge_targets(ctx, uid, "sources") if opened else []
    values: dict[str, object] = {
        **overview_values(ctx, found, "product", latest_runs(ctx, found, _LATEST)),
        "opened": opened,
        "published": versions.find_published(ctx, uid),
        "versions": found_versions,
        # Runs can be deleted, and their versions stay.
        "known_runs": {run.id for run in latest_runs(ctx, found, _RUNS)},
        "publish": _publish_action(ctx, found, unpublished=bool(found_versions) and not found_versions[0].published_at),
        "set_up": resource_header.actions_of(
            ctx, uid, {"configure": PageAction("Set up", urls.resource(uid, "product/edit"), icon="settings")}
        )[0],
        "browse": urls.resource(uid, "entities"),
        "attributes": _attributes(ctx, uid) if opened else [],
        "sources": visible.refs(sources),
        "more_sources": len(visible.refs(sources)) < len(sources),
        "publisher": lambda version: visible.ref(version.published_by),
    }
    return pages.render(request, "products/product.html", values)


@routes.post("/{uid:path}/product/publish")
def publish(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Start the run that publishes the newest version."""
    try:
        started = publication.start(ctx, uid)
    except ConflictError as error:
        return pages.redirect(request, urls.resource(uid, "product"), Flash(str(error), tone="bad"))
    return pages.redirect(request, urls.run(started.id), "The newest version is being published.")


def _publish_action(ctx: RequestContext, found: ResourceView, *, unpublished: bool) -> PageAction:
    action = PageAction(
        *("Publish", urls.resource(found.uid, "product/publish"), "post", "send"),
        confirm="Publish the newest version? 360 pages and destinations get it.",
        why_not="" if unpublished else "There is no version that is not published yet. Run the data product first.",
    )
    return resource_header.actions_of(ctx, found.uid, {PUBLISH: action})[0]


def _attributes(ctx: RequestContext, uid: str) -> list[tuple[str, str, str]]:
    """Return labels, types and rules of the attributes."""
    stored = resource_metadata.load(ctx, uid).settings
    if PRODUCT.problems(stored):
        return []
    return [(attribute_label(each), each.type.value, each.rule.value) for each in PRODUCT.parse(stored).attributes]
