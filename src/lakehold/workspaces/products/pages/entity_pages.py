"""The search in the published version of a data product, and the 360 page of an entity."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.catalog import kinds, resource_metadata, resources
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.list_view import ListState
from lakehold.web.routing import router
from lakehold.workspaces.products import published_entities
from lakehold.workspaces.products.entity_index import IndexedEntity, SearchPage
from lakehold.workspaces.products.published_entities import VIEW_360
from lakehold.workspaces.products.settings import PRODUCT, PRODUCT_KIND, DataProductSettings, ProductAttribute

routes = router("/resources")

_SIZE, _COLUMNS = 20, 4


@dataclass(frozen=True, slots=True)
class GoldenValue:
    """A value of a golden record, with where it is from."""

    label: str
    value: str
    origin: str


def need_product(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the data product."""
    found = resources.get(ctx, uid)
    if found.kind != PRODUCT_KIND:
        raise NotFoundError(f"There is no data product {quote(uid)}.", "Check the name in the project.")
    return found


@routes.get("/{uid:path}/entities")
def entities_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str) -> Response:
    """Render the search in a data product."""
    found = need_product(ctx, uid)
    ctx.need(VIEW_360, uid)
    listing = ListState.from_request(request, ("relevance",), size=_SIZE)
    attributes = _attributes(ctx, uid)
    viewing = bool(ctx.caller.impersonator)
    published = None if viewing else published_entities.find_published(ctx, platform, uid)
    page = SearchPage((), 0)
    if published:
        offset = (listing.page - 1) * _SIZE
        _, page = published_entities.search(ctx, platform, uid, listing.search, limit=_SIZE, offset=offset)
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Entities"),
        "found": found,
        "tabs": resource_header.tabs(ctx, uid),
        "tab": urls.resource(uid, "entities"),
        "listing": listing,
        "published": published,
        "viewing": viewing,
        "rows": page.hits,
        "total": page.total,
        "shown": attributes[:_COLUMNS],
        "entity_url": lambda entity: urls.resource(uid, f"entities/{entity}"),
        "title_of_entity": lambda each: entity_title(each, attributes),
    }
    return pages.render(request, "products/entities.html", values)


@routes.get("/{uid:path}/entities/{entity}")
def entity_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str, entity: str) -> Response:
    """Render the 360 page of an entity."""
    found = need_product(ctx, uid)
    published, each = published_entities.get(ctx, platform, uid, entity)
    sources = published.origin_sources(each)
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, found.kind).visible, uid)
    attributes = _attributes(ctx, uid)
    title = entity_title(each, attributes)
    records = (
        published_entities.records(ctx, platform, uid, entity) if published_entities.sees_records(ctx, uid) else None
    )
    names = published_entities.source_names(ctx, [*sources.values(), *(record.source for record in records or ())])
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, title),
        "found": found,
        "entity": each,
        "title": title,
        "version": published.version,
        "golden": [
            GoldenValue(label, each.values[name], names.get(sources.get(name, ""), ""))
            for name, label in attributes
            if name in each.values
        ],
        "missing": [label for name, label in attributes if name not in each.values],
        "attributes": attributes,
        "records": records,
        "names": names,
        "back": urls.resource(uid, "entities"),
    }
    return pages.render(request, "products/entity.html", values)


def entity_title(each: IndexedEntity, attributes: Sequence[tuple[str, str]]) -> str:
    """Return what people call an entity: its first values, or its id."""
    named = [each.values[name] for name, _ in attributes if name in each.values]
    return " ".join(named[:2]) or each.entity


def _attributes(ctx: RequestContext, uid: str) -> list[tuple[str, str]]:
    """Return the names and labels of attributes."""
    stored = resource_metadata.load(ctx, uid).settings
    settings = DataProductSettings() if PRODUCT.problems(stored) else PRODUCT.parse(stored)
    return [(each.name, attribute_label(each)) for each in settings.attributes]


def attribute_label(attribute: ProductAttribute) -> str:
    """Return what people read for an attribute."""
    return attribute.label or attribute.name.replace("_", " ").capitalize()
