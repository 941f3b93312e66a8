"""Notifications of a project on their page: what it tells of, who receives it, and owners whose role is too low."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from lakehold.access import Grant
from lakehold.catalog import credentials, workspaces
from lakehold.demo import company
from lakehold.directory import members
from lakehold.workspaces.marts.notifications import receivers
from lakehold.workspaces.marts.notifications.preferences import NotificationChannel
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send
from tests.web.lakehouse.recorded_runs import as_member
from tests.web.marts.sample_data import settings_of

HERE = "/workspaces/sales/notifications"
HOOK = "https://localhost/hooks/sales"
SECRET = "a word between us"
WITH_PASSWORD = "me:pw@localhost"


def receive(shop: Shop, channel: NotificationChannel = NotificationChannel.FAILED_RUNS) -> list[str]:
    with shop.platform.read(as_member("olga")) as ctx:
        return receivers.channel_receivers(ctx, "sales", channel)


def owned(shop: Shop) -> None:
    """Two Business Users are Technical Owners."""
    with shop.platform.access.write(company.TENANT) as session:
        session.store.add(Grant("bella", "technical_owner", "daily_sales"))
        session.store.add(Grant("boris", "technical_owner", "margins"))


def test_it_is_open_to_everybody(shop: Shop, open_as: Open, violations: Violations) -> None:
    owned(shop)
    with shop.platform.write(as_member("adam")) as ctx:
        receivers.set_subscription(ctx, "sales", "bella", {"failed_runs": True})
    for member in ("adam", "bella"):
        page = open_as(member, HERE)
        expect(page.get_by_role("heading", name="Your notifications")).to_be_visible()
        assert violations(page) == [], member
        fits = page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert fits, member


def test_one_comes_there_from_the_project_and_from_no_other_workspace(shop: Shop, open_as: Open) -> None:
    page = open_as("bella", "/workspaces/sales")
    page.get_by_role("navigation", name="Workspace").get_by_role("link", name="Notifications").click()
    expect(page.get_by_role("heading", name="Your notifications")).to_be_visible()
    page.goto("/workspaces/sales/settings")
    page.get_by_role("link", name="Open notifications").click()
    expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Notifications")).to_have_attribute(
        "aria-current", "page"
    )
    tess = shop.client("olga")
    assert "/notifications" not in tess.get("/workspaces/store_lake/settings").text.replace(HERE, "")
    assert tess.get("/workspaces/store_lake/notifications").status_code == 404
    assert shop.client("nils").get(HERE).status_code == 404


@pytest.mark.parametrize("scripts", [True, False])
def test_receivers_are_changed_in_place(shop: Shop, open_as: Open, scripts: bool) -> None:
    page = open_as("adam", f"{HERE}?role=business_user", scripts=scripts)
    expect(page.get_by_role("row")).to_have_count(3)
    bella = page.get_by_role("switch", name="Failed runs: Bella")
    expect(bella).to_have_attribute("aria-checked", "false")
    bella.click()
    expect(bella).to_have_attribute("aria-checked", "true")
    assert receive(shop) == ["bella", "tara", "tim"]
    # Still the part of the list that was looked at.
    expect(page.get_by_role("row")).to_have_count(3)
    page.get_by_role("button", name="Custom. Failed runs of Bella").click()
    expect(bella).to_have_attribute("aria-checked", "false")
    expect(page.get_by_text("chosen", exact=True)).to_have_count(0)
    assert receive(shop) == ["tara", "tim"]


def test_the_list_is_searched_and_filtered(shop: Shop) -> None:
    adam = shop.client("adam")
    found = adam.get(f"{HERE}?q=TAR").text
    assert ("Failed runs: Tara" in found, "Failed runs: Tim" in found) == (True, False)
    technical = adam.get(f"{HERE}?role=technical_user").text
    assert ("Failed runs: Tara" in technical, "Failed runs: Bella" in technical) == (True, False)
    assert "Failed runs: Bella" not in adam.get(f"{HERE}?receives=broken_checks").text
    nobody = adam.get(f"{HERE}?q=nobody").text
    assert ("No results" in nobody, "Failed runs: " in nobody) == (True, False)
    order = adam.get(f"{HERE}?sort=-name").text
    assert order.index("Failed runs: Tim") < order.index("Failed runs: Bella")


@pytest.mark.parametrize("scripts", [True, False])
def test_a_member_sees_and_changes_only_themself(shop: Shop, open_as: Open, scripts: bool) -> None:
    page = open_as("bella", HERE, scripts=scripts)
    expect(page.get_by_text("By your role: Business User.").first).to_be_visible()
    expect(page.get_by_role("heading", name="Receivers")).to_have_count(0)
    assert "Tara" not in page.get_by_role("main").inner_text()
    page.get_by_role("switch", name="Failed runs").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Custom.")).to_be_visible()
    assert receive(shop) == ["bella", "tara", "tim"]
    assert receive(shop, NotificationChannel.BROKEN_CHECKS) == ["tara", "tim"]
    bella = shop.client("bella")
    other = {"member": "tara", "channel": "failed_runs", "choice": "off"}
    assert send(bella, HERE, f"{HERE}/receivers", **other).status_code == 403
    assert send(bella, HERE, f"{HERE}/channels", failed_runs="1").status_code == 403
    assert send(bella, HERE, f"{HERE}/hook", address=HOOK).status_code == 403
    assert bella.post(f"{HERE}/mine", data={}).status_code == 403
    assert receive(shop) == ["bella", "tara", "tim"]


def test_channels_are_switched_for_the_project(shop: Shop) -> None:
    adam = shop.client("adam")
    assert send(adam, HERE, f"{HERE}/channels", succeeded_runs="1", failed_runs="1").status_code == 303
    assert receive(shop, NotificationChannel.SUCCEEDED_RUNS) == ["tara", "tim"]
    assert receive(shop, NotificationChannel.BROKEN_CHECKS) == []
    assert "Broken checks, off" in adam.get(HERE).text
    assert "Disabled for this project." in shop.client("tara").get(HERE).text


def test_who_is_an_admin_by_the_tenant_subscribes_themself(shop: Shop) -> None:
    olga = shop.client("olga")
    assert "off by default" in olga.get(HERE).text
    assert send(olga, HERE, f"{HERE}/mine", failed_runs="1").status_code == 303
    assert receive(shop) == ["olga", "tara", "tim"]


def test_technical_owners_whose_role_is_too_low_are_named_with_what_to_do(shop: Shop, open_as: Open) -> None:
    assert "with the role Business User" not in shop.client("adam").get(HERE).text
    owned(shop)
    page = open_as("adam", HERE)
    box = page.locator(".notice").filter(has_text="Technical Owners with the role Business User")
    expect(box.get_by_role("listitem")).to_have_count(2)
    expect(box.get_by_role("link", name="Margins")).to_have_attribute("href", "/resources/margins")
    box.get_by_role("link", name="Bella").click()
    # There the role is raised, and the warning goes.
    page.get_by_role("radio", name="Technical User").check()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Save").click()
    page.goto(HERE)
    expect(box.get_by_role("listitem")).to_have_count(1)
    assert receive(shop) == ["bella", "tara", "tim"]


def test_others_are_warned_of_their_own_alone(shop: Shop) -> None:
    owned(shop)
    boris = shop.client("boris").get(HERE).text
    assert ("You are a Technical Owner" in boris, "Margins" in boris, "Bella" in boris) == (True, True, False)
    # Margins are shared with nobody, and Bella owns nothing of them.
    assert "Margins" not in shop.client("bella").get(HERE).text
    assert "Technical Owner with" not in shop.client("tara").get(HERE).text


def test_the_address_for_failures_is_kept_and_its_secret_is_in_no_page(shop: Shop) -> None:
    adam = shop.client("adam")
    assert send(adam, HERE, f"{HERE}/hook", address=HOOK, secret=SECRET).status_code == 303
    assert settings_of(shop, "sales")["failure_webhook"] == HOOK
    with shop.platform.read(as_member("adam")) as ctx:
        assert credentials.load_for_use(ctx, "sales") == {"failure_webhook": SECRET}
    page = adam.get(HERE).text
    assert (HOOK in page, "Saved. Fill in" in page, SECRET in page) == (True, True, False)
    assert HOOK not in shop.client("tara").get(HERE).text
    for wrong in ("http://localhost/x", f"https://{WITH_PASSWORD}", "somewhere", "https://"):
        refused = send(adam, HERE, f"{HERE}/hook", address=wrong)
        assert (refused.status_code, "Not saved" in refused.text) == (422, True), wrong
    old = send(adam, HERE, f"{HERE}/hook", address=f"{HOOK}/other", version="1")
    assert (old.status_code, "changed meanwhile" in old.text) == (422, True)
    assert send(adam, HERE, f"{HERE}/hook", address="").status_code == 303
    assert "failure_webhook" not in settings_of(shop, "sales")
    with shop.platform.read(as_member("adam")) as ctx:
        assert credentials.load_for_use(ctx, "sales") == {}


def test_who_cannot_be_reached_is_told_and_shown(shop: Shop) -> None:
    with shop.platform.write(as_member("olga")) as ctx:
        made = members.add(ctx, "Robin without mail")
        workspaces.set_member(ctx, "sales", made, roles=["technical_user"])
    assert "Technical User · no e-mail address" in shop.client("adam").get(HERE).text
    assert "You have no e-mail address" in shop.client(made).get(HERE).text
    # The demo has no mail server.
    assert "No mail server configured" in shop.client("adam").get(HERE).text


def test_who_looks_with_anothers_eyes_changes_nothing(shop: Shop) -> None:
    adam = shop.client("adam")
    started = send(adam, "/view-as", "/view-as", member="bella")
    assert started.status_code == 303, started.text
    adam.cookies.update(started.cookies)
    page = adam.get(HERE).text
    assert "By your role: Business User." in page
    assert send(adam, HERE, f"{HERE}/mine", failed_runs="1").status_code == 403
    assert receive(shop) == ["tara", "tim"]
