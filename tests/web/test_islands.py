"""What scripts add: the same, without a new page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Open

pytestmark = pytest.mark.browser

STAYED = "window.stayed = true"


def test_the_theme_changes_at_once_and_is_kept(visit: Open) -> None:
    page = visit("/ui/patterns")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.evaluate(STAYED)
    page.get_by_role("button", name="Olga, Owner").click()
    with page.expect_response("**/ui/theme") as kept:
        page.get_by_role("button", name="Dark").click()
    assert kept.value.ok
    assert page.evaluate("window.stayed")
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.reload()
    assert page.locator("html").get_attribute("data-theme") == "dark"


def test_a_table_is_searched_while_typing_and_the_address_tells_it(visit: Open) -> None:
    page = visit("/ui/patterns")
    page.evaluate(STAYED)
    steps = page.evaluate("history.length")
    page.get_by_role("searchbox", name="Search tables").fill("salaries_1")
    expect(page.get_by_role("link", name="salaries_1", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="customers", exact=True)).to_be_hidden()
    page.wait_for_url(re.compile(r"q=salaries_1"))
    assert page.evaluate("window.stayed")
    # Back leads to where one came from, and not through what was typed.
    assert page.evaluate("history.length") == steps


def test_a_table_is_filtered_sorted_and_paged(visit: Open) -> None:
    page = visit("/ui/patterns")
    table = page.get_by_role("table", name="Tables")
    page.get_by_label("Layer", exact=True).select_option("Gold")
    expect(page.get_by_text("1–8 of 42")).to_be_visible()
    table.get_by_role("link", name="Rows").click()
    expect(table.get_by_role("columnheader", name="Rows")).to_have_attribute("aria-sort", "ascending")
    table.get_by_role("link", name="Rows").click()
    expect(table.get_by_role("columnheader", name="Rows")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("link", name="Next page").click()
    expect(page.get_by_text("9–16 of 42")).to_be_visible()
    page.wait_for_url(re.compile(r"layer=Gold&sort=-rows&page=2"))
    page.reload()
    expect(page.get_by_text("9–16 of 42")).to_be_visible()


def test_nothing_fits_and_the_way_back_is_shown(visit: Open) -> None:
    page = visit("/ui/patterns?q=zzz")
    page.get_by_role("link", name="Clear filters").click()
    expect(page.get_by_text("1–8 of 128")).to_be_visible()


def confirm_removal(page: Page) -> None:
    page.get_by_role("button", name="Actions for customers", exact=True).click()
    page.locator("#row-customers").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("dialog", name="Remove customers?")).to_be_visible()


def test_cancelling_a_question_changes_nothing(visit: Open) -> None:
    page = visit("/ui/patterns")
    page.evaluate(STAYED)
    confirm_removal(page)
    page.get_by_role("button", name="Cancel").last.click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert page.evaluate("window.stayed")


def test_a_confirmed_action_is_done_and_said(visit: Open) -> None:
    page = visit("/ui/patterns")
    confirm_removal(page)
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("customers was removed.")).to_be_visible()
    page.get_by_role("button", name="Close the message").click()
    expect(page.get_by_text("customers was removed.")).to_be_hidden()
    page.reload()
    expect(page.get_by_text("customers was removed.")).to_be_hidden()


def test_a_wrong_form_stays_in_its_dialog_until_it_is_right(visit: Open) -> None:
    page = visit("/ui/patterns", refused=True)
    page.evaluate(STAYED)
    page.get_by_role("link", name="Ask for something").click()
    dialog = page.get_by_role("dialog", name="Request Editor on orders")
    dialog.get_by_label("What do you need it for?").fill("   ")
    dialog.get_by_role("button", name="Send request").click()
    expect(dialog.get_by_text("Say in a few words")).to_be_visible()
    assert page.evaluate("window.stayed")
    dialog.get_by_label("What do you need it for?").fill("For a report")
    dialog.get_by_role("button", name="Send request").click()
    expect(page.get_by_text("You asked for Editor on orders.")).to_be_visible()


def test_a_click_beside_a_dialog_closes_it(visit: Open) -> None:
    page = visit("/ui/patterns")
    page.get_by_role("link", name="A dialog of this page").click()
    dialog = page.get_by_role("dialog", name="Grant Editor to Engineers")
    dialog.get_by_text("All members of the group").click()
    expect(dialog).to_be_visible()
    page.mouse.click(5, 5)
    expect(dialog).to_be_hidden()


def test_a_refusal_of_a_part_is_said(visit: Open) -> None:
    page = visit("/ui/patterns", refused=True)
    page.evaluate("htmx.ajax('GET', '/ui/patterns/errors/403', {target: '#tables', swap: 'innerHTML'})")
    expect(
        page.get_by_role("region", name="Messages").get_by_text("You may see orders, but not edit it.")
    ).to_be_visible()
    expect(page.get_by_role("table", name="Tables")).to_be_visible()


def test_a_form_on_its_way_says_so_and_is_sent_once(open_as: Open) -> None:
    page = open_as("tara", "/profile")
    # It stays on its way: the browser would go on to the next page.
    page.evaluate("""() => {
        window.sent = 0;
        document.addEventListener("submit", (event) => {
            window.sent += event.defaultPrevented ? 0 : 1;
            event.preventDefault();
        });
    }""")
    save = page.get_by_role("button", name="Save")
    save.click()
    expect(save).to_have_attribute("aria-busy", "true")
    save.click()
    assert page.evaluate("window.sent") == 1
