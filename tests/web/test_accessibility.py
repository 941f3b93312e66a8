"""Axe finds nothing by day and by night, whatever is open or was asked for. Each page as it is: `test_every_page`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.web.conftest import Open, Violations

pytestmark = pytest.mark.browser


def menu(page: Page) -> None:
    page.get_by_role("button", name="More").click()
    page.get_by_role("link", name="Request access: Edit").last.wait_for()


def refusal(page: Page) -> None:
    page.locator("#buttons").get_by_role("button", name="Edit").click()
    page.get_by_text("You need Editor on salaries").first.wait_for()


def own_dialog(page: Page) -> None:
    page.get_by_role("link", name="A dialog of this page").click()
    page.get_by_role("dialog", name="Grant Editor to Engineers").wait_for()


def page_as_dialog(page: Page) -> None:
    page.get_by_role("link", name="Ask for something").click()
    page.get_by_role("dialog", name="Request Editor on orders").wait_for()


def palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.get_by_role("option", name="Patterns").wait_for()


def person_menu(page: Page) -> None:
    page.get_by_role("button", name="Olga, Owner").click()
    page.get_by_role("button", name="Sign out").wait_for()


def test_every_pattern_on_a_phone(visit: Open, violations: Violations) -> None:
    page = visit("/ui/patterns?view_as=1", narrow=True)
    page.get_by_text("This part came later.").wait_for()
    assert violations(page) == []


@pytest.mark.parametrize("open_it", [menu, refusal, own_dialog, page_as_dialog, palette, person_menu])
def test_whatever_is_open(visit: Open, violations: Violations, open_it: Callable[[Page], None]) -> None:
    page = visit("/ui/patterns")
    open_it(page)
    assert violations(page, ":is(:modal, :popover-open)") == []


@pytest.mark.parametrize("status", [403, 404, 500])
def test_pages_that_refuse(visit: Open, violations: Violations, status: int) -> None:
    page = visit(f"/ui/patterns/errors/{status}", refused=True)
    assert page.get_by_role("heading", level=1).count() == 1
    assert violations(page) == []


@pytest.mark.parametrize("path", ["/search?q=tables", "/search?q=zzz", "/ui/patterns?q=zzz"])
def test_what_was_found_and_what_was_not(visit: Open, violations: Violations, path: str) -> None:
    assert violations(visit(path)) == []


def test_the_drawer_of_the_navigation(visit: Open, violations: Violations) -> None:
    page = visit("/ui/patterns", narrow=True)
    page.get_by_role("button", name="Navigation").click()
    page.get_by_role("link", name="Audit log").wait_for()
    assert violations(page) == []
