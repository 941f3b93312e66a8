"""A browser and a server for all tests of the room, and a page of its own for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, expect, sync_playwright

from frontend import builder
from tests.demo_company import corner_file
from tests.web import chromium, site
from tests.web.axe import Axe
from tests.web.demo import TLS, Shop, shop, shop_folder
from tests.web.visitors import PATIENCE, visitors

__all__ = ["corner_file", "shop", "shop_folder"]

Open = Callable[..., Page]
Violations = Callable[..., list[str]]

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="package", autouse=True)
def files() -> None:
    """What browsers get, built if it is missing or stale."""
    builder.build(for_tests=True)


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
    with httpx.Client(base_url=address, headers={"Accept": "text/html"}, verify=TLS) as opened:
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
    """Open pages as a new visitor."""
    with visitors(browser, address) as opened:
        yield lambda path, **how: opened("", path, **how)


@pytest.fixture
def open_as(browser: Browser, shop: Shop) -> Iterator[Open]:
    """Open a page as somebody: `open_as("tara", "/people")`; as nobody: `open_as("", "/sign-in")`."""
    with visitors(browser, shop.address, shop.cookie_of) as opened:
        yield opened


@pytest.fixture(scope="package")
def violations() -> Violations:
    """What is wrong with a page as it is now: by day, by night and on a phone."""
    return Axe().violations
