"""Axe finds nothing on any page, by day and by night; none is wider than a phone; no link leads nowhere; and no console
complains.

Pages are taken from the routers and found by their links, so a new page is looked at without being named here. What
opens over a page, and pages in other states, are looked at where their room is tested.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.web.crawling.company import ALL, furnished
from tests.web.crawling.round import NO_PAGES
from tests.web.crawling.templates import Templates
from tests.web.crawling.tour import Tour
from tests.web.demo import Shop
from tests.web.entrance.conftest import Empty, empty

__all__ = ["empty"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_nothing_is_wrong_with_any_page(browser: Browser, shop: Shop, empty: Empty) -> None:
    here = furnished(shop)
    tour = Tour(browser, here.round)
    tour.go(empty, "", [empty.path])
    tour.go(shop, "", ["/sign-in", *here.mailed])
    for member, starts in here.starts.items():
        tour.go(shop, member, starts)
    assert (tour.wrong, here.round.unseen) == ([], set()), "Pages that nobody was shown need somebody who is led there."


def test_what_is_said_to_be_no_page_is_still_there() -> None:
    assert set(NO_PAGES) <= set(Templates(ALL).all())
