"""A table is kept up and rolled back from the list of its snapshots."""

from __future__ import annotations

import json
from collections.abc import Callable

import sqlalchemy as sa
from playwright.sync_api import Page, expect

from lakehold.runs.run_table import run_table
from tests.web.demo import Shop
from tests.web.lakehouse.sample_rows import fill_orders

Open = Callable[..., Page]
Violations = Callable[[Page], list[str]]
SNAPSHOTS = "/resources/orders/snapshots"


def run_parameters(shop: Shop) -> list[dict[str, object]]:
    """What was asked of each run of a table."""
    with shop.platform.database.read() as transaction:
        query = sa.select(run_table.c.options).where(run_table.c.kind == "lakehouse.table").order_by(run_table.c.n)
        return [json.loads(parameters)["parameters"] for parameters in transaction.connection.execute(query).scalars()]


def test_an_editor_rolls_a_table_back_once_they_are_sure(shop: Shop, open_as: Open, violations: Violations) -> None:
    fill_orders(shop.platform)
    page = open_as("erik", SNAPSHOTS)
    assert violations(page) == []
    expect(page.get_by_role("button", name="Roll back")).to_have_count(1)
    page.get_by_role("button", name="Roll back").click()
    assert run_parameters(shop) == []
    with page.expect_navigation():
        page.get_by_role("dialog").get_by_role("button", name="Roll back").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("orders")
    (parameters,) = run_parameters(shop)
    assert parameters["do"] == "rollback"
    page.goto("/resources/orders/written")
    expect(page.get_by_role("main")).to_contain_text("Queued")


def test_a_table_is_kept_up_without_scripts(shop: Shop, open_as: Open) -> None:
    fill_orders(shop.platform)
    page = open_as("erik", SNAPSHOTS, scripts=False)
    page.get_by_role("button", name="Optimize").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("orders")
    page.goto(SNAPSHOTS)
    page.get_by_role("button", name="Roll back").click()
    page.get_by_role("button", name="Roll back").click()
    assert [parameters["do"] for parameters in run_parameters(shop)] == ["upkeep", "rollback"]


def test_who_only_reads_may_neither(shop: Shop) -> None:
    fill_orders(shop.platform)
    client = shop.client("ana")
    page = client.get(SNAPSHOTS).text
    assert "Roll back" not in page
    assert "snapshots/upkeep" not in page
    assert "Optimize" in page
    assert run_parameters(shop) == []
