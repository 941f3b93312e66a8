"""Checks a page with axe in light and dark mode and on a phone."""

from __future__ import annotations

from playwright.sync_api import Page

from frontend.node import AXE
from tests.web.visitors import NARROW, WIDE

# A theme changes colours and nothing else, so the other rules need no second look. The navigation is on every page: one
# that was seen is not looked at again, wherever in it somebody is. Parts that come later are waited for.
_LOOK = """async ({part, known}) => {
  while (document.querySelector('.later')) await new Promise(soon => setTimeout(soon, 20));
  const page = document.documentElement, theme = page.dataset.theme;
  const there = document.querySelector('#navigation')?.outerHTML ?? '';
  const navigation = there.replace(/ (aria-current|open|value)="[^"]*"/g, '');
  const exclude = known.includes(navigation) ? [['#navigation']] : [];
  const looked = async (name, when, rules) => {
    page.dataset.theme = name;
    const found = await axe.run({include: [[part]], exclude}, {resultTypes: ['violations'], ...rules});
    const told = (rule, node) => `${when}: ${rule.id}: ${node.target} ${node.failureSummary}`;
    return found.violations.flatMap(rule => rule.nodes.map(node => told(rule, node)));
  };
  const by_day = await looked('light', 'by day', {});
  const by_night = await looked('dark', 'by night', {runOnly: ['color-contrast', 'link-in-text-block']});
  page.dataset.theme = theme;
  return {navigation, wrong: [...by_day, ...by_night]};
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


class Axe:
    """Checks pages, and remembers violations that pages have in common."""

    def __init__(self) -> None:
        self._script = AXE.read_text(encoding="utf-8")
        self._navigations: list[str] = []

    def violations(self, page: Page, part: str = "html") -> list[str]:
        """What is wrong with a page, or with a part of it, as it is now."""
        page.evaluate(self._script)
        found = page.evaluate(_LOOK, {"part": part, "known": self._navigations})
        self._navigations.append(found["navigation"])
        wrong: list[str] = found["wrong"]
        return wrong if part != "html" else [*wrong, *self._on_phone(page)]

    def _on_phone(self, page: Page) -> list[str]:
        before = page.viewport_size
        page.set_viewport_size(NARROW)  # type: ignore[arg-type]
        found = page.evaluate(_LOOK_ON_PHONE)
        page.set_viewport_size(before or WIDE)  # type: ignore[arg-type]
        return [f"on a phone: {each}" for each in found]
