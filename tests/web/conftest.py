"""A browser and a server for all tests of the room, and a page of its own for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from lakehold.web.build import making
from lakehold.web.build.places import AXE
from tests.web import chromium, site

Open = Callable[..., Page]
Violations = Callable[..., list[str]]

PATIENCE = 30_000
"""In milliseconds. Only a test that fails waits that long."""
expect.set_options(timeout=PATIENCE)

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


@pytest.fixture(scope="package", autouse=True)
def files() -> None:
    """What browsers get, built if it is missing or stale."""
    making.build(for_tests=True)


@pytest.fixture(scope="package")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    with site.application(tmp_path_factory.mktemp("data")) as made:
        yield made


@pytest.fixture(scope="package")
def address(app: FastAPI) -> Iterator[str]:
    with site.running(app) as found:
        yield found


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    """Somebody who has not been here yet, without a browser."""
    with httpx.Client(base_url=address, headers={"Accept": "text/html"}) as opened:
        yield opened


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One for the whole process."""
    if not (executable := chromium.executable()):
        pytest.fail(chromium.MISSING)
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=executable, args=chromium.arguments())
        yield found
        found.close()


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Open]:
    """Open pages as a new visitor. At the end, the console must have nothing to complain about: the policy's reports
    come there too. `refused` says that the page itself is an error page, which the console repeats.
    """
    said: list[str] = []
    contexts = []

    def heard(message: ConsoleMessage, refused: bool) -> None:
        repeated = refused and message.text.startswith(("Failed to load resource", "Response Status Error Code"))
        if message.type in {"error", "warning"} and not repeated:
            said.append(message.text)

    def opened(
        path: str, *, theme: str = "light", narrow: bool = False, scripts: bool = True, refused: bool = False
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
        page = context.new_page()
        page.on("console", lambda message: heard(message, refused))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []


@pytest.fixture(scope="package")
def violations() -> Violations:
    """What axe finds wrong with a page as it is now."""
    axe = AXE.read_text(encoding="utf-8")

    def found(page: Page, part: str = "html") -> list[str]:
        page.evaluate(axe)
        result = page.evaluate("part => axe.run(part, {resultTypes: ['violations']})", part)
        return [
            f"{each['id']}: {node['target']} {node['failureSummary']}"
            for each in result["violations"]
            for node in each["nodes"]
        ]

    return found
