"""Data marts and reports on their pages: rows, schema, checks, runs and triggers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from lakehold.catalog import resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.workspaces.marts import checks
from lakehold.workspaces.marts.checks import CheckResult
from tests.web.demo import Shop
from tests.web.forms import send
from tests.web.lakehouse.sample_rows import ORDERS, fill, order, place_of

Open = Callable[..., Page]
Violations = Callable[[Page], list[str]]

MART, REPORT = "/resources/daily_sales", "/resources/morning_sales"
PAGES = (
    *(f"{MART}/{part}" for part in ("sample", "fields", "quality", "runs", "triggers")),
    *(f"{REPORT}/{part}" for part in ("runs", "triggers")),
    "/resources/margins/sample",
    "/resources/margins/quality",
    "/workspaces/sales/runs",
)
CHECKS = [
    {"check": "unique", "fields": ["id"]},
    {"check": "row count", "least": 10},
    {"check": "not null", "fields": ["day"]},
]


@pytest.fixture
def filled(shop: Shop) -> Shop:
    fill(shop.platform, "daily_sales", ORDERS, [order(n) for n in range(3)])
    with shop.platform.write(Caller(company.TENANT, "tara")) as ctx:
        settings = {
            **resource_metadata.load(ctx, "daily_sales").settings,
            "by": "sql",
            "sql": "SELECT 1",
            "checks": CHECKS,
        }
        resource_edit.apply_edit(ctx, "daily_sales", ResourceEdit(settings=settings))
        at = ctx.at
    place = place_of(shop.platform, "daily_sales")
    with shop.platform.database.write() as transaction:
        for mark, state in (("first", "kept"), ("second", "broken")):
            found = [
                CheckResult("unique id", "kept", "passed", at),
                CheckResult("row count", state, "3 rows", at),
            ]
            checks.save_results(transaction, place.tenant, place.number, mark, found)
    return shop


@pytest.mark.usefixtures("filled")
@pytest.mark.rare
def test_every_page_is_open_to_everybody(open_as: Open, violations: Violations) -> None:
    page = open_as("olga", PAGES[0])
    for path in PAGES:
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert violations(page) == [], path


def test_a_business_user_looks_at_the_rows_of_a_mart_that_is_shared(filled: Shop) -> None:
    bella = filled.client("bella")
    assert "Ulm" in bella.get(f"{MART}/sample").text
    assert "Without tax." in bella.get(f"{MART}/fields").text
    assert bella.get("/resources/margins/sample").status_code == 404
    assert filled.client("nils").get(f"{MART}/sample").status_code == 404


def test_checks_are_shown_as_they_came_out(filled: Shop, open_as: Open) -> None:
    page = open_as("bella", f"{MART}/quality")
    rows = page.get_by_role("row")
    expect(rows.filter(has_text="unique id")).to_contain_text("2 of 2 passed")
    expect(rows.filter(has_text="row count")).to_contain_text("Failed")
    expect(rows.filter(has_text="row count")).to_contain_text("1 of 2 passed")
    expect(rows.filter(has_text="not null day")).to_contain_text("Not run yet")
    assert filled.client("boris").get("/resources/orders/quality").status_code == 404


def test_who_keeps_a_mart_checks_and_refreshes_it_and_others_do_not(filled: Shop) -> None:
    tara, bella = filled.client("tara"), filled.client("bella")
    assert send(tara, f"{MART}/quality", f"{MART}/quality").headers["location"].startswith("/runs/run_")
    run = send(tara, f"{MART}/runs", f"{MART}/pipeline/run").headers["location"]
    assert run.startswith("/runs/run_")
    assert "daily_sales" in tara.get(run).text
    # Whoever sees the mart sees its runs.
    assert bella.get(run).status_code == 200
    assert filled.client("nils").get(run).status_code == 404
    assert send(bella, f"{MART}/runs", f"{MART}/pipeline/run").status_code == 403
    assert "daily_sales" in tara.get("/workspaces/sales/runs").text


def test_a_schedule_for_a_report_is_saved_by_its_owner(filled: Shop) -> None:
    bella, boris = filled.client("bella"), filled.client("boris")
    form = {"by": "cron", "every": "day", "at": "06:30", "zone": "Europe/Berlin"}
    answer = send(bella, f"{REPORT}/triggers", f"{REPORT}/triggers", **form)
    assert answer.status_code == 303, answer.text
    assert "Europe/Berlin" in bella.get(f"{REPORT}/triggers").text
    assert send(boris, f"{REPORT}/triggers", f"{REPORT}/triggers", **form).status_code == 403
