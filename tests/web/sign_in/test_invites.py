"""Invites are accepted."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from lakehold.directory import invites
from lakehold.directory.caller import Caller
from lakehold.directory.invites import InvitedRole, InviteGrants
from tests.demo_company import TENANT
from tests.web.conftest import Open, Violations
from tests.web.demo import SECRET, Shop, give_password
from tests.web.forms import send


def invited(shop: Shop, email: str) -> str:
    """The path of an invite of Tara's to the sales marts."""
    invitation = InviteGrants((InvitedRole("business_user", "sales"),))
    with shop.platform.write(Caller(TENANT, "tara")) as ctx:
        return invites.create(ctx, shop.platform.settings, email, invitation).link.removeprefix(
            shop.platform.settings.base_url
        )


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_somebody_new_accepts_and_is_in(shop: Shop, open_as: Open, scripts: bool) -> None:
    page = open_as("", invited(shop, "paul@example.org"), scripts=scripts, refused=True)
    expect(page.get_by_role("heading", name="Join Corner & Main", level=1)).to_be_visible()
    expect(page.get_by_text("Tara, Technical User invites you, with the address paul@example.org.")).to_be_visible()
    page.get_by_label("Your name").fill("Paul")
    page.get_by_label("Password").fill("1234567890"[:9])
    page.get_by_role("button", name="Accept and sign in").click()
    expect(page.get_by_role("alert").get_by_text("A password has 10 to")).to_be_visible()
    expect(page.get_by_label("Your name")).to_have_value("Paul")
    page.get_by_label("Password").fill(SECRET)
    page.get_by_role("button", name="Accept and sign in").click()
    expect(page.get_by_text("Welcome to Corner & Main.")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("link", name="Sales marts")).to_be_visible()


@pytest.mark.browser
def test_a_member_signs_in_and_accepts(shop: Shop, open_as: Open) -> None:
    email = give_password(shop, "nils")
    page = open_as("", invited(shop, email.upper()))
    page.get_by_role("link", name="Sign in to accept").click()
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password", exact=True).fill(SECRET)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_text("You have accepted the invite.")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("link", name="Sales marts")).to_be_visible()


@pytest.mark.browser
def test_who_is_signed_in_as_somebody_else_can_change_over(shop: Shop, open_as: Open) -> None:
    page = open_as("ana", invited(shop, "nils@corner.example"))
    expect(page.get_by_text("You are signed in as Ana, Analyst")).to_be_visible()
    page.get_by_role("button", name="Sign in with that account").click()
    expect(page.get_by_role("heading", name="Sign in", level=1)).to_be_visible()
    assert "next=%2Finvite%2F" in page.url


@pytest.mark.browser
@pytest.mark.rare
def test_axe_finds_nothing(shop: Shop, open_as: Open, violations: Violations) -> None:
    newcomer, member = invited(shop, "paul@example.org"), invited(shop, "nils@corner.example")
    for who, path in (("", newcomer), ("ana", newcomer), ("ana", member), ("", member), ("nils", member)):
        assert violations(open_as(who, path)) == []


def test_an_invite_is_accepted_once(shop: Shop) -> None:
    path = invited(shop, "paul@example.org")
    with shop.client() as client:
        assert send(client, path, path, name="Paul", password=SECRET).status_code == 303
    with shop.client() as client:
        for answer in (client.get(path), send(client, "/sign-in", path, name="Eve", password=SECRET)):
            assert answer.status_code == 401
            assert "This invite has expired" in answer.text
            assert "paul" not in answer.text


def test_an_invite_is_for_its_address_alone(shop: Shop) -> None:
    path = invited(shop, "nils@corner.example")
    with shop.client("ana") as client:
        answer = send(client, "/profile", f"{path}/accept")
        assert answer.status_code == 409
        assert "This invite is for another e-mail address." in answer.text
    with shop.client() as client:
        answer = send(client, "/sign-in", path, name="Nils", password=SECRET)
        assert answer.status_code == 409
        assert "There is already an account with this e-mail address." in answer.text
