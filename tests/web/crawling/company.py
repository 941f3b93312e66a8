"""Corner & Main as rounds of its pages need it: lived in, and known by the kinds of its things."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lakehold.catalog import campaigns
from lakehold.demo import company
from lakehold.directory import links
from lakehold.directory.caller import Caller
from lakehold.web import app_factory, palette, patterns
from lakehold.web.routers import ROUTERS
from tests.web.crawling import lived_in
from tests.web.crawling.round import Round
from tests.web.crawling.templates import Templates
from tests.web.demo import Shop

ALL = [*ROUTERS, palette.routes, patterns.pages, app_factory.theme_routes]
"""Whatever answers with a page."""


@dataclass(frozen=True, slots=True)
class Company:
    """Where somebody begins: at the pages that are everybody's, and where no link leads that is followed, because of
    pages alike one is looked at.
    """

    round: Round
    mailed: list[str]
    """What was sent to people who have not signed in."""
    starts: dict[str, list[str]]
    """By who looks around."""


def furnished(shop: Shop) -> Company:
    """The company with something to see on every page."""
    here = lived_in.as_it_is(shop.platform)
    invited = lived_in.furnish(shop.platform, here, "paula@corner.example").mailed
    with shop.platform.access.read(company.TENANT) as session:
        kinds = session.read_view(lambda view: {view.uid(each): view.kind(each) for each in lived_in.all_of(view)})
    with shop.platform.read(Caller(company.TENANT, "olga")) as ctx:
        reviews = [f"/reviews/{told.campaign.uid}/worked-out" for told in campaigns.page(ctx).items]
    pages = Templates(ALL)
    olga = [
        *(each for each in pages.all() if "{" not in each),
        *(f"/resources/till_source/{step}" for step in ("streams", "preview", "schedule")),
        "/people/ana/counts",
        *reviews,
    ]
    ana = ["/workspaces/lake_house/sql/saved/best_shops_this_month/rename"]
    by_mail = _mailed(shop, ("sign_in", "password"))
    return Company(Round(pages, kinds), [invited, *by_mail], {"olga": olga, "ana": ana})


def _mailed(shop: Shop, purposes: Iterable[str]) -> list[str]:
    with shop.platform.write(Caller(company.TENANT, "olga")) as ctx:
        made = [links.create(ctx, shop.platform.settings, "ana", purpose).link for purpose in purposes]
    return [link.removeprefix(shop.platform.settings.base_url) for link in made]
