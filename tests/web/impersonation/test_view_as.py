"""Seeing with another member's eyes."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from lakehold.catalog import impersonation
from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.ledger.audit import AuditFilter
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import token

browser = pytest.mark.browser


def deeds(shop: Shop, member: str) -> list[str]:
    with shop.platform.read(Caller(company.TENANT, "olga")) as ctx:
        return [line.entry.action for line in ctx.audit.page(AuditFilter(member=member))]


@browser
@pytest.mark.parametrize("scripts", [True, False])
def test_an_admin_looks_with_bellas_eyes_and_stops(shop: Shop, open_as: Open, scripts: bool) -> None:
    page = open_as("adam", "/view-as?q=bella", scripts=scripts)
    page.get_by_role("row", name="Bella").get_by_role("button", name="View as").click()
    banner = page.get_by_role("region", name="View as")
    expect(banner.get_by_text("Viewing as Bella")).to_be_visible()
    expect(page.get_by_role("heading", name="Home", level=1)).to_be_visible()
    expect(page.get_by_role("link", name="Audit log")).to_have_count(0)
    page.goto("/search?q=sales")
    banner.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("link", name="Audit log").first).to_be_attached()
    assert page.url.endswith("/search?q=sales")
    assert deeds(shop, "adam")[:2] == ["stop viewing as", "view as"]


@browser
def test_axe_finds_nothing(open_as: Open, violations: Violations) -> None:
    page = open_as("adam", "/view-as")
    assert violations(page) == []
    page.get_by_role("row", name="Nils").get_by_role("button", name="View as").click()
    page.goto("/view-as")
    expect(page.get_by_text("Ends")).to_be_visible()
    assert violations(page) == []


def test_nothing_can_be_changed_meanwhile_and_the_page_says_so(shop: Shop) -> None:
    with shop.client("adam") as client:
        answer = client.post("/view-as", data={"member": "tara", "csrf_token": token(client, "/view-as")})
        assert answer.status_code == 303
        for path, sent in (("/view-as", {"member": "bella"}), ("/reviews/new", {"name": "Mine"})):
            refused = client.post(path, data={**sent, "csrf_token": token(client, "/view-as")})
            assert refused.status_code == 403
            assert "Viewing as somebody else only reads" in refused.text
            assert "Viewing as" in refused.text


def test_stop_on_what_is_no_page_leads_home(shop: Shop) -> None:
    for back, there in (
        ("/view-as/end", "/"),
        ("/nowhere", "/"),
        ("//example.org/", "/"),
        ("/search?q=a", "/search?q=a"),
    ):
        with shop.client("adam") as client:
            client.post("/view-as", data={"member": "tara", "csrf_token": token(client, "/view-as")})
            sent = {"back": back, "csrf_token": token(client, "/view-as")}
            assert client.post("/view-as/end", data=sent).headers["location"] == there


def test_an_admin_does_not_look_with_an_owners_eyes(shop: Shop) -> None:
    with shop.client("adam") as client:
        page = client.get("/view-as?q=olga").text
        assert "You may not manage owners of " in page
        answer = client.post("/view-as", data={"member": "olga", "csrf_token": token(client, "/view-as")})
    assert answer.status_code == 403


def test_who_may_not_is_told_what_is_missing(shop: Shop) -> None:
    with shop.client("bella") as client:
        answer = client.get("/view-as")
    assert answer.status_code == 403
    assert "Admin" in answer.text
    assert "Olga" in answer.text


def test_it_ends_by_itself(shop: Shop) -> None:
    with shop.client("adam") as client:
        client.post("/view-as", data={"member": "tara", "csrf_token": token(client, "/view-as")})
        assert "Viewing as" in client.get("/").text
        with shop.platform.database.write() as transaction:
            transaction.connection.execute(impersonation.impersonation_table.update().values(until=1))
        assert "Viewing as" not in client.get("/").text
