"""Axe finds nothing on any page of the room, by day and by night; nothing is wider than a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from lakehold.catalog import requests
from lakehold.directory.caller import Caller
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop

pytestmark = pytest.mark.browser

PAGES = [
    ("olga", "/resources/daily_sales/access"),
    ("erik", "/resources/clean/access"),
    ("olga", "/resources/clean/access/given"),
    ("mona", "/resources/clean/access/give"),
    ("mona", "/resources/clean/access/change?subject=ana&role=viewer"),
    ("tara", "/resources/daily_sales/access/transfer?role=technical_owner"),
    ("bella", "/resources/daily_sales/why?action=use"),
    ("erik", "/resources/orders/why?action=delete"),
    ("otto", "/resources/land_tills/why?action=run"),
    ("olga", "/requests"),
    ("ana", "/requests/mine"),
    ("ana", "/requests/new?resource=orders&action=edit"),
    ("nils", "/requests/new?resource=salaries&action=read"),
]


def request_of_ana(shop: Shop) -> str:
    with shop.house.write(Caller("corner", "ana")) as work:
        return f"/requests/{requests.ask(work, 'edit', 'orders', reason='For a fix').request.uid}"


def looked_at(page: Page, violations: Violations) -> list[object]:
    """What is wrong with a page by day, by night, and on a phone."""
    by_day = violations(page)
    page.emulate_media(color_scheme="dark")
    page.reload()  # a page that turns dark before one's eyes fades, and is neither for a moment
    by_night = violations(page)
    page.set_viewport_size({"width": 360, "height": 740})
    return [by_day, by_night, page.evaluate("document.documentElement.scrollWidth")]


def test_every_page(open_as: Open, shop: Shop, violations: Violations) -> None:
    one = request_of_ana(shop)
    for member, path in [*PAGES, ("mona", one), ("ana", one)]:
        assert looked_at(open_as(member, path), violations) == [[], [], 360], path


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_opens_over_a_page(open_as: Open, violations: Violations, theme: str) -> None:
    page = open_as("mona", "/resources/clean/access", theme=theme)
    page.get_by_role("link", name="Ana, Analyst may not edit. Why?").click()
    expect(page.get_by_role("dialog", name="Why may Ana, Analyst not edit Clean?")).to_be_visible()
    assert violations(page, ":modal") == []
