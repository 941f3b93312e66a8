"""One's name, e-mail address, password and theme."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.catalog import impersonation
from lakehold.directory.caller import Caller
from tests.demo_company import TENANT
from tests.web.conftest import Open, Violations
from tests.web.demo import SECRET, Shop, give_password
from tests.web.forms import send

PAGES = ("/profile", "/profile/sign-ins", "/profile/tokens", "/profile/tokens/new")


@pytest.mark.browser
@pytest.mark.rare
def test_axe_finds_nothing(shop: Shop, open_as: Open, violations: Violations) -> None:
    give_password(shop, "adam")
    page = open_as("adam", PAGES[0])
    for path in PAGES:
        page.goto(path)
        if path.endswith("new"):
            page.get_by_text("Limit actions").click()
            page.get_by_text("Limit resources").click()
        assert violations(page) == []


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_somebody_takes_another_name_and_takes_it_back(open_as: Open, scripts: bool) -> None:
    page = open_as("tara", "/profile", scripts=scripts)
    page.get_by_label("Name").fill("Tara Technical")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Your name was changed to Tara Technical.")).to_be_visible()
    expect(page.get_by_role("button", name="Tara Technical")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Your name was changed back to Tara, Technical User.")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("Tara, Technical User")


@pytest.mark.browser
def test_somebody_changes_their_password(shop: Shop, open_as: Open) -> None:
    email = give_password(shop, "tara")
    elsewhere = shop.cookie_of("tara")
    page = open_as("tara", "/profile", refused=True)
    page.get_by_label("Current password").fill("not the one")
    page.get_by_label("New password").fill("four green elephants")
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_text("The old password is wrong.")).to_be_visible()
    page.get_by_label("Current password").fill(SECRET)
    page.get_by_label("New password").fill("short")
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_text("A password has 10 to 1,000 characters.")).to_be_visible()
    page.get_by_label("Current password").fill(SECRET)
    page.get_by_label("New password").fill("four green elephants")
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_text("Your password was changed.")).to_be_visible()
    with shop.client() as client:
        assert send(client, "/sign-in", "/sign-in", email=email, password="four green elephants").status_code == 303
        client.cookies.clear()
        client.cookies.set(SESSION_COOKIE, elsewhere)
        assert client.get("/").headers["location"].startswith("/sign-in")


@pytest.mark.browser
def test_the_theme_is_chosen(open_as: Open) -> None:
    page = open_as("nils", "/profile", scripts=False)
    page.get_by_role("radio", name="Dark").check()
    page.get_by_role("button", name="Apply").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    expect(page.get_by_role("radio", name="Dark")).to_be_checked()


def test_an_admin_signs_in_with_another_address(shop: Shop) -> None:
    give_password(shop, "adam")
    with shop.client("adam") as client:
        taken = send(client, "/profile", "/profile", name="Adam B", email="OLGA@corner.example")
        assert taken.status_code == 422
        assert "There is already an account with the e-mail" in taken.text
        # Nothing of a form that was refused is kept, and nothing of it is lost.
        assert 'value="Adam B"' in taken.text
        assert "Adam, Admin" in client.get("/profile").text
        assert send(client, "/profile", "/profile", name="Adam, Admin", email="adam@example.org").status_code == 303
    with shop.client() as client:
        assert send(client, "/sign-in", "/sign-in", email="adam@example.org", password=SECRET).status_code == 303


def test_not_everybody_says_what_their_address_is(shop: Shop) -> None:
    with shop.client("tara") as client:
        assert "Only an admin can change it" in client.get("/profile").text
        assert send(client, "/profile", "/profile", name="Tara", email="tara@example.org").status_code == 403
        page = client.get("/profile").text
        assert 'value="tara@corner.example"' in page
        assert 'value="Tara, Technical User"' in page


def test_a_name_that_is_none_is_said_at_its_field(shop: Shop) -> None:
    with shop.client("tara") as client:
        for name in ("", " ", "x" * 1_000):
            answer = send(client, "/profile", "/profile", name=name)
            assert answer.status_code == 422
            assert 'id="field-name-error"' in answer.text


def test_who_came_with_a_link_is_told_how_to_get_a_password(shop: Shop) -> None:
    with shop.client("tara") as client:
        assert "You have no password yet" in client.get("/profile").text
        answer = send(client, "/profile", "/profile/password", old="", new=SECRET)
        assert answer.status_code == 409


def test_a_profile_is_not_seen_with_another_s_eyes(shop: Shop) -> None:
    with shop.client("olga") as client:
        with shop.platform.write(
            Caller(TENANT, "olga", sign_in_id=client.cookies[SESSION_COOKIE].split("_")[1])
        ) as ctx:
            impersonation.start(ctx, "tara")
        for path in PAGES:
            page = client.get(path).text.partition("<main")[2]
            assert "Not available in View as" in page
            assert "tara@corner.example" not in page
            assert "127.0.0.1" not in page


def test_a_profile_is_for_who_is_signed_in(shop: Shop) -> None:
    with shop.client() as client:
        for path in PAGES:
            assert client.get(path).headers["location"].startswith("/sign-in?next=%2Fprofile")


def test_without_a_password_and_mails_an_admin_is_led_to_their_page_and_others_to_an_admin(shop: Shop) -> None:
    assert 'Create a password link on <a href="/people/olga">' in shop.client("olga").get("/profile").text
    assert "Ask an admin for a link to set one." in shop.client("tara").get("/profile").text
