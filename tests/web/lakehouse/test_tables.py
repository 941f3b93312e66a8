"""Tables: what is where, what is in them, what they were, where they come from."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from lakehold import workspaces
from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import MANUAL_CAUSE, Runs
from tests.web.demo import Shop
from tests.web.lakehouse.sample_rows import ORDERS, fill, fill_orders, order

Open = Callable[..., Page]
Violations = Callable[[Page], list[str]]

PAGES = (
    "/workspaces/lake_house/data",
    "/workspaces/lake_house/data/clean",
    "/resources/orders/fields",
    "/resources/orders/sample",
    "/resources/orders/snapshots",
    "/resources/orders/lineage",
    "/resources/orders/written",
    "/resources/tills/sample",
)


@pytest.mark.rare
def test_every_page_is_open_to_everybody(shop: Shop, open_as: Open, violations: Violations) -> None:
    fill_orders(shop.platform)
    page = open_as("olga", PAGES[0])
    for path in PAGES:
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert violations(page) == [], path


def test_from_the_workspace_through_the_layers_to_the_rows_of_a_table(shop: Shop, open_as: Open) -> None:
    fill_orders(shop.platform)
    page = open_as("erik", "/workspaces/lake_house")
    expect(page.get_by_role("main").get_by_role("link", name="Query", exact=True)).to_be_visible()
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Data", exact=True).click()
    expect(page.get_by_role("heading", name="Data", level=1)).to_be_visible()
    expect(page.get_by_role("link", name="tills", exact=True)).to_be_visible()
    page.get_by_role("searchbox", name="Search tables and volumes").fill("order")
    expect(page.get_by_role("link", name="tills", exact=True)).to_be_hidden()
    page.get_by_role("link", name="orders", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="amount")).to_contain_text("decimal(10, 2)")
    page.get_by_role("navigation", name="Table").get_by_role("link", name="Sample").click()
    expect(page.get_by_role("main")).to_contain_text("5 rows shown, which is all.")
    expect(page.get_by_role("cell", name="Köln <b>")).to_be_visible()
    page.get_by_role("navigation", name="Table").get_by_role("link", name="Lineage").click()
    expect(page.get_by_role("link", name="Query Make orders")).to_be_visible()
    page.get_by_role("link", name="Table web_orders").click()
    expect(page.get_by_role("heading", name="web_orders", level=1)).to_be_visible()


def test_a_search_works_without_scripts_and_finds_a_layer_too(shop: Shop) -> None:
    client = shop.client("erik")
    found = client.get("/workspaces/lake_house/data", params={"q": "web_"}).text
    assert ">web_orders<" in found
    assert ">tills<" not in found
    assert ">tills<" in client.get("/workspaces/lake_house/data", params={"q": "RAW"}).text
    assert "No results" in client.get("/workspaces/lake_house/data", params={"q": "no such table"}).text


def test_what_one_may_not_see_is_not_in_the_catalog(shop: Shop) -> None:
    page = shop.client("ana").get("/workspaces/lake_house/data").text
    assert ">customers<" in page
    for hidden in ("salaries", "web_clicks", "Private", "board_plan"):
        assert hidden not in page
    assert shop.client("ana").get("/workspaces/lake_house/data/private").status_code == 404
    assert shop.client("nils").get("/workspaces/lake_house/data").status_code in {200, 404}
    assert "orders" not in shop.client("nils").get("/workspaces/lake_house/data").text


def test_a_layer_of_another_workspace_is_not_of_this_one(shop: Shop) -> None:
    client = shop.client("olga")
    assert client.get("/workspaces/lake_house/data/orders").status_code == 404
    assert client.get("/workspaces/sales/data").status_code == 404


def test_an_empty_lakehouse_says_what_to_do_next(shop: Shop) -> None:
    client = shop.client("olga")
    token = client.get("/workspaces").text.split('name="csrf_token" value="')[1].split('"')[0]
    made = {"csrf_token": token, "kind": "lakehouse.lakehouse", "edge_tenant": "corner", "name": "Empty lake"}
    uid = client.post("/resources/new", data=made).headers["location"].rpartition("/")[2]
    page = client.get(f"/workspaces/{uid}/data").text
    assert "No layers yet" in page
    assert "New layer" in page
    layer = {"csrf_token": token, "kind": "lakehouse.layer", "edge_lakehouse": uid, "name": "first"}
    client.post("/resources/new", data=layer)
    page = client.get(f"/workspaces/{uid}/data").text
    assert "No tables in first yet" in page
    assert "New volume" in page


def test_fields_say_their_type_in_the_words_of_sql(shop: Shop) -> None:
    fill_orders(shop.platform)
    page = shop.client("erik").get("/resources/orders/fields").text
    for word in ("<code>bigint</code>", "<code>decimal(10, 2)</code>", "array&lt;string&gt;", "Without tax."):
        assert word in page
    assert "No" in page


def test_a_sample_tells_nothing_from_an_empty_text_and_escapes_what_people_wrote(shop: Shop) -> None:
    fill_orders(shop.platform)
    page = shop.client("erik").get("/resources/orders/sample").text
    assert '<span class="nothing">null</span>' in page
    assert "Köln &lt;b&gt;" in page
    assert '<td class="number">0.75</td>' in page


def test_a_sample_says_that_there_is_more(shop: Shop) -> None:
    fill(shop.platform, "orders", ORDERS, [order(n) for n in range(101)])
    page = shop.client("erik").get("/resources/orders/sample").text
    assert "100 rows shown, there are more" in page


def test_a_table_that_was_never_written_and_one_without_rows_say_so(shop: Shop) -> None:
    fill(shop.platform, "orders", ORDERS)
    client = shop.client("erik")
    assert "The table is empty" in client.get("/resources/orders/sample").text
    assert "No data yet" in client.get("/resources/tills/sample").text
    assert "No fields yet" in client.get("/resources/tills/fields").text
    assert "No snapshots yet" in client.get("/resources/tills/snapshots").text


def test_a_table_whose_files_are_gone_does_not_hide_the_others(shop: Shop) -> None:
    fill_orders(shop.platform)
    shutil.rmtree(shop.platform.settings.warehouse_url)
    client = shop.client("erik")
    assert ">orders<" in client.get("/workspaces/lake_house/data").text
    for part in ("fields", "sample", "snapshots"):
        page = client.get(f"/resources/orders/{part}")
        assert (page.status_code, "Files of the table are missing." in page.text) == (503, True), part


def test_the_current_snapshot_is_marked(shop: Shop) -> None:
    fill_orders(shop.platform)
    page = shop.client("erik").get("/resources/orders/snapshots").text
    assert page.count("Current") == 1
    assert page.index("Current") < page.index('<td class="number">3</td>')
    assert page.count("<td>Append</td>") == 2


def test_lineage_goes_both_ways_through_pipelines_and_streams(shop: Shop) -> None:
    page = shop.client("olga").get("/resources/orders/lineage").text
    made_from, read_by = page.split("Downstream")[0], page.split("Downstream")[1]
    for name in ("Make orders", "web_orders", "Shop source"):
        assert name in made_from
    for name in ("Day totals", "sales_by_day", "To finance"):
        assert name in read_by
    assert "not visible to you" not in page.casefold()


def test_lineage_stops_at_what_is_hidden_without_a_name_or_number(shop: Shop) -> None:
    """Ana reads the layers clean and shaped, and nothing of raw."""
    page = shop.client("ana").get("/resources/customers/lineage").text
    assert "More, not visible to you" in page
    for hidden in ("Make customers", "make_customers", "web_orders", "payments", "Shop source"):
        assert hidden not in page


def test_lineage_that_goes_round_in_a_circle_comes_to_an_end(shop: Shop) -> None:
    with shop.platform.access.write(company.TENANT) as session:
        edges = {"lakehouse": "lake_house", "reads": ("orders",), "writes": ("orders", "stores")}
        session.store.create("lakehouse.query", "Round and round", uid="round", edges=edges)
    page = shop.client("olga").get("/resources/orders/lineage", params={"all": "1"}).text
    assert "Round and round" in page.split("Downstream")[0]
    assert "Round and round" in page.split("Downstream")[1]


def test_runs_of_what_writes_a_table_are_its_runs(shop: Shop) -> None:
    client = shop.client("erik")
    with shop.platform.write(Caller(company.TENANT, "erik")) as ctx:
        run = Runs(workspaces.runnables()).insert(ctx, "make_lines", RunOptions(), cause=MANUAL_CAUSE)
    assert f"/runs/{run}" in client.get("/resources/order_lines/written").text
    assert run not in client.get("/resources/orders/written").text
    assert "Make orders" in client.get("/resources/orders/written").text
    assert "No visible writers" in shop.client("ana").get("/resources/customers/written").text
    assert "No writers yet" in shop.client("olga").get("/resources/salaries/written").text


def test_what_one_may_not_read_looks_like_what_is_not_there(shop: Shop) -> None:
    client = shop.client("ana")
    for part in ("fields", "sample", "snapshots", "lineage", "written"):
        hidden, missing = (client.get(f"/resources/{uid}/{part}") for uid in ("salaries", "no_such_thing"))
        assert (hidden.status_code, missing.status_code) == (404, 404)
        assert hidden.text.count("salaries") == missing.text.count("no_such_thing")
        assert client.get(f"/resources/shaped/{part}").status_code == 404


def test_who_views_as_somebody_sees_none_of_their_rows(shop: Shop) -> None:
    fill_orders(shop.platform)
    client = shop.client("olga")
    token = client.get("/view-as").text.split('name="csrf_token" value="')[1].split('"')[0]
    assert client.post("/view-as", data={"csrf_token": token, "member": "erik"}).status_code == 303
    page = client.get("/resources/orders/sample").text
    assert "Rows are hidden in View as" in page
    assert "Köln" not in page
