"""A tour with a browser: every page once, by day, by night and on a phone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page

from lakehold.api.frame.callers import COOKIE
from lakehold.web.build.places import AXE
from tests.web.crawling.links import links_in
from tests.web.crawling.round import Round
from tests.web.demo import Shop
from tests.web.visitors import NARROW, PATIENCE, WIDE

# A theme changes colours and nothing else, so the other rules need no second look. The navigation is on every page: one
# that was seen is not looked at again, wherever in it somebody is. Parts that come later are waited for.
_LOOK = """async known => {
  while (document.querySelector('.later')) await new Promise(soon => setTimeout(soon, 20));
  const page = document.documentElement, there = document.querySelector('#navigation')?.outerHTML ?? '';
  const navigation = there.replace(/ (aria-current|open|value)="[^"]*"/g, '');
  const exclude = known.includes(navigation) ? [['#navigation']] : [];
  const looked = async (when, rules) => {
    const found = await axe.run({include: [['html']], exclude}, {resultTypes: ['violations'], ...rules});
    const told = (rule, node) => `${when}: ${rule.id}: ${node.target} ${node.failureSummary}`;
    return found.violations.flatMap(rule => rule.nodes.map(node => told(rule, node)));
  };
  const html = page.outerHTML, by_day = await looked('by day', {});
  page.dataset.theme = 'dark';
  const by_night = await looked('by night', {runOnly: ['color-contrast', 'link-in-text-block']});
  return {html, navigation, wrong: [...by_day, ...by_night]};
}"""
_LOOK_ON_PHONE = """async () => {
  const found = await axe.run('html', {resultTypes: ['violations'], runOnly: ['scrollable-region-focusable']});
  const unreached = found.violations.flatMap(each => each.nodes.map(node => `no key scrolls ${node.target}`));
  const wide = row => [...row.cells].reduce((sum, cell) => sum + (cell.checkVisibility() ? cell.colSpan : 0), 0);
  const uneven = [...document.querySelectorAll('table:has(> thead > tr):has(> tbody > tr)')]
    .filter(table => table.checkVisibility() && wide(table.tHead.rows[0]) !== wide(table.tBodies[0].rows[0]))
    .map(table => `another number of columns in the head of ${table.caption?.textContent}`);
  const {scrollWidth, clientWidth} = document.documentElement;
  return [...unreached, ...uneven, ...(scrollWidth > clientWidth ? [`${scrollWidth} wide`] : [])];
}"""


class Tour:
    """What was wrong with the pages of a round."""

    def __init__(self, browser: Browser, round_: Round) -> None:
        self._browser, self._round = browser, round_
        self._axe = AXE.read_text(encoding="utf-8")
        self._navigations: list[str] = []
        self._said: list[str] = []
        """By the console, since the last page."""
        self.wrong: list[str] = []

    def go(self, shop: Shop, member: str, starts: Iterable[str]) -> None:
        """Look at all that nobody has seen yet, as somebody."""
        with self._page(shop, member) as page:
            self._round.go(starts, partial(self._look, page))

    def _look(self, page: Page, address: str, led_by: str) -> list[str]:
        """Look at a page if it is shown. Returns where it leads."""
        answer = page.goto(address)
        at = urlsplit(page.url)._replace(scheme="", netloc="").geturl()
        if answer is None or answer.status >= 500:
            self.wrong.append(f"{at}: failed")
        elif answer.status == 404 and led_by:
            self.wrong.append(f"{led_by}: leads nowhere with {address}")
        elif answer.status == 200 and self._round.is_new(at):
            self._round.saw(at)
            return self._shown(page, at)
        # The console repeats that a page was refused, and belongs to none that was shown.
        self._said.clear()
        return []

    def _shown(self, page: Page, at: str) -> list[str]:
        page.evaluate(self._axe)
        found = page.evaluate(_LOOK, self._navigations)
        self._navigations.append(found["navigation"])
        page.set_viewport_size(NARROW)  # type: ignore[arg-type]
        on_phone = [f"on a phone: {each}" for each in page.evaluate(_LOOK_ON_PHONE)]
        page.set_viewport_size(WIDE)  # type: ignore[arg-type]
        self.wrong += [f"{at}: {each}" for each in (*found["wrong"], *on_phone, *self._said)]
        self._said.clear()
        return links_in(found["html"], at)

    @contextmanager
    def _page(self, shop: Shop, member: str) -> Iterator[Page]:
        context = self._browser.new_context(base_url=shop.address, viewport=WIDE, reduced_motion="reduce")  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE)
        if member:
            context.add_cookies([{"name": COOKIE, "value": shop.cookie_of(member), "url": shop.address}])
        page = context.new_page()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        yield page
        context.close()

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self._said.append(message.text)
