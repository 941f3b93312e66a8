"""Axe finds nothing on any page, by day and by night, and none is wider than a phone.

Pages are found by their links and taken from the routers, so a new page is looked at without being named here. What
opens over a page, and pages in other states, are looked at where their room is tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

from lakehold.api.frame.callers import COOKIE
from lakehold.directory.installation import Installation
from lakehold.kit.settings import Settings
from lakehold.web import site
from tests.api.client import Api
from tests.api.crawling.crawl import Person
from tests.api.crawling.words import Words, founded
from tests.api.lite import database_url
from tests.web.conftest import Violations
from tests.web.crawling.lived_in import furnish
from tests.web.crawling.pages import Pages, browser_of, visitor
from tests.web.site import running
from tests.web.test_side_doors import EXCUSED
from tests.web.visitors import NARROW, WIDE

__all__ = ["database_url"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]

VISITORS = ("olga", "tara", "erik", "bella", "adam", "petra", "nils")
NO_PAGES = {
    "/runs/{run}/live": "a part of the page of a run",
    "/workspaces/{uid:path}/sql/names": "what the editor completes",
    "/workspaces/{uid:path}/sql/fields": "what the editor completes",
    "/resources/{uid:path}/files/download": "a file",
    "/resources/{uid:path}/destination/file": "a file",
    "/reviews/{uid}/result.csv": "a file",
    "/reviews/{uid}/result.jsonl": "a file",
    "/reviews/{uid}/worked-out/{job}": "a file",
    "/people/{uid:path}/counts": "a part of the page of a member",
}
"""What is answered there instead."""


class Eyes:
    """Looks at a page with a browser, and writes down what is wrong with it."""

    def __init__(self, browser: Browser, address: str, violations: Violations) -> None:
        self._browser, self._address, self._violations = browser, address, violations
        self.wrong: list[str] = []

    def look(self, person: Person, addresses: list[tuple[str, str]]) -> Iterator[str]:
        """Each of these, by its template and its address. Returns those that were shown."""
        context = self._context(person)
        page = context.new_page()
        page.on("console", lambda said: self.wrong.append(said.text) if said.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        for template, path in addresses:
            page.set_viewport_size(WIDE)  # type: ignore[arg-type]
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                page.goto(path)
                self.wrong += [f"{path}, {theme}: {each}" for each in self._violations(page)]
            page.set_viewport_size(NARROW)  # type: ignore[arg-type]
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > NARROW["width"]:
                self.wrong.append(f"{path} is {wide} wide on a phone")
            yield template
        context.close()

    def _context(self, person: Person) -> BrowserContext:
        context = self._browser.new_context(base_url=self._address, reduced_motion="reduce")
        if person.token:
            context.add_cookies([{"name": COOKIE, "value": person.token, "url": self._address}])
        return context


def test_nothing_is_wrong_with_any_page(
    browser: Browser, violations: Violations, database_url: str, tmp_path: Path
) -> None:
    house = Installation(Settings(data=tmp_path / "data", database=database_url))
    words = Words(seed=7)
    here = founded(house, words)
    lived_in = furnish(house, here, "paula@corner.example")
    app = site.application(house)
    seen: set[str] = set()
    with running(app) as address:
        crawl = Pages(Api(house, app, None, here.uid), (here,), words, told=lived_in.told)  # type: ignore[arg-type]
        eyes = Eyes(browser, address, violations)
        people = [visitor(crawl.api, here, demo) for demo in VISITORS]
        for person in [*people, Person("nobody", here, here.id("nils"), "")]:
            starts = [] if person.token else [lived_in.mailed]
            seen.update(eyes.look(person, list(_new(crawl, person, address, seen, starts))))
    house.close()
    assert eyes.wrong == []
    assert set(crawl.pages()) - seen - set(EXCUSED) - set(NO_PAGES) == set(), "Nobody looked at these."


def _new(crawl: Pages, person: Person, at: str, seen: set[str], starts: list[str]) -> Iterator[tuple[str, str]]:
    """The first address of each page that this visitor is shown, and nobody was before."""
    found = set(seen)
    with browser_of(person, at) as client:
        for path in crawl.walk(person, client, starts):
            template = crawl.template_of(path)
            if template in found or template in NO_PAGES or template in EXCUSED:
                continue
            answer = client.get(path)
            if answer.status_code == 200 and "html" in answer.headers["content-type"]:
                found.add(template)
                yield template, path
