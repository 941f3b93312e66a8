"""The audit log as a page."""

from __future__ import annotations

import json
import re

import pytest
import sqlalchemy as sa
from playwright.sync_api import expect

from lakehold.access import Grant
from lakehold.catalog import grants, impersonation
from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.ledger.audit import AuditFilter, audit_table
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop

browser = pytest.mark.browser


def by(member: str) -> Caller:
    return Caller(company.TENANT, member, request="r-17", address="127.0.0.9")


def granted(shop: Shop) -> None:
    with shop.platform.write(by("mona")) as ctx:
        grants.give(ctx, Grant("nils", "viewer", "orders"))


def newest(shop: Shop, entry_filter: AuditFilter | None = None) -> int:
    with shop.platform.read(by("olga")) as ctx:
        return ctx.audit.page(entry_filter or AuditFilter(), limit=1)[0].n


@browser
@pytest.mark.parametrize("scripts", [True, False])
def test_an_admin_finds_who_gave_what_and_sees_what_changed(shop: Shop, open_as: Open, scripts: bool) -> None:
    granted(shop)
    page = open_as("adam", "/audit", scripts=scripts)
    page.get_by_label("Person", exact=True).fill("Mona")
    page.get_by_label("Action", exact=True).fill("grant")
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("row", name="Mona").get_by_role("link", name="Grant").click()
    where = page.get_by_role("dialog", name="Grant · orders") if scripts else page.get_by_role("main")
    expect(where.get_by_role("row", name="Subject nothing nils")).to_be_visible()
    expect(where.get_by_text("127.0.0.9")).to_be_visible()
    expect(where.get_by_text("r-17")).to_be_visible()


@browser
def test_an_admin_verifies_the_chain_and_hears_of_what_was_altered(shop: Shop, open_as: Open) -> None:
    page = open_as("adam", "/audit")
    page.get_by_role("link", name="Verify").click()
    for log in ("Changes", "Reads"):
        expect(page.get_by_role("dialog").get_by_text(f"{log}: the audit log is intact")).to_be_visible()
    page.keyboard.press("Escape")
    with shop.platform.database.write() as transaction:
        transaction.connection.execute(sa.update(audit_table).where(audit_table.c.n == 2).values(action="nothing"))
    page.get_by_role("link", name="Verify").click()
    expect(page.get_by_role("dialog").get_by_text("Entry 2 was altered or moved")).to_be_visible()


@browser
def test_an_admin_sees_who_read_what(shop: Shop, open_as: Open) -> None:
    shop.platform.record_read(by("mona"), "query", "shop", tables=["orders", "customers"], rows=3)
    shop.platform.record_read(by("nils"), "preview", "orders")
    shop.platform.reads.flush()
    page = open_as("adam", "/audit")
    expect(page.get_by_role("link", name="Query", exact=True)).to_have_count(0)
    page.get_by_label("Log", exact=True).select_option("Reads")
    page.get_by_label("Resource", exact=True).fill("customers")
    page.get_by_role("button", name="Apply").click()
    row = page.get_by_role("row", name="Mona")
    expect(row.get_by_text("customers, orders")).to_be_visible()
    expect(page.get_by_role("row", name="Nils")).to_have_count(0)
    row.get_by_role("link", name="Query").click()
    expect(page.get_by_role("dialog").get_by_role("row", name="Tables nothing customers, orders")).to_be_visible()


@browser
def test_an_admin_takes_the_log_as_a_file(shop: Shop, open_as: Open) -> None:
    granted(shop)
    page = open_as("adam", "/audit?person=mona&action=grant")
    with page.expect_download() as taken:
        page.get_by_role("link", name="Export").click()
    lines = [json.loads(line) for line in taken.value.path().read_text(encoding="utf-8").splitlines()]
    assert {(line["member"], line["action"]) for line in lines} == {("mona", "grant")}


@browser
@pytest.mark.rare
def test_axe_finds_nothing(shop: Shop, open_as: Open, violations: Violations) -> None:
    granted(shop)
    at = newest(shop)
    page = open_as("adam", "/audit?person=User&from=x")
    assert violations(page) == []
    for path in ("/audit", f"/audit/{at}", "/audit/verify"):
        page.goto(path)
        assert violations(page) == []


def test_it_is_paged_from_the_newest_on(shop: Shop) -> None:
    with shop.client("adam") as client:
        first = client.get("/audit").text
        after = re.findall(r"/audit\?after=(\d+)", first)[0]
        numbers = [int(n) for n in re.findall(r'href="/audit/(\d+)"', first)]
        assert numbers == sorted(numbers, reverse=True)
        assert len(numbers) == 50
        following = [int(n) for n in re.findall(r'href="/audit/(\d+)"', client.get(f"/audit?after={after}").text)]
    assert following[0] == numbers[-1] - 1


FILTERS = {
    "person=mona": True,
    "person=Mona, Manager of the lake": True,
    "person=erik": False,
    "resource=orders": True,
    "resource=salaries": False,
    "outcome=done": True,
    "outcome=denied": False,
    "action=revoke": False,
    "from=2001-01-01": True,
    "to=2001-01-01": False,
    "from=2001-01-01&to=2199-01-01&person=mona&action=grant&resource=orders": True,
}


def test_it_is_filtered_by_the_address(shop: Shop) -> None:
    granted(shop)
    at = newest(shop, AuditFilter(action="grant"))
    with shop.client("adam") as client:
        found = {query: f'href="/audit/{at}"' in client.get(f"/audit?{query}").text for query in FILTERS}
    assert found == FILTERS


def test_what_is_asked_wrongly_is_told_at_its_field(shop: Shop) -> None:
    with shop.client("adam") as client:
        page = client.get("/audit?from=yesterday&person=User").text
    assert "Not a date" in page
    assert "Several match" in page
    assert 'value="User"' in page


def test_it_says_through_what_it_was_done(shop: Shop) -> None:
    with shop.platform.write(by("adam")) as ctx:
        seen = impersonation.start(ctx, "bella")
    with shop.platform.write(seen) as ctx:
        impersonation.stop(ctx)
    with shop.client("adam") as client:
        assert "viewing as Bella, Business User" in client.get("/audit?person=adam").text
        entry = client.get(f"/audit/{newest(shop, AuditFilter(action='stop viewing as'))}").text
    assert "Viewing as" in entry


def test_a_denial_is_in_it_with_what_was_tried(shop: Shop) -> None:
    with shop.client("ana") as client:
        assert client.get("/audit").status_code == 403
    with shop.client("adam") as client:
        assert "Denied" in client.get("/audit?person=ana&outcome=denied").text


def test_only_who_may_see_the_log_does(shop: Shop) -> None:
    for who in ("nils", "bella", "dana"):
        with shop.client(who) as client:
            for path in ("/audit", "/audit/1", "/audit/verify"):
                answer = client.get(path)
                assert answer.status_code == 403
                assert "Olga, Owner" in answer.text
                assert "salaries" not in answer.text


def test_an_entry_that_is_not_there_is_not_found(shop: Shop) -> None:
    with shop.client("adam") as client:
        for number in ("0", "99999999", "x", "9" * 40, "-1", "²"):
            assert client.get(f"/audit/{number}").status_code == 404
