"""Invites: who may ask whom to come, to what; sent again, revoked."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import expect

from lakehold.directory import invites
from lakehold.directory.caller import Caller
from lakehold.directory.invites import Invite
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send

pytestmark = pytest.mark.browser

PAGES = ("/invites", "/invites/new", "/invites/new?workspace=sales")


def open_ones(shop: Shop, member: str = "olga") -> list[Invite]:
    with shop.platform.read(Caller("corner", member)) as ctx:
        return [invite for invite in invites.page(ctx) if invite.email.startswith("nora")]


def ask_nora(client: httpx.Client, **fields: str | list[str]) -> httpx.Response:
    return send(client, "/invites/new", "/invites/new", email="nora@example.org", **fields)


@pytest.mark.rare
def test_every_page_can_be_read_by_everybody(open_as: Open, shop: Shop, violations: Violations) -> None:
    ask_nora(shop.client("olga"), workspace="sales", role="business_user")
    page = open_as("olga", "/invites")
    for path in PAGES:
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        assert violations(page) == [], path


def test_an_admin_invites_somebody_into_a_part_of_a_project(open_as: Open, shop: Shop) -> None:
    page = open_as("olga", "/invites")
    page.get_by_role("link", name="Invite member").first.click()
    page.get_by_role("combobox", name="Workspace").select_option("Sales marts")
    page.get_by_role("radio", name="Business User").check()
    page.get_by_label("E-mail").fill("nora@example.org")
    page.get_by_label("Scope").select_option("Selected contexts")
    page.get_by_role("checkbox", name="EMEA").check()
    page.get_by_role("button", name="Invite", exact=True).click()
    expect(page.get_by_role("heading", name="Invite for nora@example.org")).to_be_visible()
    link = page.get_by_label("Link", exact=True).input_value()
    assert "Corner &amp; Main" in shop.client().get(re.sub(r"^http://[^/]+", "", link)).text
    page.get_by_role("link", name="Done").click()
    row = page.get_by_role("row").filter(has_text="nora@example.org")
    expect(row).to_contain_text("Business User in Sales marts")
    expect(row).to_contain_text("Holder in EMEA")
    (invite,) = open_ones(shop)
    assert [setting.value for setting in invite.grants.settings] == ["selected_contexts"]


def test_a_business_user_reaches_invites_and_invites_business_users_only(open_as: Open, shop: Shop) -> None:
    page = open_as("bella", "/workspaces/sales/members", scripts=False)
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Invites", include_hidden=True).wait_for(
        state="attached"
    )
    page.get_by_role("link", name="Invite", exact=True).click()
    expect(page.get_by_role("radio")).to_have_count(1)
    expect(page.get_by_label("Tenant role")).to_have_count(0)
    expect(page.get_by_text("yours is included")).to_be_visible()
    page.get_by_label("E-mail").fill("nora@example.org")
    page.get_by_role("radio", name="Business User").check()
    page.get_by_role("button", name="Invite", exact=True).click()
    expect(page.get_by_label("Link", exact=True)).to_be_visible()
    assert len(open_ones(shop, "bella")) == 1


def test_nobody_invites_to_more_than_they_may(shop: Shop) -> None:
    bella = shop.client("bella")
    assert ask_nora(bella, workspace="sales", role="technical_user").status_code == 403
    assert ask_nora(bella, tenant_role="admin").status_code == 403
    assert ask_nora(bella, workspace="landing", role="can_view").status_code == 404
    boris = shop.client("boris")
    assert ask_nora(boris, workspace="sales", role="business_user", label=["holder americas"]).status_code == 403
    assert open_ones(shop) == []


def test_what_is_wrong_is_said_and_nothing_is_lost(shop: Shop) -> None:
    answer = send(
        shop.client("olga"),
        "/invites/new",
        "/invites/new",
        email="nobody",
        workspace="sales",
        role="technical_user",
        label=["holder emea"],
    )
    assert answer.status_code == 422
    assert 'value="nobody"' in answer.text
    assert 'value="technical_user" checked' in answer.text
    assert 'value="holder emea" checked' in answer.text
    assert ask_nora(shop.client("olga"), workspace="sales").status_code == 422


def test_an_invite_is_sent_again_and_revoked(open_as: Open, shop: Shop) -> None:
    first = ask_nora(shop.client("olga"), tenant_role="viewer").text
    page = open_as("olga", "/invites?q=nora")
    page.get_by_role("button", name="Actions for nora@example.org").click()
    page.get_by_role("button", name="Create new link").click()
    link = page.get_by_label("Link", exact=True).input_value()
    assert link not in first
    page.get_by_role("link", name="Done").click()
    page.get_by_role("button", name="Actions for nora@example.org").click()
    page.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog", name="Revoke the invite").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("The invite for nora@example.org was revoked.")).to_be_visible()
    assert open_ones(shop) == []


def test_who_may_not_invite_is_told_so(shop: Shop) -> None:
    ask_nora(shop.client("olga"), workspace="sales", role="business_user")
    nils = shop.client("nils")
    text = nils.get("/invites").text
    assert "You cannot invite members" in text
    assert "nora" not in text
    assert 'href="/invites"' not in nils.get("/").text
    assert "You cannot invite members" in nils.get("/invites/new").text
    (invite,) = open_ones(shop)
    assert send(nils, "/profile", f"/invites/{invite.id}/revoke", confirmed="1").status_code == 404
