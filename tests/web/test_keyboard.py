"""The keyboard is enough."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from lakehold.catalog import requests
from lakehold.catalog.request_table import PENDING
from lakehold.demo import company
from lakehold.directory.caller import Caller
from tests.web.access.keys import tab_to
from tests.web.conftest import Open
from tests.web.demo import Shop

pytestmark = pytest.mark.browser


def focused(page: Page) -> str:
    text: str = page.evaluate(
        "(document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText).trim()"
    )
    return text


def test_the_first_key_offers_to_skip_the_navigation(visit: Open) -> None:
    page = visit("/ui/patterns")
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_the_palette_finds_a_place_and_goes_there(visit: Open) -> None:
    page = visit("/ui/patterns/form")
    page.keyboard.press("Control+k")
    search = page.get_by_role("combobox", name="Search everything")
    expect(search).to_be_focused()
    page.keyboard.type("lakehouse")
    expect(page.get_by_role("listbox", name="Found").get_by_role("option")).to_have_count(1)
    page.keyboard.press("Control+a")
    page.keyboard.type("corner")
    expect(page.get_by_role("option", name="Patterns")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    chosen = page.get_by_role("option", name="Audit log")
    expect(chosen).to_have_attribute("aria-selected", "true")
    expect(search).to_have_attribute("aria-activedescendant", chosen.get_attribute("id") or "")
    page.keyboard.press("Enter")
    page.wait_for_url("**/ui/patterns#audit")


def test_the_palette_says_when_nothing_was_found_and_escape_closes_it(visit: Open) -> None:
    page = visit("/ui/patterns")
    page.get_by_role("link", name="Search Ctrl K").focus()
    page.keyboard.press("Enter")
    page.keyboard.type("zzz")
    expect(page.get_by_text("No matches")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("combobox", name="Search everything")).to_be_hidden()
    assert focused(page).startswith("Search")


def test_a_menu_opens_with_the_arrow_and_closes_with_escape(visit: Open) -> None:
    page = visit("/ui/patterns")
    page.get_by_role("button", name="Actions for customers", exact=True).focus()
    page.keyboard.press("ArrowDown")
    assert focused(page) == "Open"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert focused(page) == "Remove"
    page.keyboard.press("ArrowDown")
    assert focused(page) == "Open"
    page.keyboard.press("End")
    assert focused(page) == "Remove"
    page.keyboard.press("Escape")
    assert focused(page) == "Actions for customers"


def test_a_refused_action_says_why_and_leads_to_a_request(visit: Open) -> None:
    page = visit("/ui/patterns")
    page.locator("#buttons").get_by_role("button", name="Edit").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("You need Editor on salaries or on its layer.").first).to_be_visible()
    expect(page.locator("#edit-salaries-why").get_by_role("link", name="Request access")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Request Editor on salaries")).to_be_visible()


def test_a_dialog_holds_the_focus_and_gives_it_back(visit: Open) -> None:
    page = visit("/ui/patterns")
    page.get_by_role("link", name="Ask for something").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Request Editor on orders")
    expect(dialog).to_be_visible()
    for _ in range(8):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement === document.body || !!document.activeElement.closest('dialog')")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert focused(page) == "Ask for something"


def test_a_form_can_be_sent_and_taken_back(visit: Open) -> None:
    page = visit("/ui/patterns/form")
    page.get_by_label("What do you need it for?").focus()
    page.keyboard.type("For the report on staff costs")
    page.get_by_role("button", name="Send request").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("You asked for Editor on orders.")).to_be_visible()
    page.get_by_role("region", name="Messages").get_by_role("button", name="Undo").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing was done: these are patterns.")).to_be_visible()


def test_what_a_thing_refuses_is_asked_for_from_its_menu(open_as: Open, shop: Shop) -> None:
    """To give and to revoke, and to answer who asks: see `access`."""
    page = open_as("ana", "/resources/orders")
    tab_to(page, "More actions")
    page.keyboard.press("ArrowDown")
    assert focused(page) == "Request access: Edit"
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Request access to orders")).to_be_visible()
    tab_to(page, "Reason")
    page.keyboard.type("A column has the wrong name")
    tab_to(page, "Send request")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You requested to edit orders.")).to_be_visible()
    with shop.platform.read(Caller(company.TENANT, "ana")) as ctx:
        asked = requests.list_own(ctx)[0].request
        assert (asked.resource, asked.action, asked.reason) == ("orders", "edit", "A column has the wrong name")
        assert asked.state == PENDING
        assert not ctx.session.check("ana", "edit", "orders")
