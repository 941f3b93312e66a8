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
from tests.api.crawling.crawl import Person
from tests.api.crawling.words import Words, founded
from tests.api.lite import database_url
from tests.web.crawling.lived_in import DELIVERED, furnish
from tests.web.crawling.pages import Pages, browser_of, visitor, with_eyes_of
from tests.web.site import running

__all__ = ["database_url"]

pytestmark = pytest.mark.slow

FEW_RIGHTS = ("nils", "bella", "tara", "erik")
MANY_RIGHTS = ("petra", "adam", "olga")
EXCUSED = {
    "/link/{secret}": "its secret is in a mail, and is used up by looking",
    "/password/{secret}": "its secret is in a mail",
    "/first-run/{secret}": "there is an owner already",
}
"""Pages that nobody got to see, and why."""

ALSO = {"olga": ("to_finance", DELIVERED), "tara": ("daily_sales",), "bella": ("daily_sales",)}
"""Where else somebody begins: of pages alike some are looked at, and not those of every kind of thing."""


def test_no_page_has_a_side_door(database_url: str, tmp_path: Path) -> None:
    platform = Platform(Settings(data=tmp_path / "data", database=database_url))
    words = Words(seed=7)
    here, there = founded(platform, words), founded(platform, words)
    lived_in = furnish(platform, here, "paula@corner.example")
    furnish(platform, there, "paul@corner.example")
    app = app_factory.create_web_app(platform)
    with running(app) as address:
        crawl = Pages(Api(platform, app, None, here.uid), (here, there), words, told=lived_in.told)  # type: ignore[arg-type]
        people = [visitor(crawl.api, here, demo) for demo in ("nils", "bella", "tara", "erik", "petra", "adam", "olga")]
        people += [
            visitor(crawl.api, there, "adam", "another tenant's admin"),
            Person("nobody", here, here.id("nils"), ""),
        ]
        for turn, person in enumerate(people):
            with browser_of(person, address) as client:
                also = [urls.resource(here.id(demo)) for demo in ALSO.get(person.name, ())]
                visited = crawl.walk(person, client, also if person.token else [lived_in.mailed])
                crawl.probe(person, client, visited, turn)
        person = visitor(crawl.api, here, "adam")
        with browser_of(person, address) as client:
            seen = with_eyes_of(person, client, "bella")
            crawl.walk(seen, client)
    platform.close()
    assert crawl.leaks == []
    looked_at = {page for page, statuses in crawl.seen.items() if statuses[200]}
    assert set(crawl.templates.all()) - looked_at - set(EXCUSED) == set(), (
        "Nobody got to see these: lead to them, or say why not."
    )
    assert looked_at & set(EXCUSED) == set(), "These need no excuse."
