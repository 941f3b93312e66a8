"""Workspaces: found, made, set and ended."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from lakehold.catalog import resources
from lakehold.directory.caller import Caller
from tests.web.conftest import Open
from tests.web.demo import Shop
from tests.web.forms import send

pytestmark = pytest.mark.browser

OLGA = Caller("corner", "olga")


def test_workspaces_are_found_by_name_and_kind(open_as: Open) -> None:
    page = open_as("otto", "/workspaces")
    expect(page.get_by_role("row").filter(has_text="Serving")).to_contain_text("Can operate")
    expect(page.get_by_role("row").filter(has_text="Sales marts")).to_have_count(0)
    page.get_by_label("Kind", exact=True).select_option("Data space")
    expect(page.get_by_role("row")).to_have_count(3)
    page.get_by_role("searchbox", name="Search workspaces").fill("land")
    expect(page.get_by_role("row")).to_have_count(2)


@pytest.mark.parametrize("scripts", [True, False])
def test_somebody_makes_a_data_space_of_their_own(open_as: Open, scripts: bool) -> None:
    page = open_as("stella", "/workspaces", scripts=scripts)
    page.get_by_role("link", name="New workspace").click()
    expect(page.get_by_role("link", name="Lakehouse", exact=True)).to_have_count(0)
    page.get_by_role("main").get_by_role("link", name="Data space", exact=True).click()
    page.get_by_label("Name").fill("Stella's notes")
    page.get_by_label("Description").fill("Trying things out.")
    page.get_by_role("switch", name="Personal").check()
    page.get_by_role("button", name="Create ").click()
    expect(page.get_by_role("heading", name="Stella's notes", level=1)).to_be_visible()


@pytest.mark.parametrize("model", ["lakehouse", "marts", "products", "spaces"])
def test_every_model_can_be_chosen(shop: Shop, model: str) -> None:
    admin = shop.client("adam")
    made = send(admin, "/workspaces/new", "/workspaces/new", model=model, name="A new one")
    assert made.status_code == 303
    page = admin.get(made.headers["location"] + "/settings")
    assert page.status_code == 200
    assert "A new one" in page.text


def test_a_workspace_needs_a_name(shop: Shop) -> None:
    there = "/workspaces/new?model=marts"
    answer = send(shop.client("adam"), there, "/workspaces/new", model="marts", name=" ", description="For shops")
    assert (answer.status_code, "For shops" in answer.text) == (422, True)


def test_who_may_not_make_one_is_told_where_to_ask(shop: Shop) -> None:
    tara = shop.client("tara")
    assert "You need permission to create workspaces." in tara.get("/workspaces").text
    assert "/requests/new?resource=corner&amp;action=create_workspace" in tara.get("/workspaces/new").text
    assert (
        send(tara, "/profile", "/workspaces/new", model="marts", name="Mine").headers["location"] == "/workspaces/new"
    )


def test_an_admin_renames_a_workspace(open_as: Open) -> None:
    page = open_as("adam", "/workspaces/sales/settings")
    page.get_by_label("Name").fill("Sales numbers")
    page.get_by_label("Description").fill("All that shops sell.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_role("heading", name="Sales numbers", level=1)).to_be_visible()


def test_a_second_one_who_saves_is_told(shop: Shop) -> None:
    admin, there = shop.client("adam"), "/workspaces/sales/settings"
    assert send(admin, there, there, name="First", version="99").status_code == 422


def test_a_switch_shows_what_it_does(open_as: Open) -> None:
    page = open_as("adam", "/workspaces/sales/settings")
    page.get_by_role("switch", name="Technical users control all reports").check()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("main")).to_contain_text(re.compile(r"\d members? will gain .* reports"))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_role("switch", name="Technical users control all reports")).to_be_checked()


def test_the_owner_changes_the_plan_after_seeing_what_it_does(open_as: Open) -> None:
    page = open_as("olga", "/workspaces/lake_house/settings")
    page.get_by_label("Plan").select_option("Starter")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("main")).to_contain_text(re.compile(r"\d+ members will gain .* tables"))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The plan was changed to Starter.")).to_be_visible()


def test_the_plan_is_the_owners(shop: Shop) -> None:
    adam = shop.client("adam")
    assert "Only an Owner can change it." in adam.get("/workspaces/lake_house/settings").text
    assert "Plan" not in adam.get("/workspaces/sales/settings").text.partition("<main")[2]
    refused = send(adam, "/workspaces/sales/settings", "/workspaces/lake_house/settings/plan", plan="starter")
    assert refused.status_code == 403


def test_a_context_is_made_in_the_settings(shop: Shop) -> None:
    adam, there = shop.client("adam"), "/workspaces/sales/settings"
    made = send(adam, there, f"{there}/labels", kind="marts.context", label_name="APAC")
    assert made.status_code == 303
    assert "APAC" in adam.get(there).text
    assert "New context" not in shop.client("bella").get(there).text


def test_a_full_workspace_stays_and_an_empty_one_ends(open_as: Open, shop: Shop) -> None:
    with shop.platform.write(OLGA) as ctx:
        resources.create(ctx, "lakehouse.lakehouse", "Old lake", uid="old_lake", edges={"tenant": "corner"})
    page = open_as("adam", "/workspaces/lake_house/settings", refused=True)
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog", name="Delete Store lake?").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("still contains others")).to_be_visible()
    page.goto("/workspaces/old_lake/settings")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog", name="Delete Old lake?").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Old lake was deleted.")).to_be_visible()


def test_a_member_reads_the_settings_and_changes_nothing(shop: Shop) -> None:
    bella, there = shop.client("bella"), "/workspaces/sales/settings"
    text = bella.get(there).text
    assert "You need permission to manage settings." in text
    assert f'action="{there}"' not in text
    assert send(bella, there, there, name="Mine").status_code == 403
    assert send(bella, there, f"{there}/switches", switch_technical_users_control_all_reports="1").status_code == 403
    assert send(bella, there, f"{there}/delete", confirmed="1").status_code == 403
    with shop.platform.read(OLGA) as ctx:
        found = resources.get(ctx, "sales")
    assert (found.name, found.attributes["technical_users_control_all_reports"]) == ("Sales marts", "false")


@pytest.mark.parametrize("part", ["members", "settings", "members/add"])
def test_a_workspace_that_one_may_not_see_is_not_there(shop: Shop, part: str) -> None:
    nils = shop.client("nils")
    answer = nils.get(f"/workspaces/sales/{part}")
    assert answer.status_code == 404
    assert "Sales marts" not in answer.text
    gone = nils.get(f"/workspaces/gone/{part}")
    assert re.sub(r"gone|csrf.*", "", gone.text)[:2000] == re.sub(r"sales|csrf.*", "", answer.text)[:2000]
