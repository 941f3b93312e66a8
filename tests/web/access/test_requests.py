"""Asking for access, and answering."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from lakehold.directory.caller import Caller
from tests.web.access.chain import join_too_many
from tests.web.access.keys import tab_to
from tests.web.conftest import Open
from tests.web.demo import Shop
from tests.web.forms import token

NEW = "/requests/new?resource=orders&action=edit"


def may(shop: Shop, member: str, action: str, uid: str = "orders") -> bool:
    with shop.platform.read(Caller("corner", "olga")) as ctx:
        return ctx.session.check(member, action, uid)


def ask(shop: Shop, member: str, uid: str, action: str, reason: str = "For the report") -> str:
    """The address of a new request."""
    client = shop.client(member)
    sent = {"csrf_token": token(client, "/requests/new"), "resource": uid, "action": action, "reason": reason}
    return client.post("/requests/new", data=sent).headers["location"]


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_somebody_asks_and_is_answered_for_a_time(open_as: Open, shop: Shop, scripts: bool) -> None:
    page = open_as("ana", NEW, scripts=scripts)
    page.get_by_role("radio", name="Editor on orders").check()
    page.get_by_label("Reason").fill("The column names are wrong")
    page.get_by_role("button", name="Send request").click()
    expect(page.get_by_text("You requested to edit orders.")).to_be_visible()
    expect(page.get_by_role("heading", name="Edit orders", level=1)).to_be_visible()

    other = open_as("mona", "/requests", scripts=scripts)
    other.get_by_role("link", name="Edit orders").click()
    expect(other.get_by_text("The column names are wrong").first).to_be_visible()
    expect(other.get_by_role("status").filter(has_text="1 member will gain")).to_contain_text("1 table")
    other.get_by_label("Expiration").select_option(label="7 days")
    other.get_by_role("button", name="Approve").click()
    expect(other.get_by_text("Ana, Analyst may edit orders now.")).to_be_visible()
    assert may(shop, "ana", "edit")
    page.reload()
    expect(page.get_by_text("Mona, Manager of the lake approved it, until")).to_be_visible()


@pytest.mark.browser
def test_the_keyboard_alone_asks_and_answers(open_as: Open, shop: Shop) -> None:
    page = open_as("ana", "/resources/orders/why?action=edit")
    tab_to(page, "Request")
    tab_to(page, "Request")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Request access to orders")
    expect(dialog).to_be_visible()
    tab_to(page, "Reason")
    page.keyboard.type("For a fix")
    tab_to(page, "Send request")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You requested to edit orders.")).to_be_visible()
    address = page.url.partition("/requests/")[2]

    other = open_as("mona", f"/requests/{address}")
    tab_to(other, "Approve")
    other.keyboard.press("Enter")
    expect(other.get_by_text("Ana, Analyst may edit orders now.")).to_be_visible()
    assert may(shop, "ana", "edit")


@pytest.mark.browser
def test_a_no_needs_a_reason_and_who_asked_reads_it(open_as: Open, shop: Shop) -> None:
    here = ask(shop, "ana", "orders", "edit")
    page = open_as("mona", here, scripts=False, refused=True)
    page.get_by_label("Reason").fill("  ")
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_text("Enter a reason.")).to_be_visible()
    page.get_by_label("Reason").fill("Ask Erik to do it")
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_text("Request denied. Ana, Analyst is notified.")).to_be_visible()
    text = shop.client("ana").get(here).text
    assert "Ask Erik to do it" in text
    assert "Withdraw" not in text
    assert not may(shop, "ana", "edit")


@pytest.mark.browser
def test_somebody_asks_no_longer(open_as: Open, shop: Shop) -> None:
    page = open_as("ana", ask(shop, "ana", "orders", "edit"))
    page.get_by_role("button", name="Withdraw").click()
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("Request withdrawn: orders.")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="Edit orders")).to_contain_text("Withdrawn")


@pytest.mark.browser
def test_what_can_be_found_is_asked_for_from_home(open_as: Open) -> None:
    page = open_as("nils", "/")
    page.get_by_role("listitem").filter(has_text="orders").get_by_role("link", name="Request").click()
    page.get_by_label("What do you want to do?").select_option(label="Read")
    page.get_by_role("button", name="Send request").click()
    expect(page.get_by_text("You requested to read orders.")).to_be_visible()
    assert "Viewer" not in page.get_by_role("main").inner_text(), "what it needs is for those who give it"


@pytest.mark.browser
def test_what_it_needs_changes_with_what_is_wanted(open_as: Open) -> None:
    page = open_as("ana", NEW)
    page.get_by_label("What do you want to do?").select_option(label="Delete")
    expect(page.get_by_role("radio", name="Manager on orders")).to_be_checked()


def test_something_unseen_is_asked_for_alike_whether_or_not_it_is_there(shop: Shop) -> None:
    client = shop.client("nils")

    def plain(text: str, uid: str) -> str:
        return re.sub(r'value="[^"]{60,}"|content="[^"]{60,}"|<time[^>]*>', "", text).replace(uid, "X")

    pages = {
        uid: plain(client.get(f"/requests/new?resource={uid}&action=read").text, uid)
        for uid in ("salaries", "nowhere_")
    }
    assert pages["salaries"] == pages["nowhere_"]
    made = [ask(shop, "nils", uid, "read") for uid in ("salaries", "nowhere_")]
    page_texts = [re.sub(r"[0-9a-f]{16}", "ID", client.get(path).text) for path in made]
    assert plain(page_texts[0], "salaries") == plain(page_texts[1], "nowhere_")
    assert "Carla" not in page_texts[0]


def test_a_request_is_for_who_asked_and_for_those_who_can_give_it(shop: Shop) -> None:
    here = ask(shop, "ana", "orders", "edit")
    assert shop.client("mona").get(here).status_code == 200
    for stranger in ("nils", "bella", "tara"):
        answer = shop.client(stranger).get(here)
        assert (answer.status_code, "For the report" in answer.text) == (404, False)
    client = shop.client("bella")
    sent = {"csrf_token": token(client, "/requests/new"), "reason": "no"}
    for verb in ("approve", "refuse", "withdraw"):
        assert client.post(f"{here}/{verb}", data=sent).status_code == 404
    assert not may(shop, "ana", "edit")


def test_lists_say_what_waits_and_what_became_of_it(shop: Shop) -> None:
    ask(shop, "ana", "orders", "edit")
    ask(shop, "nils", "clean", "see")
    assert "Edit orders" in shop.client("mona").get("/requests").text
    mine = shop.client("ana").get("/requests/mine?state=pending").text
    assert "Edit orders" in mine
    assert "Edit orders" not in shop.client("ana").get("/requests/mine?state=approved").text
    assert "No requests yet" in shop.client("victor").get("/requests/mine").text
    assert "No pending requests" in shop.client("victor").get("/requests").text


def test_there_is_nothing_to_ask_for_where_one_may(shop: Shop) -> None:
    assert "Nothing to request" in shop.client("ana").get("/requests/new?resource=orders&action=read").text
    assert "Nothing to request" in shop.client("olga").get("/requests/new?resource=orders&action=").text
    join_too_many(shop)
    assert "Cannot be granted" in shop.client("olga").get("/requests/new?resource=morning_sales&action=run").text


def test_a_request_that_cannot_be_right_is_shown_again(shop: Shop) -> None:
    client = shop.client("ana")
    sent = {"csrf_token": token(client, NEW), "resource": "orders", "action": "edit", "reason": "For me"}
    wrong = client.post("/requests/new", data={**sent, "way": "[]"})
    assert (wrong.status_code, "For me" in wrong.text) == (422, True)
    assert client.post("/requests/new", data={**sent, "way": "{"}).status_code == 422
    assert client.post("/requests/new", data={**sent, "reason": "x" * 3_000}).status_code == 422
    assert client.post("/requests/new", data={**sent, "action": ""}).status_code == 422
    assert client.get("/requests/nothing").status_code == 404
