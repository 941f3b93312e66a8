"""Why? The paths of a yes, and what is missing for a no."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from lakehold.access import Attribute
from lakehold.directory.caller import Caller
from tests.web.access.chain import join_too_many
from tests.web.conftest import Open
from tests.web.demo import Shop


def nodes(way: Locator) -> list[str]:
    return [" ".join(text.split()) for text in way.get_by_role("listitem").all_inner_texts()]


def ways(page: Page) -> list[list[str]]:
    return [nodes(each) for each in page.get_by_role("main").get_by_role("list").all() if "Role" in each.inner_text()]


@pytest.mark.browser
def test_an_engineer_learns_by_which_path_they_may(open_as: Open) -> None:
    page = open_as("erik", "/resources/orders/why?action=read")
    expect(page.get_by_role("heading", name="Why may you read orders?", level=1)).to_be_visible()
    assert ways(page) == [
        ["You Erik, Engineer", "is in Group Engineers", "holds Role Editor", "on Layer Clean", "has Table orders"]
    ]
    expect(page.get_by_text(re.compile(r"lakehouse/model\.yaml:\d+"))).to_be_visible()


@pytest.mark.browser
def test_a_no_tells_what_is_missing_and_leads_to_a_request(open_as: Open) -> None:
    page = open_as("erik", "/resources/orders/why?action=delete")
    expect(page.get_by_text("You may not delete orders.")).to_be_visible()
    assert ways(page)[0] == ["You Erik, Engineer", "needs Role · missing Manager", "on Table orders"]
    page.get_by_role("link", name="Request", exact=True).nth(1).click()
    asking = page.get_by_role("dialog", name="Request access to orders")
    expect(asking.get_by_role("radio", name="Manager on Clean")).to_be_checked()


@pytest.mark.browser
def test_another_action_is_chosen_without_scripts(open_as: Open) -> None:
    page = open_as("erik", "/resources/orders/why", scripts=False)
    page.get_by_label("Action").select_option("grant_manager")
    page.get_by_role("button", name="Why?").click()
    expect(page.get_by_role("heading", name="Why may you not grant manager orders?")).to_be_visible()


def test_what_holds_together_is_drawn_together(shop: Shop) -> None:
    text = shop.client("bella").get("/resources/daily_sales/why?action=use").text
    assert text.count('class="way"') == 2
    assert "Shared for reporting: on" in text
    assert "Business Owner" in text


def test_who_gives_here_asks_about_others_and_others_do_not(shop: Shop) -> None:
    assert (
        "Ana, Analyst may read orders." in shop.client("mona").get("/resources/orders/why?action=read&member=ana").text
    )
    refused = shop.client("erik").get("/resources/orders/why?action=read&member=ana")
    assert refused.status_code == 403
    assert "Ana, Analyst" not in refused.text
    assert shop.client("mona").get("/resources/orders/why?action=read&member=nobody").status_code == 404
    assert shop.client("mona").get("/resources/orders/why?action=read&member=clean").status_code == 404


def test_nothing_hidden_is_named(shop: Shop) -> None:
    """A query is seen by who sees all that it reads and writes; what it would need is told of what they see alone."""
    with shop.platform.write(Caller("corner", "tara")) as ctx:
        ctx.session.store.create(
            "lakehouse.query", "Shown query", uid="shown", edges={"lakehouse": "lake_house", "reads": ("weather",)}
        )
        ctx.session.store.create(
            "lakehouse.query",
            "Half query",
            uid="half",
            edges={"lakehouse": "lake_house", "reads": ("weather",), "writes": ("salaries",)},
        )
    client = shop.client("tim")
    assert client.get("/resources/shown/why?action=edit").status_code == 200
    assert client.get("/resources/half/why?action=edit").status_code == 404
    for action in ("see", "edit", "delete"):
        assert "salaries" not in client.get(f"/resources/shown/why?action={action}").text


def test_what_nobody_can_give_is_said(shop: Shop) -> None:
    join_too_many(shop)
    text = shop.client("olga").get("/resources/morning_sales/why?action=run").text
    assert "Cannot be granted" in text
    assert "Request" not in text.partition("<main")[2].partition("</main>")[0].replace("Requests", "")


def test_a_gate_that_does_not_hold_is_told(shop: Shop) -> None:
    with shop.platform.write(Caller("corner", "olga")) as ctx:
        ctx.session.store.add(Attribute("board_mail", "deleted", "true"))
    text = shop.client("olga").get("/resources/board_mail/why?action=use").text
    assert "Required conditions" in text
    assert "not met" in text


def test_odd_questions_are_answered_calmly(shop: Shop) -> None:
    client = shop.client("erik")
    assert "Why may you see orders?" in client.get("/resources/orders/why?action=fly").text
    assert client.get("/resources/orders/why?action=%00&member=%00").status_code in {404, 422}
