"""A past span is run anew from a page: with scripts and without, refused at the field, and by those who may."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from lakehold.catalog import resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.runs.runnable import BackfillSpan
from lakehold.web.runs import RUNS
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send
from tests.web.lakehouse.recorded_runs import LAKE, SQL, as_member

PAST = "/resources/totals/pipeline/backfill"


@pytest.fixture
def cursor(shop: Shop) -> str:
    """A query of Erik's that names a field that only grows."""
    with shop.platform.write(as_member("erik")) as ctx:
        edges = {"lakehouse": LAKE, "reads": ["orders"], "writes": ["clean"], "into": "clean"}
        settings = {"table": "totals", "sql": SQL, "cursor": "day"}
        return resources.create(ctx, "lakehouse.query", "Totals", uid="totals", edges=edges, settings=settings)


def spans(shop: Shop, uid: str) -> list[BackfillSpan | None]:
    with shop.platform.read(as_member("olga")) as ctx:
        return [run.span for run in RUNS.page(ctx, resource=uid, limit=10)]


@pytest.mark.parametrize("scripts", [True, False])
def test_an_editor_runs_a_past_span(
    open_as: Open, shop: Shop, violations: Violations, cursor: str, scripts: bool
) -> None:
    page = open_as("erik", PAST, scripts=scripts, refused=True)
    if scripts:
        page.goto(f"/resources/{cursor}/pipeline")
        page.get_by_role("button", name="More actions").click()
        page.get_by_role("link", name="Backfill…").click()
        expect(page.get_by_role("heading", name="Backfill Totals")).to_be_visible()
        assert violations(page) == []
    expect(page.get_by_text("by day")).to_be_visible()
    page.get_by_role("button", name="Run backfill").click()
    expect(page.get_by_label("From")).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".field-error").first).to_contain_text("neither a start nor an end")
    assert spans(shop, cursor) == []
    page.get_by_label("From").fill("2031-01-01")
    page.get_by_label("Until").fill("2031-02-01")
    page.get_by_role("button", name="Run backfill").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Run of Totals")
    expect(page.locator(".run-facts")).to_contain_text("from 2031-01-01 until 2031-02-01")
    assert spans(shop, cursor) == [BackfillSpan("2031-01-01", "2031-02-01")]


def test_what_was_filled_in_stays_when_it_is_refused(shop: Shop, cursor: str) -> None:
    client = shop.client("erik")
    page = send(client, PAST, PAST, **{"from": "1" * 201, "until": "<b>9</b>"})
    assert page.status_code == 422
    assert "is not valid for a cursor" in page.text
    assert "&lt;b&gt;9" in page.text
    with shop.platform.write(as_member("erik")) as ctx:
        settings = {"table": "totals", "sql": SQL, "cursor": "day", "mode": "mirror", "keys": ["customer"]}
        resource_edit.apply_edit(ctx, cursor, ResourceEdit(settings=settings))
    page = send(client, PAST, PAST, **{"from": "1", "until": "2"})
    assert (page.status_code, "A query in mirror mode" in page.text) == (422, True)
    assert spans(shop, cursor) == []


def test_where_nothing_grows_one_is_told_what_to_change(shop: Shop) -> None:
    client = shop.client("erik")
    for uid in ("make_orders", "shop_source"):
        page = client.get(f"/resources/{uid}/pipeline/backfill")
        assert (page.status_code, "Nothing to backfill" in page.text) == (200, True), page.text
    for uid in ("customer_history", "orders"):
        assert client.get(f"/resources/{uid}/pipeline/backfill").status_code in {404, 422}


def test_the_streams_by_cursor_are_named(shop: Shop) -> None:
    with shop.platform.write(as_member("olga")) as ctx:
        resource_edit.apply_edit(
            ctx,
            "web_orders_stream",
            ResourceEdit(settings={"stream": "orders", "mode": "incremental", "cursor": "placed_at"}),
        )
    page = shop.client("erik").get("/resources/shop_source/pipeline/backfill").text
    assert "placed_at" in page
    assert "web_clicks stream" not in page


def test_who_may_not_stop_it_may_not_do_this(shop: Shop, cursor: str) -> None:
    client = shop.client("ana")
    assert client.get(PAST).status_code in {403, 404}
    assert send(client, f"/workspaces/{LAKE}/pipelines", PAST, **{"from": "1"}).status_code in {403, 404}
    assert spans(shop, cursor) == []
