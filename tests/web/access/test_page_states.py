"""Axe finds nothing on any page of the room, by day and by night; nothing is wider than a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

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
    with shop.platform.write(Caller("corner", "ana")) as ctx:
        return f"/requests/{requests.create(ctx, 'edit', 'orders', reason='For a fix').request.uid}"


@pytest.mark.rare
def test_every_page(open_as: Open, shop: Shop, violations: Violations) -> None:
    one = request_of_ana(shop)
    for member, path in [*PAGES, ("mona", one), ("ana", one)]:
        assert violations(open_as(member, path)) == [], path


def test_what_opens_over_a_page(open_as: Open, violations: Violations) -> None:
    page = open_as("mona", "/resources/clean/access")
    page.get_by_role("link", name="Ana, Analyst may not edit. Why?").click()
    expect(page.get_by_role("dialog", name="Why may Ana, Analyst not edit Clean?")).to_be_visible()
    assert violations(page, ":modal") == []
