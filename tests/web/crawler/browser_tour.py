"""Checks every page once in a browser, in light and dark mode and on a phone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page

from lakehold.api.http.authentication import SESSION_COOKIE
from tests.web.axe import Axe
from tests.web.crawler.links import links_in
from tests.web.crawler.page_tracker import PageTracker
from tests.web.demo import Shop
from tests.web.visitors import PATIENCE, WIDE


class BrowserTour:
    """Visits pages in a browser, and collects what is wrong with them."""

    def __init__(self, browser: Browser, tracker: PageTracker) -> None:
        self._browser, self._round = browser, tracker
        self._axe = Axe()
        self._said: list[str] = []
        """By the console, since the last page."""
        self.wrong: list[str] = []

    def go(self, shop: Shop, member: str, starts: Iterable[str]) -> None:
        """Look at all that nobody has seen yet, as somebody."""
        with self._page(shop, member) as page:
            self._round.visit_all(starts, partial(self._visit, page))

    def _visit(self, page: Page, address: str, led_by: str) -> list[str]:
        """Open a page and check it. Returns its links."""
        answer = page.goto(address)
        at = urlsplit(page.url)._replace(scheme="", netloc="").geturl()
        if answer is None or answer.status >= 500:
            self.wrong.append(f"{at}: failed")
        elif answer.status == 404 and led_by:
            self.wrong.append(f"{led_by}: leads nowhere with {address}")
        elif answer.status == 200 and self._round.is_new(at):
            self._round.mark_visited(at)
            return self._check_page(page, at)
        # The console repeats that a page was refused, and belongs to none that was shown.
        self._said.clear()
        return []

    def _check_page(self, page: Page, at: str) -> list[str]:
        self.wrong += [f"{at}: {each}" for each in (*self._axe.violations(page), *self._said)]
        self._said.clear()
        return links_in(page.content(), at)

    @contextmanager
    def _page(self, shop: Shop, member: str) -> Iterator[Page]:
        context = self._browser.new_context(base_url=shop.address, viewport=WIDE, reduced_motion="reduce")  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE)
        if member:
            context.add_cookies([{"name": SESSION_COOKIE, "value": shop.cookie_of(member), "url": shop.address}])
        page = context.new_page()
        page.on("console", self._on_console_message)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        yield page
        context.close()

    def _on_console_message(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self._said.append(message.text)
