"""Who is in a workspace: added, changed and removed, with the effect shown first."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from lakehold.catalog import workspaces
from lakehold.directory.caller import Caller
from lakehold.kit.clock import FOREVER
from tests.web.conftest import Open
from tests.web.demo import Shop
from tests.web.forms import send

pytestmark = pytest.mark.browser

OLGA = Caller("corner", "olga")
SALES = "/workspaces/sales/members"


def member(shop: Shop, space: str, uid: str) -> workspaces.WorkspaceMembership | None:
    with shop.platform.read(OLGA) as ctx:
        return next((found for found in workspaces.members(ctx, space) if found.subject.uid == uid), None)


def test_an_admin_adds_somebody_to_a_project_for_a_time(open_as: Open, shop: Shop) -> None:
    page = open_as("adam", SALES)
    page.get_by_role("link", name="Add", exact=True).click()
    page.get_by_label("Member or group").select_option("Nils, New here")
    page.get_by_role("radio", name="Business User").check()
    page.get_by_label("Scope").select_option("Selected contexts")
    page.get_by_role("checkbox", name="EMEA").check()
    page.get_by_label("Expires").fill("2999-12-31")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("Until the end of 2999-12-31.")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text(re.compile(r"1 member will gain See and use on \d+ data marts"))
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_role("checkbox", name="EMEA")).to_be_checked()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Save").click()
    row = page.get_by_role("row").filter(has_text="Nils")
    expect(row).to_contain_text("Business User")
    expect(row).to_contain_text("Selected contexts")
    expect(row).to_contain_text("EMEA")
    expect(row).to_contain_text("expires in")
    found = member(shop, "sales", "nils")
    assert found
    assert found.roles[0].until < FOREVER


def test_somebody_becomes_something_else_without_scripts(open_as: Open, shop: Shop) -> None:
    page = open_as("adam", f"{SALES}/change?subject=tim", scripts=False)
    expect(page.get_by_role("radio", name="Technical User")).to_be_checked()
    page.get_by_role("radio", name="Business User").check()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("main")).to_contain_text("1 member will lose")
    page.get_by_role("button", name="Save").click()
    found = member(shop, "sales", "tim")
    assert found
    assert [role.name for role in found.roles] == ["business_user"]
    assert found.attributes == {"scope": "selected_contexts"}


def test_an_end_is_taken_away_again(shop: Shop) -> None:
    adam, there = shop.client("adam"), "/workspaces/lake_house/members/change?subject=tim"
    fields = {"subject": "tim", "role": "member", "confirmed": "1"}
    assert send(adam, there, there, **fields, until="2999-12-31").status_code == 303
    found = member(shop, "lake_house", "tim")
    assert found
    assert 'value="2999-12-31"' in adam.get(there).text
    assert send(adam, there, there, **fields, until="").status_code == 303
    found = member(shop, "lake_house", "tim")
    assert found
    assert [role.until for role in found.roles] == [FOREVER]


def test_somebody_is_removed_and_it_is_undone(open_as: Open, shop: Shop) -> None:
    page = open_as("adam", SALES)
    page.get_by_role("button", name="Actions for Boris").click()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("main")).to_contain_text("1 member will lose")
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Boris, Business User in EMEA was removed.")).to_be_visible()
    assert member(shop, "sales", "boris") is None
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    found = member(shop, "sales", "boris")
    assert found
    assert found.attributes == {"scope": "selected_contexts"}


def pressed(page: Page, name: str) -> None:
    """Move on with Tab until there, then press Enter."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == name:
            break
    page.keyboard.press("Enter")


def test_a_role_is_given_with_the_keyboard_alone(open_as: Open, shop: Shop) -> None:
    page = open_as("petra", "/workspaces/landing/members/add")
    page.get_by_label("Member or group").focus()
    page.keyboard.type("Nils")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    pressed(page, "Next")
    expect(page.get_by_role("heading", name="Add Nils, New here?")).to_be_visible()
    pressed(page, "Save")
    expect(page.get_by_text("Nils, New here was saved.")).to_be_visible()
    found = member(shop, "landing", "nils")
    assert found
    assert [role.name for role in found.roles] == ["can_view"]


def test_roles_of_a_data_space_add_up_for_a_group(shop: Shop) -> None:
    petra, there = shop.client("petra"), "/workspaces/landing/members/add"
    fields: dict[str, str | list[str]] = {"subject": "stewards", "role": ["can_view", "can_operate"]}
    asked = send(petra, there, there, **fields)
    assert (asked.status_code, "2 members" in asked.text) == (200, True)
    assert member(shop, "landing", "stewards") is None
    assert send(petra, there, there, **fields, confirmed="1").status_code == 303
    found = member(shop, "landing", "stewards")
    assert found
    assert {role.name for role in found.roles} == {"can_view", "can_operate"}


def test_something_has_to_be_chosen(shop: Shop) -> None:
    adam, there = shop.client("adam"), f"{SALES}/add"
    assert "Select a role." in send(adam, there, there, subject="nils").text
    assert send(adam, there, there, subject="nobody", role="business_user").status_code == 422
    late = send(adam, there, there, subject="nils", role="business_user", until="2001-01-01")
    assert (late.status_code, 'value="business_user" checked' in late.text) == (422, True)


def test_a_member_sees_themself_and_changes_nobody(shop: Shop) -> None:
    bella = shop.client("bella")
    text = bella.get(SALES).text.partition("<main")[2]
    assert "Bella, Business User" in text
    assert "Tara, Technical User" not in text
    assert "You cannot grant roles here." in text
    assert bella.get(f"{SALES}/add").status_code == 403
    for part in ("add", "change", "remove"):
        fields = {"subject": "bella", "role": "admin", "confirmed": "1"}
        assert send(bella, SALES, f"{SALES}/{part}", **fields).status_code == 403
    assert send(bella, SALES, f"{SALES}/undo?subject=bella&role=admin").status_code == 403


def test_the_list_is_searched_and_filtered(shop: Shop) -> None:
    olga = shop.client("olga")
    technical = olga.get(f"{SALES}?role=technical_user").text.partition("<tbody")[2]
    assert "Tara" in technical
    assert "Bella" not in technical
    groups = olga.get("/workspaces/lake_house/members?who=group").text.partition("<tbody")[2]
    assert "Engineers" in groups
    assert "Tim" not in groups
    assert "Admin of the tenant is Project Admin here." in olga.get(SALES).text


def test_somebody_has_to_be_selected(shop: Shop) -> None:
    here = "/workspaces/landing/members/add"
    answer = send(shop.client("olga"), here, here, subject="", role="can_view")
    assert answer.status_code == 422
    assert "Select a member or group." in answer.text
