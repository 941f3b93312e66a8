"""Visitors with a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, ConsoleMessage, Page

from lakehold.api.http.authentication import SESSION_COOKIE

PATIENCE = 30_000
"""In milliseconds. Only a test that fails waits that long."""
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


@contextmanager
def visitors(
    browser: Browser, address: str, cookie_of: Callable[[str], str] = lambda _member: ""
) -> Iterator[Callable[..., Page]]:
    """Each with a browser of their own. At the end, the console must have nothing to complain about: the policy's
    reports come there too. `refused` says that the page itself is an error page, which the console repeats.
    """
    said: list[str] = []
    contexts = []

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
        context = browser.new_context(
            base_url=address,
            viewport=NARROW if narrow else WIDE,  # type: ignore[arg-type]
            color_scheme=theme,  # type: ignore[arg-type]
            java_script_enabled=scripts,
            reduced_motion="reduce",
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        if member:
            context.add_cookies([{"name": SESSION_COOKIE, "value": cookie_of(member), "url": address}])
        page = context.new_page()
        page.on("console", lambda message: heard(message, refused))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not said, said
