"""Getting about with the keyboard alone."""

from __future__ import annotations

from playwright.sync_api import Page

_MOST = 200
_NAME = """() => {
  const at = document.activeElement;
  const label = at.labels?.[0]?.innerText ?? at.getAttribute('aria-label') ?? at.innerText ?? '';
  return label.trim();
}"""


def tab_to(page: Page, name: str) -> None:
    """Press Tab until what is focused is called this."""
    found = []
    for _ in range(_MOST):
        page.keyboard.press("Tab")
        found.append(page.evaluate(_NAME))
        if found[-1].startswith(name):
            return
    raise AssertionError((name, found))
