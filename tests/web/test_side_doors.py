"""No page tells of what its visitor may not see: no id, no name; and none tells what is hidden from what is not there.

Pages are found by their links and taken from the routers, so a new page is crawled without being named here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.web import app_factory, urls
from tests.api.client import Api
from tests.api.crawler.crawl import Person
from tests.api.crawler.words import Words, create_renamed_tenant
from tests.api.sqlite_database import database_url
from tests.web.crawler.pages import PageCrawl, http_client, impersonating, signed_in_person
from tests.web.crawler.sample_data import DELIVERED, create_sample_data
from tests.web.site import running

__all__ = ["database_url"]

pytestmark = pytest.mark.slow

FEW_RIGHTS = ("nils", "bella", "tara", "erik")
MANY_RIGHTS = ("petra", "adam", "olga")
EXCUSED = {
    "/link/{secret}": "its secret is in a mail, and is used up by looking",
    "/password/{secret}": "its secret is in a mail",
    "/first-run/{secret}": "there is an owner already",
    "/resources/{uid:path}/app/csv": "its link is at a chart with rows, which a worker reads",
    "/resources/{uid:path}/dataset": "a dataset is made by a worker",
    "/resources/{uid:path}/dataset/first-rows": "as above",
    "/resources/{uid:path}/entities/{entity}": "a version of a data product is made by a worker",
    "/resources/{uid:path}/graph/live": "a part of the page of a project, which has the same",
    "/resources/{uid:path}/task/live": "a part of the page of a task, which has the same",
    "/resources/{uid:path}/task/prepare": "a worker plans it",
}
"""Pages that nobody got to see, and why."""

ALSO = {
    "olga": ("to_finance", DELIVERED, "shop_gateway", "masters_destination"),
    "erik": ("customer", "masters_source"),
    "tara": ("daily_sales",),
    "bella": ("daily_sales", "sales_cockpit"),
}
"""Where else somebody begins: of pages alike some are looked at, and not those of every kind of thing."""


def test_no_page_has_a_side_door(database_url: str, tmp_path: Path) -> None:
    platform = Platform(Settings(data=tmp_path / "data", database=database_url))
    words = Words(seed=7)
    here, there = create_renamed_tenant(platform, words), create_renamed_tenant(platform, words)
    lived_in = create_sample_data(platform, here, "paula@corner.example")
    create_sample_data(platform, there, "paul@corner.example")
    app = app_factory.create_web_app(platform)
    with running(app) as address:
        crawl = PageCrawl(Api(platform, app, None, here.uid), (here, there), words, known_words=lived_in.known_words)  # type: ignore[arg-type]
        people = [
            signed_in_person(crawl.api, here, demo)
            for demo in ("nils", "bella", "tara", "erik", "petra", "adam", "olga")
        ]
        people += [
            signed_in_person(crawl.api, there, "adam", "another tenant's admin"),
            Person("nobody", here, here.id("nils"), ""),
        ]
        for turn, person in enumerate(people):
            with http_client(person, address) as client:
                also = [urls.resource(here.id(demo)) for demo in ALSO.get(person.name, ())]
                visited = crawl.walk(person, client, also if person.token else [lived_in.mailed_address])
                crawl.probe(person, client, visited, turn)
        person = signed_in_person(crawl.api, here, "adam")
        with http_client(person, address) as client:
            seen = impersonating(person, client, "bella")
            crawl.walk(seen, client)
    platform.close()
    assert crawl.leaks == []
    looked_at = {page for page, statuses in crawl.seen.items() if statuses[200]}
    assert set(crawl.templates.all()) - looked_at - set(EXCUSED) == set(), (
        "Nobody got to see these: lead to them, or say why not."
    )
    assert looked_at & set(EXCUSED) == set(), "These need no excuse."
