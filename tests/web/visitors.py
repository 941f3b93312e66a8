"""People in front of a browser."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from lakehold.api.frame.callers import COOKIE

PATIENCE = 30_000
"""In milliseconds. Only a test that fails waits that long."""
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


class Desk(NamedTuple):
    """A browser of one's own, with an empty page that keeps its window open: to open one takes a second of both cores,
    so it is used again.
    """

    context: BrowserContext
    empty: Page

    def clear(self, address: str) -> None:
        """Leave nothing for the next."""
        for page in self.context.pages:
            if page is not self.empty:
                page.close()
        self.context.clear_cookies()
        self.context.clear_permissions()
        told = self.context.new_cdp_session(self.empty)
        told.send("Storage.clearDataForOrigin", {"origin": address, "storageTypes": "all"})
        told.detach()


_idle: defaultdict[tuple[Browser, str, bool], list[Desk]] = defaultdict(list)
"""Those that nobody sits at: in which browser, for which address, and whether scripts run."""


def _made(browser: Browser, address: str, *, scripts: bool) -> Desk:
    context = browser.new_context(base_url=address, java_script_enabled=scripts, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    return Desk(context, context.new_page())


@contextmanager
def visitors(
    browser: Browser, address: str, cookie_of: Callable[[str], str] = lambda _member: ""
) -> Iterator[Callable[..., Page]]:
    """Each with a browser of their own. At the end, the console must have nothing to complain about: the policy's
    reports come there too. `refused` says that the page itself is an error page, which the console repeats.
    """
    said: list[str] = []
    taken: list[tuple[bool, Desk]] = []

    def heard(message: ConsoleMessage, refused: bool) -> None:
        repeated = refused and message.text.startswith(("Failed to load resource", "Response Status Error Code"))
        if message.type in {"error", "warning"} and not repeated:
            said.append(message.text)

    def opened(
        member: str,
        path: str,
        *,
        theme: str = "light",
        narrow: bool = False,
        scripts: bool = True,
        refused: bool = False,
    ) -> Page:
        free = _idle[browser, address, scripts]
        desk = free.pop() if free else _made(browser, address, scripts=scripts)
        taken.append((scripts, desk))
        if member:
            desk.context.add_cookies([{"name": COOKIE, "value": cookie_of(member), "url": address}])
        page = desk.context.new_page()
        page.set_viewport_size(NARROW if narrow else WIDE)  # type: ignore[arg-type]
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        page.on("console", lambda message: heard(message, refused))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path)
        return page

    yield opened
    for scripts, desk in taken:
        desk.clear(address)
        _idle[browser, address, scripts].append(desk)
    assert not said, said
