"""Home, as different people see it."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from lakehold import workspaces
from lakehold.api.catalog import resource_usage
from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.runs.run_table import FAILED, run_table
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import MANUAL_CAUSE, Runs
from tests.web.demo import Shop

Open = Callable[..., Page]
RUNS = Runs(workspaces.runnables())


def test_home_is_open_to_everybody(open_as: Open, violations: Callable[[Page], list[str]]) -> None:
    page = open_as("tara", "/")
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("link", name="Sales marts")).to_be_visible()
    assert violations(page) == []


def test_a_newcomer_is_told_what_to_do(open_as: Open) -> None:
    page = open_as("nils", "/", narrow=True)
    expect(page.get_by_role("heading", name="No workspaces yet")).to_be_visible()


def test_a_newcomer_reads_no_name_that_is_not_theirs_to_see(shop: Shop) -> None:
    text = shop.client("nils").get("/").text
    assert "Store lake" not in text
    assert "Suppliers 360" not in text


def test_what_was_opened_lately_is_found_again(open_as: Open, shop: Shop) -> None:
    page = open_as("tara", "/resources/daily_sales")
    expect(page.get_by_role("heading", name="Daily sales")).to_be_visible()
    resource_usage.flush(shop.platform)  # as the server does every twenty seconds
    page.goto("/")
    page.get_by_role("main").get_by_role("link", name="Daily sales").click()
    expect(page).to_have_url(f"{shop.address}/resources/daily_sales/mart")


def test_who_is_not_signed_in_is_sent_to_sign_in(shop: Shop) -> None:
    answer = shop.client().get("/")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in?next=%2F"


def test_runs_that_failed_are_told_of_to_who_may_see_them(open_as: Open, shop: Shop) -> None:
    with shop.platform.write(Caller(company.TENANT, "olga")) as ctx:
        run = RUNS.insert(ctx, "make_orders", RunOptions(), cause=MANUAL_CAUSE)
        failed = run_table.update().where(run_table.c.id == run)
        columns = {"state": FAILED, "error": "There is no field qty.", "ended_at": ctx.at}
        ctx.session.transaction.connection.execute(failed.values(**columns))
    page = open_as("olga", "/")
    expect(page.get_by_role("heading", name="Failed runs")).to_be_visible()
    expect(page.get_by_text("There is no field qty.")).to_be_visible()
    assert "There is no field qty." not in shop.client("nils").get("/").text
