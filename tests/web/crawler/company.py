"""Corner & Main with sample data, for crawls of its pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lakehold.access import Draft
from lakehold.catalog import campaigns, resource_metadata
from lakehold.demo import company
from lakehold.directory import links
from lakehold.directory.caller import Caller
from lakehold.web import app_factory, palette, patterns, routing, urls
from lakehold.web.routers import ROUTERS
from lakehold.workspaces.products import versions
from lakehold.workspaces.products.entity_index import IndexedEntity, IndexedRecord, build_index, version_folder
from tests.web.crawler import sample_data
from tests.web.crawler.page_tracker import PageTracker
from tests.web.crawler.templates import AddressTemplates
from tests.web.demo import Shop

ALL = [*ROUTERS, palette.routes, patterns.routes, app_factory.theme_routes, routing.draft_routes]
"""Whatever answers with a page."""


@dataclass(frozen=True, slots=True)
class CrawledCompany:
    """The company, with the addresses at which each visitor starts: common pages, and pages that no followed link
    leads to.
    """

    tracker: PageTracker
    mailed_addresses: list[str]
    """What was sent to people who have not signed in."""
    starts: dict[str, list[str]]
    """By who looks around."""


def prepare_company(shop: Shop) -> CrawledCompany:
    """Prepare the company so that every page has something to show."""
    here = sample_data.demo_tenant(shop.platform)
    invited = sample_data.create_sample_data(shop.platform, here, "paula@corner.example").mailed_address
    with shop.platform.access.read(company.TENANT) as session:
        kinds = session.read_view(
            lambda view: {view.uid(each): view.kind(each) for each in sample_data.all_resources(view)}
        )
        names = session.read_view(lambda view: {uid: view.names.get(view.resource(uid)) for uid in kinds})
    with shop.platform.read(Caller(company.TENANT, "olga")) as ctx:
        reviews = [f"/reviews/{detail.campaign.uid}/worked-out" for detail in campaigns.page(ctx).items]
    pages = AddressTemplates(ALL)
    olga = [
        *(each for each in pages.all() if "{" not in each),
        *(f"/resources/till_source/{step}" for step in ("streams", "preview", "schedule")),
        "/people/ana/counts",
        "/audit/reads/1",
        *(urls.member(uid) for uid, name in names.items() if name == sample_data.ROBOT),
        *reviews,
        *_product_starts(shop),
    ]
    ana = ["/workspaces/lake_house/sql/saved/best_shops_this_month/rename"]
    petra, dana = _space_starts(shop)
    by_mail = _mailed(shop, ("sign_in", "password"))
    return CrawledCompany(
        PageTracker(pages, kinds),
        [invited, *by_mail],
        {"olga": olga, "ana": ana, "petra": petra, "dana": dana, "bella": _app_starts()},
    )


def _space_starts(shop: Shop) -> tuple[list[str], list[str]]:
    """The pages of data spaces that only those with roles there open: of a project's owner, and of a space's."""
    with shop.platform.write(Caller(company.TENANT, "petra")) as ctx:
        dataset = ctx.create_unchecked(Draft("spaces.dataset", {"task": "land_web"}), "orders")
        resource_metadata.create(ctx, dataset)
    petra = [
        "/resources/ingest/tasks/new",
        *(f"/resources/land_web/{part}" for part in ("task/edit", "task/prepare")),
        *(urls.resource(dataset, part) for part in ("dataset", "dataset/first-rows")),
    ]
    dana = [
        "/workspaces/sources/connections/new",
        "/resources/till_link/data-connection/edit",
        "/resources/shop_gateway/data-gateway",
    ]
    return petra, dana


def _product_starts(shop: Shop) -> list[str]:
    """The pages of a data product, of which a version is published as a worker does it."""
    data = shop.platform.settings.data
    with shop.platform.write(Caller(company.TENANT, "olga")) as ctx:
        tenant, product = ctx.session.tenant, ctx.view.resource("customer")
        number = versions.save(ctx, "customer", "run_of_a_test", {}, {"entities": 1, "records": 1})
        versions.publish(ctx, "customer", number)
    found = IndexedEntity("e1", {"name": "Anna Müller"}, {"name": "r1"}, 1, ["split"])
    record = IndexedRecord("r1", "e1", "masters_source", "1", None, {"name": "MÜLLER, Anna"})
    build_index(version_folder(data, tenant, product, number), [found], [record])
    parts = ("product", "product/edit", "entities", "entities/e1")
    forms = ("masters_source/product-source/edit", "masters_destination/product-destination/edit")
    return [*(f"/resources/customer/{part}" for part in parts), *(f"/resources/{form}" for form in forms)]


def _app_starts() -> list[str]:
    return ["/resources/sales_cockpit/app", "/resources/sales_cockpit/app/edit"]


def _mailed(shop: Shop, purposes: Iterable[str]) -> list[str]:
    with shop.platform.write(Caller(company.TENANT, "olga")) as ctx:
        made = [links.create(ctx, shop.platform.settings, "ana", purpose).link for purpose in purposes]
    return [link.removeprefix(shop.platform.settings.base_url) for link in made]
