"""Giving access, changing it and taking it away, with its effect shown before it is saved."""

from __future__ import annotations

import re
from html import unescape

import pytest
from playwright.sync_api import Page, expect

from lakehold.access import Grant
from lakehold.access.facts.store import Period
from lakehold.catalog import grants, undo
from lakehold.directory.caller import Caller
from lakehold.kit.clock import DAY
from tests.web.access.keys import tab_to
from tests.web.conftest import Open
from tests.web.demo import Shop
from tests.web.forms import token

HERE = "/resources/clean/access"


def roles_of(shop: Shop, subject: str, uid: str = "clean") -> list[str]:
    with shop.platform.read(Caller("corner", "olga")) as ctx:
        return [grant.role for grant in ctx.grants(uid) if grant.subject == subject]


def periods(shop: Shop, grant: Grant) -> list[Period]:
    with shop.platform.write(Caller("corner", "olga")) as ctx:
        return ctx.session.store.periods(grant)


@pytest.mark.browser
def test_a_manager_gives_a_role_sees_its_effect_and_takes_it_back(open_as: Open, shop: Shop) -> None:
    page = open_as("mona", HERE)
    page.get_by_role("link", name="Grant access").click()
    page.get_by_role("searchbox", name="Find by name").fill("nils")
    expect(page.get_by_label("Member or group").get_by_role("option")).to_have_count(1)
    page.get_by_label("Role").select_option(label="Editor")
    page.get_by_label("Expiration").select_option(label="30 days")
    page.get_by_role("button", name="Preview changes").click()
    expect(page.get_by_role("heading", name="Grant Editor to Nils, New here?")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="1 member will gain")).to_contain_text("9 tables")
    assert roles_of(shop, "nils") == []
    page.get_by_role("button", name="Grant Editor").click()
    expect(page.get_by_text("Nils, New here is now Editor on Clean, until")).to_be_visible()
    assert roles_of(shop, "nils") == ["editor"]
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert roles_of(shop, "nils") == []


@pytest.mark.browser
def test_without_scripts_somebody_is_found_and_given_a_role_until_a_day(open_as: Open, shop: Shop) -> None:
    page = open_as("mona", f"{HERE}/give", scripts=False, refused=True)
    page.get_by_role("searchbox", name="Find by name").fill("carla")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_label("Member or group").get_by_role("option")).to_have_count(1)
    page.get_by_label("Expiration").select_option(label="Until a date")
    page.get_by_label("Expires").fill("2001-02-03")
    page.get_by_role("button", name="Preview changes").click()
    expect(page.get_by_text("The end date must be after the start date.")).to_be_visible()
    expect(page.get_by_label("Member or group")).to_have_value("carla")
    page.get_by_label("Expires").fill("2099-02-03")
    page.get_by_role("button", name="Preview changes").click()
    expect(page.get_by_text("Until 2099-02-03.")).to_be_visible()
    page.get_by_role("button", name="Grant Viewer").click()
    row = page.get_by_role("listitem").filter(has_text="Carla, Curator")
    expect(row).to_contain_text("until 2099-02-03")
    assert roles_of(shop, "carla") == ["viewer"]


@pytest.mark.browser
def test_a_role_is_changed_in_place(open_as: Open, shop: Shop) -> None:
    page = open_as("mona", HERE)
    page.get_by_role("button", name="Actions for Ana, Analyst, Viewer").click()
    page.get_by_role("link", name="Change").filter(visible=True).click()
    form = page.get_by_role("dialog", name="Change Viewer of Ana, Analyst")
    form.get_by_label("Role").select_option(label="Editor")
    form.get_by_role("button", name="Preview changes").click()
    expect(page.get_by_role("heading", name="Change role of Ana, Analyst to Editor?")).to_be_visible()
    expect(page.get_by_text("will gain").first).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Ana, Analyst is now Editor on Clean.")).to_be_visible()
    assert roles_of(shop, "ana") == ["editor"]
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert roles_of(shop, "ana") == ["viewer"]


def revoke(page: Page) -> None:
    page.get_by_role("button", name="Actions for Engineers, Editor").click()
    page.get_by_role("button", name="Revoke").filter(visible=True).click()


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_a_role_is_revoked_and_who_loses_what_is_told_first(open_as: Open, shop: Shop, scripts: bool) -> None:
    page = open_as("mona", HERE, scripts=scripts)
    revoke(page)
    expect(page.get_by_role("heading", name="Revoke Editor from Engineers?")).to_be_visible()
    expect(page.get_by_text("3 members will lose").first).to_be_visible()
    page.get_by_role("link", name="Back").click()
    assert roles_of(shop, "engineers") == ["editor"]
    revoke(page)
    page.get_by_role("button", name="Revoke Editor").click()
    expect(page.get_by_text("Engineers is no longer Editor on Clean.")).to_be_visible()
    assert roles_of(shop, "engineers") == []
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert roles_of(shop, "engineers") == ["editor"]


@pytest.mark.browser
def test_the_rows_behind_an_effect_can_be_read(open_as: Open) -> None:
    page = open_as("mona", HERE)
    revoke(page)
    page.get_by_role("link", name="9 tables").first.click()
    expect(page.get_by_role("heading", name="Effect on access", level=1)).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="Erik, Engineer").first).to_contain_text("lose")


