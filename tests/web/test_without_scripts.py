"""Every page and every form works in a browser that runs no scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Open

pytestmark = pytest.mark.browser


def test_the_navigation_opens_as_a_drawer(visit: Open) -> None:
    page = visit("/ui/patterns/form", narrow=True, scripts=False)
    there = page.get_by_role("link", name="Audit log")
    expect(there).to_be_hidden()
    page.get_by_role("button", name="Navigation").click()
    expect(there).to_be_visible()
    page.get_by_role("button", name="Close navigation").click()
    expect(there).to_be_hidden()


def test_a_dialog_is_a_page(visit: Open) -> None:
    page = visit("/ui/patterns", scripts=False, refused=True)
    page.get_by_role("link", name="Ask for something").click()
    expect(page.get_by_role("heading", name="Request Editor on orders", level=1)).to_be_visible()
    page.get_by_label("What do you need it for?").fill(" ")
    page.get_by_role("button", name="Send request").click()
    expect(page.get_by_text("Say in a few words")).to_be_visible()
    page.get_by_label("What do you need it for?").fill("For a report")
    page.get_by_role("button", name="Send request").click()
    expect(page.get_by_text("You asked for Editor on orders.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("You asked for Editor on orders.")).to_be_hidden()


def test_a_dialog_of_a_page_is_shown_in_it(visit: Open) -> None:
    page = visit("/ui/patterns", scripts=False)
    page.get_by_role("link", name="A dialog of this page").click()
    expect(page.get_by_role("dialog", name="Grant Editor to Engineers")).to_be_visible()
    page.get_by_role("link", name="Close").click()
    expect(page.get_by_role("dialog", name="Grant Editor to Engineers")).to_be_hidden()


def ask_to_remove(page: Page) -> None:
    page.get_by_role("button", name="Actions for customers", exact=True).click()
    page.locator("#row-customers").get_by_role("button", name="Remove").click()


def test_are_you_sure_is_asked_on_a_page(visit: Open) -> None:
    page = visit("/ui/patterns", scripts=False)
    ask_to_remove(page)
    expect(page.get_by_role("heading", name="Remove customers?", level=1)).to_be_visible()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("customers was removed.")).to_be_visible()


def test_the_answer_can_be_no(visit: Open) -> None:
    page = visit("/ui/patterns", scripts=False)
    ask_to_remove(page)
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_role("heading", name="Patterns", level=1)).to_be_visible()
    expect(page.get_by_text("customers was removed.")).to_be_hidden()


def test_the_theme_is_chosen_and_the_page_stays(visit: Open) -> None:
    page = visit("/ui/patterns?q=orders", scripts=False)
    page.get_by_role("button", name="Olga, Owner").click()
    page.get_by_role("button", name="Dark").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.url.endswith("/ui/patterns?q=orders")


def test_a_table_is_searched_with_a_button(visit: Open) -> None:
    page = visit("/ui/patterns", scripts=False)
    page.get_by_role("searchbox", name="Search tables").fill("salaries_1")
    page.get_by_label("State", exact=True).select_option("late")
    page.get_by_role("button", name="Apply").click()
    assert "q=salaries_1" in page.url
    assert "state=late" in page.url


def test_search_is_a_page(visit: Open) -> None:
    page = visit("/ui/patterns", scripts=False)
    page.get_by_role("link", name="Search Ctrl K").click()
    page.get_by_role("searchbox", name="Search everything").fill("audit")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("main").get_by_role("link", name="Audit log")).to_be_visible()


def test_a_slow_part_is_a_link(visit: Open) -> None:
    page = visit("/ui/patterns", scripts=False)
    page.get_by_role("link", name="What comes later").click()
    expect(page.get_by_text("This part came later.")).to_be_visible()
