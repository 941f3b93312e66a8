"""How a thing is shared, and to whom it belongs."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from lakehold.access import Grant
from lakehold.catalog import undo
from lakehold.directory.caller import Caller
from lakehold.kit.clock import FOREVER
from tests.web.conftest import Open
from tests.web.demo import Shop
from tests.web.forms import send, token

HERE = "/resources/daily_sales/access"


def may(shop: Shop, member: str, action: str, uid: str = "daily_sales") -> bool:
    with shop.platform.read(Caller("corner", "olga")) as ctx:
        return ctx.session.check(member, action, uid)


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_an_owner_shares_for_maintenance_and_takes_it_back(open_as: Open, shop: Shop, scripts: bool) -> None:
    page = open_as("tara", HERE, scripts=scripts)
    page.get_by_role("switch", name="Shared for maintenance").check()
    page.get_by_role("button", name="Preview changes").click()
    expect(page.get_by_role("row").filter(has_text="Shared for maintenance")).to_contain_text("on")
    expect(page.get_by_text("will gain").first).to_be_visible()
    assert not may(shop, "tim", "edit")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert may(shop, "tim", "edit")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert not may(shop, "tim", "edit")


@pytest.mark.browser
def test_a_context_is_taken_away_and_who_loses_by_it_is_told(open_as: Open, shop: Shop) -> None:
    page = open_as("tara", HERE)
    page.get_by_role("checkbox", name="EMEA").uncheck()
    page.get_by_role("button", name="Preview changes").click()
    expect(page.get_by_text("2 members will lose").first).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("checkbox", name="EMEA")).not_to_be_checked()
    expect(page.get_by_role("checkbox", name="AMERICAS")).to_be_checked()
    assert not may(shop, "boris", "use")


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_an_owner_hands_over_what_is_theirs(open_as: Open, shop: Shop, scripts: bool) -> None:
    page = open_as("tara", HERE, scripts=scripts, refused=True)
    page.get_by_role("link", name="Transfer ownership: Technical Owner from Tara, Technical User").click()
    page.get_by_label("To", exact=True).select_option("tara")
    page.get_by_role("button", name="Preview changes").click()
    expect(page.get_by_text("They are already the owner.").first).to_be_visible()
    page.get_by_label("To", exact=True).select_option("tim")
    page.get_by_role("button", name="Preview changes").click()
    expect(page.get_by_role("heading", name="Transfer Technical Owner to Tim, Technical User in EMEA?")).to_be_visible()
    expect(page.get_by_text("1 member will lose").first).to_be_visible()
    page.get_by_role("button", name="Transfer ownership").click()
    expect(page.get_by_text("in place of Tara, Technical User.")).to_be_visible()
    assert (may(shop, "tim", "edit"), may(shop, "tara", "edit")) == (True, False)


def test_the_one_owner_of_a_space_is_handed_over_by_a_data_admin(shop: Shop) -> None:
    client = shop.client("dana")
    sent = {"csrf_token": token(client, "/resources/landing/access"), "role": "owner", "from": "petra", "to": "erik"}
    asked = client.post("/resources/landing/access/transfer", data=sent)
    assert "Transfer Is owner to Erik, Engineer?" in asked.text
    client.post("/resources/landing/access/transfer", data={**sent, "confirmed": "1"})
    assert may(shop, "erik", "manage_members", "landing")
    assert not may(shop, "petra", "manage_members", "landing")


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_what_was_handed_over_by_mistake_is_called_back(open_as: Open, shop: Shop, scripts: bool) -> None:
    page = open_as("dana", "/resources/landing/access/transfer?role=owner&to=erik&from=petra", scripts=scripts)
    page.get_by_role("button", name="Preview changes").click()
    page.get_by_role("button", name="Transfer ownership").click()
    expect(page.get_by_text("Erik, Engineer is now Is owner")).to_be_visible()
    assert may(shop, "erik", "manage_members", "landing")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert may(shop, "petra", "manage_members", "landing")
    assert not may(shop, "erik", "manage_members", "landing")
    before = urlencode({"before": undo.dump({Grant("erik", "owner", "landing"): [(0, FOREVER)]})})
    assert send(shop.client("nils"), "/", f"/resources/landing/access/undo?{before}").status_code in {403, 404}


def test_who_may_not_share_sees_how_it_is_and_cannot_change_it(shop: Shop) -> None:
    client = shop.client("bella")
    text = client.get(HERE).text
    assert "Shared for reporting" in text
    assert "Preview changes" not in text
    assert "Transfer ownership" not in text
    sent = {"csrf_token": token(client, HERE), "shown": "shared_for_maintenance", "shared_for_maintenance": "true"}
    assert client.post(f"{HERE}/settings", data={**sent, "confirmed": "1"}).status_code == 403
    undo = f"{HERE}/settings/undo?shown=shared_for_maintenance&shared_for_maintenance=true"
    assert client.post(undo, data=sent).status_code == 403
    assert client.get(f"{HERE}/transfer?role=technical_owner").status_code == 403
    assert not may(shop, "tim", "edit")


def test_saving_what_is_so_already_changes_nothing(shop: Shop) -> None:
    client = shop.client("tara")
    sent = {"csrf_token": token(client, HERE), "shown": "shared_for_reporting", "shared_for_reporting": "true"}
    assert client.post(f"{HERE}/settings", data=sent).status_code == 303
    assert "No changes." in client.get(HERE).text
