"""Everything that a member can reach, and through what."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from lakehold.access import Attribute
from lakehold.directory import members
from lakehold.directory.caller import Caller
from tests.web.conftest import Open
from tests.web.demo import Shop

pytestmark = pytest.mark.browser


def test_a_member_sees_what_they_can_reach_and_through_what(open_as: Open) -> None:
    page = open_as("ana", "/people/ana")
    page.get_by_role("link", name="16 tables").click()
    expect(page.get_by_role("heading", name="Your access")).to_be_visible()
    rows = page.get_by_role("row")
    expect(rows).to_have_count(17)
    expect(rows.filter(has_text="customer_value")).to_contain_text("Own grant: Editor")
    expect(rows.filter(has_text="sales_by_day")).to_contain_text("Viewer on Shaped, through Analysts")
    expect(rows.filter(has_text="order_lines")).to_contain_text("Viewer on Clean")
    expect(rows.filter(has_text="weather")).to_contain_text("Viewer as everybody has")
    way = rows.filter(has_text="order_lines").get_by_role("link", name="Viewer on Clean")
    assert way.get_attribute("href") == "/resources/order_lines/why?action=see"


def test_an_admin_follows_the_way_of_somebody_else(open_as: Open) -> None:
    page = open_as("adam", "/people/erik/reach?kind=lakehouse.table")
    page.get_by_role("searchbox", name="Search resources").fill("orders")
    expect(page.get_by_role("row")).to_have_count(3)
    page.get_by_role("link", name="Editor on Clean, through Engineers").click()
    assert page.url.endswith("/resources/orders/why?action=see&member=erik")


def test_the_counts_are_a_link_without_scripts(open_as: Open) -> None:
    page = open_as("ana", "/people/ana", scripts=False)
    page.get_by_role("link", name="Effective access").click()
    expect(page.get_by_role("link", name="3 layers")).to_be_visible()


def test_what_others_can_reach_is_for_who_may_ask(shop: Shop) -> None:
    tara = shop.client("tara")
    for path in ("/people/ana/reach", "/people/ana/counts"):
        assert tara.get(path).status_code == 403
    page = tara.get("/people/ana").text
    assert "You need permission to view others" in page
    assert "customer_value" not in page


def test_what_the_asker_may_not_see_is_neither_named_nor_counted(shop: Shop) -> None:
    mine = shop.client("bella").get("/people/bella/reach?q=cockpit").text
    assert "Sales cockpit" in mine.partition("<tbody")[2]
    assert "1 app" in shop.client("bella").get("/people/bella/counts").text
    with shop.platform.write(Caller("corner", "olga")) as ctx:
        # Not even an Admin sees what lies in a personal space.
        ctx.session.store.add(Attribute("serving", "personal", "true"))
    admin = shop.client("adam")
    assert "cockpit" not in admin.get("/people/bella/reach?q=cockpit").text.partition("<tbody")[2]
    assert "1 app" not in admin.get("/people/bella/counts").text


def test_the_list_goes_on_where_it_ended(open_as: Open) -> None:
    page = open_as("olga", "/people/olga/reach")
    first = page.get_by_role("row").nth(1).inner_text()
    page.get_by_role("link", name="Next page").click()
    expect(page.get_by_role("row").nth(1)).not_to_have_text(first)
    expect(page.get_by_role("link", name="First page")).to_be_visible()


def test_a_workspace_that_one_may_not_see_is_not_named(shop: Shop) -> None:
    text = shop.client("nils").get("/people/nils/counts").text
    assert "Elsewhere" in text
    assert "1 app" in text
    assert "Serving" not in text


def test_who_has_nothing_is_told_so(shop: Shop) -> None:
    with shop.platform.write(Caller("corner", "olga")) as ctx:
        members.add(ctx, "Eve", uid="eve")
    assert "No access yet" in shop.client("eve").get("/people/eve/counts").text
