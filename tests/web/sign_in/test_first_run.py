"""The first run: from an empty installation to an Owner who looks around."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Page, expect

from lakehold.demo import activity
from tests.web.conftest import Open, Violations
from tests.web.demo import SECRET, Shop
from tests.web.forms import send, token
from tests.web.sign_in.conftest import EmptySite


def fill(page: Page, password: str = SECRET) -> None:
    page.get_by_label("Your organisation").fill("Acme & Sons")
    page.get_by_label("Your name").fill("Olivia")
    page.get_by_label("Your e-mail").fill("olivia@example.org")
    page.get_by_label("Password").fill(password)


@pytest.mark.browser
def test_the_first_to_come_becomes_the_owner_and_looks_around_in_the_demo_company(
    empty_platform: EmptySite, open_page: Open
) -> None:
    page = open_page(empty_platform, empty_platform.path, refused=True)
    fill(page, "too short")
    page.get_by_label("The demo company").check()
    page.get_by_role("button", name="Set up").click()
    expect(page.get_by_role("alert").get_by_text("A password has 10 to 1,000 characters.")).to_be_visible()
    expect(page.get_by_label("Your organisation")).to_have_value("Acme & Sons")
    expect(page.get_by_label("The demo company")).to_be_checked()
    page.get_by_label("Password").fill(SECRET)
    page.get_by_role("button", name="Set up").click()
    expect(page.get_by_text("Acme & Sons is set up, and you are its Owner.")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("link", name="Sales marts")).to_be_visible()
    page.get_by_role("button", name="Olivia").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("E-mail").fill("olivia@example.org")
    page.get_by_label("Password", exact=True).fill(SECRET)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Home", level=1)).to_be_visible()


@pytest.mark.browser
def test_one_can_begin_with_nothing_and_without_scripts(empty_platform: EmptySite, open_page: Open) -> None:
    page = open_page(empty_platform, empty_platform.path, scripts=False)
    fill(page)
    page.get_by_role("button", name="Set up").click()
    expect(page.get_by_text("No workspaces yet")).to_be_visible()


@pytest.mark.browser
def test_axe_finds_nothing(empty_platform: EmptySite, open_page: Open, violations: Violations) -> None:
    page = open_page(empty_platform, empty_platform.path, refused=True)
    assert violations(page) == []
    fill(page, "short")
    page.get_by_role("button", name="Set up").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert violations(page) == []


def test_whoever_was_not_told_the_link_sets_nothing_up(empty_platform: EmptySite) -> None:
    fields = {"tenant": "Acme", "name": "Eve", "email": "eve@example.org", "password": SECRET}
    with empty_platform.client() as client:
        for secret in ("lhf_wrong", "x", "%00"):
            answer = client.get(f"/first-run/{secret}")
            assert answer.status_code == 401
            assert "Invalid link" in answer.text
            assert send(client, "/ui/patterns", f"/first-run/{secret}", **fields).status_code == 401
        assert "Not set up yet" in client.get("/sign-in").text


def test_it_is_done_once(shop: Shop) -> None:
    there = EmptySite(shop.platform, shop.address)
    with shop.client() as client:
        answer = client.get(there.path)
        assert answer.status_code == 409
        assert "Already set up" in answer.text
        fields = {"tenant": "Acme", "name": "Eve", "email": "eve@example.org", "password": SECRET}
        assert send(client, "/sign-in", there.path, **fields).status_code == 409


def test_what_is_wrong_is_said_at_its_field(empty_platform: EmptySite) -> None:
    with empty_platform.client() as client:
        answer = send(
            client, empty_platform.path, empty_platform.path, tenant="", name=" ", email="nowhere", password="x"
        )
    assert answer.status_code == 422
    for field in ("tenant", "name", "email", "password"):
        assert f'id="field-{field}-error"' in answer.text


def test_the_owner_is_nobody_of_the_demo_company(empty_platform: EmptySite) -> None:
    fields = {"tenant": "Acme", "name": "Olga", "password": SECRET, "start": "demo"}
    with empty_platform.client() as client:
        answer = send(
            client, empty_platform.path, empty_platform.path, email=f"olga@{activity.MAIL_DOMAIN.upper()}", **fields
        )
        assert answer.status_code == 422
        assert "an address of the demo company" in answer.text


def test_a_form_from_elsewhere_sets_nothing_up(empty_platform: EmptySite) -> None:
    with empty_platform.client() as client:
        token(client, empty_platform.path)
        fields = {"tenant": "Acme", "name": "Eve", "email": "eve@example.org", "password": SECRET}
        answer: httpx.Response = client.post(empty_platform.path, data=fields)
        assert answer.status_code == 403
