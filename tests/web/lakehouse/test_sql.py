"""The SQL editor without a worker: what it knows, keeps, remembers and draws."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
from playwright.sync_api import Page, expect

from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.runs import queries
from lakehold.runs.queries import query_table
from tests.web.demo import Shop
from tests.web.forms import send, token
from tests.web.lakehouse.editor import write_sql
from tests.web.lakehouse.sample_rows import fill_orders

Open = Callable[..., Page]
Violations = Callable[[Page], list[str]]

SQL = "/workspaces/lake_house/sql"


def ask_before(shop: Shop, member: str, *texts: str, error: str = "") -> None:
    """As if somebody had asked."""
    with shop.platform.read(Caller(company.TENANT, member)) as ctx:
        place = queries.open_scope(ctx, "lake_house")
    with shop.platform.database.write() as transaction:
        here = {"tenant_id": place.tenant, "member": member, "workspace_id": place.workspace}
        columns = {"asked_at": shop.platform.clock(), "took": 420_000, "rows": 7, "error": error}
        for text in texts:
            transaction.connection.execute(query_table.insert().values(**here, **columns, text=text))


def saved(client: httpx.Client, name: str, sql: str) -> str:
    """Save a query, and tell its id."""
    made = send(client, SQL, f"{SQL}/save", sql=sql, name=name, anew="1")
    assert made.status_code == 303, made.text
    return made.headers["location"].rpartition("=")[2]


def test_the_editor_is_open_to_everybody(shop: Shop, open_as: Open, violations: Violations) -> None:
    ask_before(shop, "erik", "SELECT 1", "SELECT 2")
    page = open_as("erik", f"{SQL}?table=orders", refused=True)
    for path in (f"{SQL}?table=orders", f"{SQL}/history"):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert violations(page) == [], path
    page.goto(f"{SQL}?table=orders")
    page.get_by_role("textbox", name="SQL").press("ControlOrMeta+Enter")
    expect(page.get_by_role("alert")).to_contain_text("No worker is running.")
    assert violations(page) == []


def test_names_of_what_one_may_read_are_offered_as_one_types(shop: Shop, open_as: Open) -> None:
    fill_orders(shop.platform)
    page = open_as("ana", SQL)
    text = page.get_by_role("textbox", name="SQL")
    text.press_sequentially("SELECT * FROM Clean.or")
    expect(page.get_by_role("option", name="orders", exact=True)).to_be_visible()
    text.press_sequentially("ders o WHERE o.")
    expect(page.get_by_role("option", name="amount")).to_be_visible()


def test_names_and_fields_are_those_that_one_may_read(shop: Shop) -> None:
    fill_orders(shop.platform)
    ana, olga = shop.client("ana"), shop.client("olga")
    answer = ana.get(f"{SQL}/names").json()
    assert {layer["name"] for layer in answer["layers"]} == {"Clean", "Shaped", "Raw", "system"}
    assert [table["name"] for layer in answer["layers"] if layer["name"] == "Raw" for table in layer["tables"]] == [
        "weather"
    ]
    assert "salaries" in olga.get(f"{SQL}/names").text
    assert "system.access" in str(answer)
    assert "system.audit" not in str(answer)
    assert "system.audit" in olga.get(f"{SQL}/names").text
    query = {"table": ["orders", "salaries", "clean", "no_such_table", "system.runs", "system.audit"]}
    fields = ana.get(f"{SQL}/fields", params=query).json()["fields"]
    assert list(fields) == ["orders", "system.runs"]
    assert {"name": "rows", "type": "bigint"} in fields["system.runs"]
    assert fields["orders"][2] == {"name": "amount", "type": "decimal(10, 2)"}


def test_where_one_may_not_ask_there_is_nothing(shop: Shop) -> None:
    olga, boris = shop.client("olga"), shop.client("boris")
    made = {"kind": "lakehouse.lakehouse", "edge_tenant": "corner", "name": "Quiet lake"}
    uid = send(olga, "/workspaces", "/resources/new", **made).headers["location"].rpartition("/")[2]
    for path in ("", "/history", "/names", "/fields"):
        assert olga.get(f"/workspaces/{uid}/sql{path}").status_code == 200
        assert olga.get(f"/workspaces/sales/sql{path}").status_code in {404, 422}
        hidden, missing = boris.get(f"/workspaces/{uid}/sql{path}"), boris.get(f"/workspaces/no_such_lake/sql{path}")
        assert (hidden.status_code, missing.status_code) == (404, 404)
        assert "Quiet lake" not in hidden.text


def test_a_query_without_a_worker_loses_nothing(shop: Shop) -> None:
    client = shop.client("erik")
    answer = send(client, SQL, SQL, sql="SELECT 'keep <me>'")
    assert answer.status_code == 422
    assert "No worker is running." in answer.text
    assert answer.text.count("SELECT &#39;keep &lt;me&gt;&#39;") >= 2  # in the editor, and among what was asked
    assert "The query is empty." in send(client, SQL, SQL, sql="  ").text
    assert "No worker is running." in send(client, SQL, f"{SQL}/csv", sql="SELECT 1").text


def test_there_is_nothing_to_stop_where_nothing_runs(shop: Shop) -> None:
    client = shop.client("erik")
    assert send(client, SQL, f"{SQL}/stop", query="q_0123456789").status_code == 202
    assert send(client, SQL, f"{SQL}/stop", query="../x").status_code == 422


def test_what_one_asked_before_is_ones_own(shop: Shop) -> None:
    ask_before(shop, "erik", "SELECT 'first of erik'", *(f"SELECT {n} AS n" for n in range(60)))
    ask_before(shop, "ana", "SELECT 'of ana'", error="There is no table x. Look it up.")
    erik, ana = shop.client("erik"), shop.client("ana")
    page = erik.get(f"{SQL}/history").text
    assert "SELECT 59 AS n" in page
    assert "of ana" not in page
    assert "SELECT 9 AS n" not in page
    number = page.split("after=")[1].split('"')[0]
    assert "first of erik" in erik.get(f"{SQL}/history", params={"after": number}).text
    assert "There is no table x" in ana.get(SQL).text
    mine = ana.get(SQL).text.split("?asked=")[1].split('"')[0]
    assert "SELECT &#39;of ana&#39;</textarea>" in ana.get(SQL, params={"asked": mine}).text
    assert erik.get(SQL, params={"asked": mine}).status_code == 404
    assert send(erik, SQL, SQL, asked=mine).status_code == 404


def test_a_table_leads_to_a_query_of_its_rows(shop: Shop) -> None:
    erik = shop.client("erik")
    assert "/workspaces/lake_house/sql?table=orders" in erik.get("/resources/orders/sample").text
    assert "FROM Clean.orders\nLIMIT 100</textarea>" in erik.get(SQL, params={"table": "orders"}).text
    assert erik.get(SQL, params={"table": "salaries"}).status_code == 404


def test_a_query_is_saved_opened_changed_renamed_and_deleted(open_as: Open) -> None:
    page = open_as("erik", SQL)
    write_sql(page, "SELECT 1 AS one")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_label("Name").fill("My numbers")
    page.get_by_role("button", name="Save query").click()
    expect(page.get_by_role("heading", name="My numbers", level=1)).to_be_visible()
    write_sql(page, "SELECT 2 AS two")
    with page.expect_response(lambda answer: answer.url.endswith("/sql/save")):
        page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("region", name="Messages")).to_contain_text("My numbers was saved.")
    page.reload()
    expect(page.get_by_role("textbox", name="SQL")).to_have_text("SELECT 2 AS two")
    page.get_by_role("button", name="Actions for My numbers").click()
    page.get_by_role("link", name="Rename").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Our numbers")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="Our numbers", level=1)).to_be_visible()
    page.get_by_role("button", name="Actions for Our numbers").click()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("region", name="Messages")).to_contain_text("Our numbers was deleted.")
    expect(page.get_by_role("link", name="Our numbers")).to_be_hidden()


def test_a_query_is_saved_without_scripts(open_as: Open) -> None:
    page = open_as("ana", SQL, scripts=False)
    page.get_by_role("textbox", name="SQL").fill("SELECT 3 AS three")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_label("Name").fill("Threes")
    page.get_by_role("button", name="Save query").click()
    expect(page.get_by_role("heading", name="Threes", level=1)).to_be_visible()
    expect(page.get_by_role("textbox", name="SQL")).to_have_value("SELECT 3 AS three")


def test_a_name_that_cannot_be_is_told_and_nothing_is_lost(shop: Shop) -> None:
    client = shop.client("erik")
    answer = send(client, SQL, f"{SQL}/save", sql="SELECT 'kept'", name="  ", anew="1")
    assert answer.status_code == 422
    assert "SELECT &#39;kept&#39;" in answer.text
    assert send(client, SQL, f"{SQL}/save", sql=" ", name="Empty", anew="1").status_code == 422
    uid = saved(client, "Fine", "SELECT 1")
    assert send(client, SQL, f"{SQL}/saved/{uid}/rename", name="").status_code == 422


def test_saved_queries_are_ones_own(shop: Shop) -> None:
    erik, ana, olga = (shop.client(name) for name in ("erik", "ana", "olga"))
    uid = saved(erik, "Only mine", "SELECT 'secret text'")
    assert "Only mine" in erik.get(SQL).text
    assert "secret text" in erik.get(f"/resources/{uid}/sql").text
    assert f'href="/resources/{uid}/access"' in erik.get(SQL, params={"open": uid}).text
    assert erik.get("/resources/orders/sql").status_code == 404
    for client in (ana, olga):
        assert "Only mine" not in client.get(SQL).text
    for answer in (
        ana.get(SQL, params={"open": uid}),
        ana.get(f"/resources/{uid}/sql"),
        ana.get(f"{SQL}/saved/{uid}/rename"),
        send(ana, SQL, f"{SQL}/saved/{uid}/delete", confirmed="1"),
        send(ana, SQL, f"{SQL}/save", saved=uid, sql="SELECT 'mine now'"),
        send(ana, SQL, SQL, saved=uid, sql="SELECT 1"),
    ):
        assert answer.status_code == 404
        assert "secret text" not in answer.text
    assert "secret text" in erik.get(SQL, params={"open": uid}).text


def test_deleting_asks_first_without_scripts(shop: Shop) -> None:
    client = shop.client("erik")
    uid = saved(client, "Soon gone", "SELECT 1")
    assert "Delete Soon gone?" in send(client, SQL, f"{SQL}/saved/{uid}/delete").text
    assert client.get(SQL, params={"open": uid}).status_code == 200
    assert send(client, SQL, f"{SQL}/saved/{uid}/delete", confirmed="1").status_code == 303
    assert client.get(SQL, params={"open": uid}).status_code == 404


def test_rows_that_were_shown_are_drawn_as_bars_or_a_line(shop: Shop) -> None:
    client = shop.client("erik")
    data = json.dumps([["store", False, ["Ulm", None, "<b>"]], ["amount", True, [1.5, -2, None]]])
    bars = send(client, SQL, f"{SQL}/chart", data=data, sql="SELECT 9", kind="bars", x="0", y="1").text
    assert 'aria-label="Bars: amount by store"' in bars
    assert bars.count('class="chart-bar"') == 2
    assert "<title>null: -2</title>" in bars
    assert "SELECT 9</textarea>" in bars
    line = send(client, SQL, f"{SQL}/chart", data=data, sql="SELECT 9", kind="line", x="1", y="1").text
    assert 'aria-label="Line: amount by amount"' in line
    assert line.count('class="chart-dot"') == 2


def test_what_cannot_be_drawn_is_told(shop: Shop) -> None:
    client = shop.client("erik")
    wrong = ("", "[]", "7", '[["a", false, ["x"]]]', '[["a", true, ["x"]]]', '[["a", true, 3]]', "[[" * 5000)
    for data in wrong:
        answer = send(client, SQL, f"{SQL}/chart", data=data, sql="SELECT 9")
        assert (answer.status_code, "to chart" in answer.text) == (422, True), data[:20]


def test_who_views_as_somebody_cannot_ask_as_them(shop: Shop) -> None:
    client = shop.client("olga")
    client.post("/view-as", data={"csrf_token": token(client, "/view-as"), "member": "erik"})
    assert client.get(SQL).status_code == 403
    assert client.get(f"{SQL}/names").status_code == 403
