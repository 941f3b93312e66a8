"""Home: a Business User's data marts and reports come first, and nothing else changes for others."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.lakehouse.recorded_runs import queue_run, record_run_state
from tests.web.marts.sample_data import set_managed


def test_a_business_user_finds_marts_and_own_reports_first(shop: Shop) -> None:
    record_run_state(shop, queue_run(shop, "morning_sales", member="bella"), "succeeded", step="send")
    text = shop.client("bella").get("/").text
    assert text.index("Data marts for reports") < text.index("Your reports") < text.index("Your workspaces")
    assert 'href="/workspaces/sales/reports/new?mart=daily_sales"' in text
    assert 'href="/resources/morning_sales/report"' in text
    assert "Margins" not in text
    # Somebody else's report is not one's own.
    assert "Basket mix" not in text[text.index("Your reports") : text.index("Your workspaces")]


def test_what_can_be_reported_on_comes_before_drafts(shop: Shop) -> None:
    set_managed(shop, "suppliers", published=True)
    text = shop.client("bella").get("/").text
    assert (
        text.index("New report on Suppliers") < text.index("New report on Baskets") < text.index("New report on Daily")
    )


def test_a_business_user_of_one_context_finds_its_marts_alone(shop: Shop) -> None:
    text = shop.client("boris").get("/").text
    marts = text[text.index("Data marts for reports") : text.index("Your reports")]
    assert "Returns" in marts
    assert "Suppliers" not in marts


@pytest.mark.parametrize("member", ["tara", "olga", "erik", "nils"])
def test_for_others_nothing_has_changed(shop: Shop, member: str) -> None:
    text = shop.client(member).get("/").text
    assert "Data marts for reports" not in text
    assert "Your reports" not in text
    assert "Your workspaces" in text


def test_axe_finds_nothing_wrong(open_as: Open, violations: Violations) -> None:
    page = open_as("bella", "/")
    expect(page.get_by_role("link", name="New report on Daily sales")).to_be_visible()
    assert violations(page) == []
