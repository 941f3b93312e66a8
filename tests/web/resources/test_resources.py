"""Workspaces and what is in them, as people look at them and change them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.web.demo import Shop

Open = Callable[..., Page]
Violations = Callable[[Page], list[str]]


def test_from_the_navigation_to_one_thing(open_as: Open) -> None:
    page = open_as("tara", "/workspaces/sales")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Data marts").click()
    expect(page.get_by_role("heading", name="Data marts")).to_be_visible()
    page.get_by_role("searchbox", name="Search data marts").fill("daily")
    expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_role("link", name="Daily sales").click()
    expect(page.get_by_role("heading", name="Daily sales", level=1)).to_be_visible()


def test_a_list_is_sorted_and_searched_by_its_address(shop: Shop) -> None:
    client = shop.client("tara")
    up = client.get("/workspaces/sales/data_mart").text
    down = client.get("/workspaces/sales/data_mart?sort=-name").text
    assert up.index("Baskets") < up.index("Margins")
    assert down.index("Margins") < down.index("Baskets")
    assert "Baskets" not in client.get("/workspaces/sales/data_mart?q=margin").text


@pytest.mark.parametrize("scripts", [True, False])
def test_somebody_makes_a_context_and_deletes_it(open_as: Open, scripts: bool) -> None:
    page = open_as("adam", "/resources/new?kind=marts.context&in=sales", scripts=scripts)
    page.get_by_label("Name").fill("APAC")
    page.get_by_label("Description").fill("Shops in Asia.")
    page.get_by_role("button", name="Create ").click()
    expect(page.get_by_role("heading", name="APAC", level=1)).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("Shops in Asia.")
    if scripts:
        page.get_by_role("button", name="More actions").click()
        page.get_by_role("button", name="Delete").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.get_by_role("heading", name="Sales marts", level=1)).to_be_visible()


def test_what_was_filled_in_is_not_lost_by_a_mistake(shop: Shop) -> None:
    client = shop.client("adam")
    form = client.get("/resources/new?kind=marts.context&in=sales").text
    token = form.split('name="csrf_token" value="')[1].split('"')[0]
    sent = {"csrf_token": token, "kind": "marts.context", "in": "sales", "edge_project": "sales", "name": " "}
    answer = client.post("/resources/new", data={**sent, "description": "kept words"})
    assert answer.status_code == 422
    assert "kept words" in answer.text


def test_somebody_describes_a_table(open_as: Open) -> None:
    page = open_as("erik", "/resources/orders/edit")
    page.get_by_label("Description").fill("What the tills sold.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Description")).to_have_count(0)
    expect(page.get_by_role("main")).to_contain_text("What the tills sold.")


def test_who_edits_what_somebody_else_has_changed_is_told(open_as: Open) -> None:
    mine = open_as("erik", "/resources/orders/edit", refused=True)
    other = open_as("adam", "/resources/orders/edit")
    other.get_by_label("Description").fill("By Adam.")
    other.get_by_role("button", name="Save").click()
    expect(other.get_by_role("main")).to_contain_text("By Adam.")
    mine.get_by_label("Description").fill("By Erik.")
    mine.get_by_role("button", name="Save").click()
    expect(mine.get_by_role("alert")).to_be_visible()
    expect(mine.get_by_label("Description")).to_have_value("By Erik.")


def test_what_one_may_not_do_says_so_and_offers_to_ask(open_as: Open) -> None:
    page = open_as("bella", "/resources/daily_sales")
    card = page.get_by_role("listitem").filter(has_text="Configure sharing")
    expect(card.get_by_role("link", name="Request")).to_be_visible()
    expect(card.get_by_role("link", name="Why: Configure sharing")).to_be_visible()


def test_what_one_may_not_see_looks_like_what_is_not_there(shop: Shop) -> None:
    client = shop.client("nils")
    hidden, missing = client.get("/resources/daily_sales"), client.get("/resources/no_such_thing")
    assert (hidden.status_code, missing.status_code) == (404, 404)
    assert "Daily sales" not in hidden.text
    assert client.get("/workspaces/sales").status_code == 404


def test_the_palette_finds_what_one_may_see_and_nothing_else(shop: Shop) -> None:
    found = shop.client("tara").get("/ui/search?q=daily").json()["items"]
    assert "Daily sales" in {item["label"] for item in found}
    assert shop.client("nils").get("/ui/search?q=daily").json()["items"] == []
    assert shop.client().get("/ui/search?q=daily").json()["items"] == []


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("/workspaces/sales/run", "A run is started on the page of what it runs."),
        ("/workspaces/lake_house/stream", "Streams are selected on the page of their source."),
    ],
)
def test_what_is_created_elsewhere_has_no_general_form(shop: Shop, page: str, told: str) -> None:
    answer = shop.client("olga").get(page).text
    assert told in answer
    assert "/resources/new?" not in answer