@pytest.mark.browser
def test_the_keyboard_alone_gives_and_revokes(open_as: Open, shop: Shop) -> None:
    page = open_as("mona", HERE)
    tab_to(page, "Grant access")
    page.keyboard.press("Enter")
    page.wait_for_url("**/give")
    tab_to(page, "Find by name")
    page.keyboard.type("nils")
    expect(page.get_by_label("Member or group").get_by_role("option")).to_have_count(1)
    tab_to(page, "Role")
    page.keyboard.press("E")
    tab_to(page, "Preview changes")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Grant Editor to Nils, New here?")).to_be_visible()
    tab_to(page, "Grant Editor")
    page.keyboard.press("Enter")
    expect(page.get_by_text("is now Editor on Clean")).to_be_visible()
    assert roles_of(shop, "nils") == ["editor"]
    tab_to(page, "Actions for Nils, New here, Editor")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Revoke Editor from Nils, New here?")).to_be_visible()
    tab_to(page, "Revoke Editor")
    page.keyboard.press("Enter")
    expect(page.get_by_text("is no longer Editor on Clean")).to_be_visible()
    assert roles_of(shop, "nils") == []


@pytest.mark.browser
def test_who_may_not_give_is_told_what_they_need(open_as: Open) -> None:
    page = open_as("erik", HERE)
    page.get_by_role("button", name="Grant access").click()
    expect(page.get_by_text("You need Manager on Clean.")).to_be_visible()
    expect(page.get_by_role("link", name="Request access").filter(visible=True).last).to_be_visible()
    expect(page.get_by_role("button", name="Actions for Engineers, Editor")).to_have_count(0)


def test_what_one_may_not_do_is_refused_however_it_is_sent(shop: Shop) -> None:
    client = shop.client("erik")
    sent = {"csrf_token": token(client, HERE), "subject": "nils", "role": "viewer", "confirmed": "1"}
    assert client.post(f"{HERE}/give", data=sent).status_code == 403
    gone = {**sent, "subject": "ana"}
    assert client.post(f"{HERE}/revoke", data=gone).status_code in {403, 404}
    before = undo.dump({Grant("ana", "viewer", "clean"): []})
    assert client.post(f"{HERE}/undo", params={"before": before}, data=sent).status_code == 403
    assert client.post(f"{HERE}/undo", params={"before": "[1]"}, data=sent).status_code == 422
    assert client.get("/resources/clean/access/give").status_code == 403
    assert (roles_of(shop, "nils"), roles_of(shop, "ana")) == ([], ["viewer"])


def test_forms_that_cannot_be_right_say_so_and_keep_what_was_filled_in(shop: Shop) -> None:
    client = shop.client("mona")
    sent = {"csrf_token": token(client, HERE), "subject": "nobody", "role": "viewer", "until": "never"}
    wrong = client.post(f"{HERE}/give", data=sent)
    assert wrong.status_code == 422
    assert "Select a member or group." in wrong.text
    dateless = client.post(f"{HERE}/give", data={**sent, "subject": "nils", "until": "date"})
    assert (dateless.status_code, "Select an end date." in dateless.text) == (422, True)
    assert '<option value="nils" selected>' in dateless.text
    assert client.get(f"{HERE}/change?subject=nils&role=viewer").status_code == 404


def test_a_grant_begins_on_a_day_and_undo_keeps_when_it_ended(shop: Shop) -> None:
    client = shop.client("mona")
    sent = {"csrf_token": token(client, HERE), "subject": "nils", "role": "viewer", "confirmed": "1"}
    begun = {**sent, "since_date": "2098-01-01", "until": "7"}
    assert client.post(f"{HERE}/give", data=begun).status_code == 303
    assert "from 2098-01-01 until 2098-01-07" in client.get(HERE).text
    with shop.platform.read(Caller("corner", "mona")) as ctx:
        end = ctx.at + DAY
    nils = Grant("nils", "viewer", "clean")
    begun_later = periods(shop, nils)
    assert client.post(f"{HERE}/undo", params={"before": undo.dump({nils: [(0, end)]})}, data=sent).status_code == 303
    ((since, until),) = periods(shop, nils)
    assert (since < end, until) == (True, end)
    assert client.post(f"{HERE}/undo", params={"before": undo.dump({nils: begun_later})}, data=sent).status_code == 303
    assert periods(shop, nils) == begun_later


def test_undo_is_offered_and_gives_back_every_period(shop: Shop) -> None:
    client, ana = shop.client("mona"), Grant("ana", "viewer", "clean")
    with shop.platform.write(Caller("corner", "mona")) as ctx:
        grants.change_role(ctx, ana, "viewer", until=ctx.at + 7 * DAY)
        grants.give(ctx, ana, since=ctx.at + 30 * DAY)
    before = [until for _, until in periods(shop, ana)]
    sent = {"csrf_token": token(client, HERE), "subject": "ana", "role": "viewer", "confirmed": "1"}
    for do, fields in (("give", {}), ("change", {"new_role": "editor"}), ("revoke", {})):
        done = client.post(f"{HERE}/{do}", data=sent | fields)
        assert done.status_code == 303
        assert [until for _, until in periods(shop, ana)] != before
        offered = re.search(r'action="([^"]*/undo[^"]*)"', client.get(HERE).text)
        assert offered is not None
        assert client.post(unescape(offered[1]), data=sent).status_code == 303
        assert [until for _, until in periods(shop, ana)] == before
        assert roles_of(shop, "ana") == ["viewer"]


def test_a_broken_address_of_effects_is_refused(shop: Shop) -> None:
    client = shop.client("mona")
    for broken in ("x", '[{"fact": "grant"}]', '{"a": 1}', '[{"fact": "none"}]', "[1]"):
        assert client.get(f"{HERE}/effects", params={"add": broken}).status_code == 422, broken
    hidden = '[{"fact": "grant", "subject": "nils", "role": "viewer", "resource": "salaries"}]'
    assert client.get(f"{HERE}/effects", params={"add": hidden}).status_code == 404
