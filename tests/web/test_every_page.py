"""Axe finds nothing on any page, by day and by night; none is wider than a phone; no link leads nowhere; and no console
complains.

Pages are taken from the routers and found by their links, so a new page is looked at without being named here. What
opens over a page is looked at where its room is tested, and so are pages in other states, which is rare.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.web.crawler.browser_tour import BrowserTour
from tests.web.crawler.company import ALL, prepare_company
from tests.web.crawler.page_tracker import NO_PAGES
from tests.web.crawler.templates import AddressTemplates
from tests.web.demo import Shop
from tests.web.sign_in.conftest import EmptySite, empty_platform

__all__ = ["empty_platform"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_nothing_is_wrong_with_any_page(browser: Browser, shop: Shop, empty_platform: EmptySite) -> None:
    here = prepare_company(shop)
    tour = BrowserTour(browser, here.tracker)
    tour.go(empty_platform, "", [empty_platform.path])
    tour.go(shop, "", ["/sign-in", *here.mailed_addresses])
    for member, starts in here.starts.items():
        tour.go(shop, member, starts)
    assert (tour.wrong, here.tracker.unseen) == ([], set()), (
        "Pages that nobody was shown need somebody who is led there."
    )


def test_what_is_said_to_be_no_page_is_still_there() -> None:
    assert set(NO_PAGES) <= set(AddressTemplates(ALL).all())
