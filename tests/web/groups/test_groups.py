"""Groups: made, filled, emptied, renamed and deleted."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from lakehold.access import Edge
from lakehold.catalog import undo
from lakehold.directory import groups
from lakehold.directory.caller import Caller
from lakehold.kit.clock import DAY
from tests.web.conftest import Open
from tests.web.demo import Shop
from tests.web.forms import send

pytestmark = pytest.mark.browser

OLGA = Caller("corner", "olga")


def members_of(shop: Shop, group: str) -> tuple[str, ...]:
    with shop.platform.read(OLGA) as ctx:
        return groups.get(ctx, group).members


def test_an_admin_makes_a_group_and_puts_somebody_in(open_as: Open) -> None:
    page = open_as("adam", "/groups")
    page.get_by_role("link", name="New group").click()
    page.get_by_label("Name").fill("Night shift")
    page.get_by_role("button", name="Create group").click()
    expect(page.get_by_role("heading", name="Night shift", level=1)).to_be_visible()
    expect(page.get_by_text("No members yet")).to_be_visible()
    page.get_by_role("link", name="Add member").click()
    page.get_by_label("Member", exact=True).select_option("Nils, New here")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("Nobody gains or loses access.")).to_be_visible()
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("Nils, New here was added to Night shift.")).to_be_visible()
    expect(page.get_by_role("link", name="Nils, New here")).to_be_visible()


def test_somebody_is_let_in_for_a_time_and_it_is_undone(open_as: Open, shop: Shop) -> None:
    page = open_as("adam", "/people/nils")
    page.get_by_role("link", name="Add to a group").click()
    page.get_by_role("link", name="Engineers").click()
    expect(page.get_by_label("Member", exact=True)).to_have_value("nils")
    page.get_by_label("Expires").fill("2999-12-31")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("Until the end of 2999-12-31.")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text(re.compile(r"1 member will gain .* on 23 tables"))
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("Nils, New here was added to Engineers.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert "nils" not in members_of(shop, "engineers")


def test_somebody_is_let_go_without_scripts(open_as: Open, shop: Shop) -> None:
    page = open_as("adam", "/groups/engineers", scripts=False)
    page.get_by_role("button", name="Remove Erik, Engineer").click()
    expect(page.get_by_role("heading", name="Remove Erik, Engineer from Engineers?")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("1 member will lose")
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Erik, Engineer was removed from Engineers.")).to_be_visible()
    assert "erik" not in members_of(shop, "engineers")


def test_a_day_that_is_over_is_refused_and_nothing_is_lost(shop: Shop) -> None:
    there = "/groups/engineers/add"
    answer = send(shop.client("adam"), there, there, member="nils", until="2001-01-01")
    assert answer.status_code == 422
    assert "This date is in the past." in answer.text
    assert '<option value="nils" selected>' in answer.text


def test_who_is_let_in_for_a_day_leaves_by_themself(shop: Shop) -> None:
    there = "/groups/engineers/add"
    with shop.platform.read(OLGA) as ctx:
        at = ctx.at
    assert send(shop.client("adam"), there, there, member="nils", until="2999-01-01", confirmed="1").status_code == 303
    with shop.platform.read(OLGA) as ctx:
        later = ctx.session.as_of(at + 366_000 * DAY)
        assert not later.check("nils", "read", "orders")
        assert ctx.session.check("nils", "read", "orders")


def test_a_group_is_renamed_and_deleted_with_what_is_lost_shown(open_as: Open) -> None:
    page = open_as("adam", "/groups/analysts")
    page.get_by_role("button", name="More").click()
    page.get_by_role("link", name="Rename").click()
    page.get_by_label("Name", exact=True).fill("Number people")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Number people", level=1)).to_be_visible()
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("main")).to_contain_text(re.compile(r"3 members will lose .* tables"))
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Number people was deleted.")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("link", name="Number people")).to_have_count(0)


def test_all_is_built_in(open_as: Open, shop: Shop) -> None:
    page = open_as("adam", "/groups")
    page.get_by_role("row").filter(has_text="Built in").get_by_role("link").click()
    expect(page.get_by_text("Membership is automatic.")).to_be_visible()
    expect(page.get_by_role("link", name="Add member")).to_have_count(0)
    expect(page.get_by_role("link", name="weather")).to_be_visible()
    there = "/groups/corner%2Fall/add"
    assert send(shop.client("adam"), "/groups", there, member="nils", confirmed="1").status_code == 403


def test_a_group_carries_a_tenant_role_but_is_never_an_owner(open_as: Open) -> None:
    page = open_as("olga", "/groups/stewards/roles")
    expect(page.get_by_role("checkbox", name="Owner")).to_be_disabled()
    page.get_by_role("checkbox", name="Editor").check()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("main")).to_contain_text("will gain")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The roles of Data stewards were saved.")).to_be_visible()


def test_who_may_not_change_groups_is_told_and_refused(shop: Shop) -> None:
    tara = shop.client("tara")
    text = tara.get("/groups/analysts").text
    assert "You need permission to manage groups in Corner &amp; Main." in text
    assert "Only visible to its members" in text
    assert 'action="/groups/analysts/remove"' not in text
    for path, fields in (("add", {"member": "nils"}), ("remove", {"member": "ana"}), ("rename", {"name": "x"})):
        assert send(tara, "/groups", f"/groups/analysts/{path}", **fields, confirmed="1").status_code == 403
    before = urlencode({"before": undo.dump({Edge("member_of", "ana", "analysts"): []})})
    assert send(tara, "/groups", f"/groups/analysts/undo?{before}").status_code == 403
    assert members_of(shop, "analysts") == ("ana", "bella", "boris")


def test_ones_own_group_tells_what_it_holds(shop: Shop) -> None:
    text = shop.client("tara").get("/groups/engineers").text
    assert "Store lake" in text
    assert "Shaped" in text
