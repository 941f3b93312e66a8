"""New queries and histories, and changing them."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from lakehold.catalog import resources
from lakehold.catalog.resource_view import ResourceView
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send
from tests.web.lakehouse.editor import write_sql
from tests.web.lakehouse.recorded_runs import LAKE, SQL, as_member

QUERY, HISTORY = (f"/workspaces/{LAKE}/pipelines/new/{word}" for word in ("query", "history"))
GOOD = {"name": "Totals", "sql": SQL, "reads": "orders", "output": "new", "layer": "clean", "table": "totals"}
GOOD_HISTORY = {"name": "Past", "reads": "customers", "output": "new", "layer": "clean", "table": "past", "keys": "id"}


def found(shop: Shop, kind: str, name: str) -> ResourceView:
    with shop.platform.read(as_member("olga")) as ctx:
        (item,) = (
            each for each in resources.find(ctx, among=[kind], within=LAKE, search=name).items if each.name == name
        )
        return resources.get(ctx, item.uid)


def fill(page: Page) -> None:
    page.get_by_label("Name", exact=True).fill("Customer totals")
    write_sql(page, SQL)
    page.get_by_label("Clean.orders").check()
    page.get_by_label("Layer", exact=True).select_option("Clean")
    page.get_by_label("Table name").fill("customer_totals")
    page.get_by_label("Upsert by key").check()
    page.get_by_label("Keys").fill("customer, day")


@pytest.mark.parametrize("scripts", [True, False])
def test_somebody_makes_a_query_and_changes_it(open_as: Open, shop: Shop, scripts: bool) -> None:
    page = open_as("erik", QUERY, scripts=scripts)
    fill(page)
    page.get_by_role("button", name="Create ").click()
    expect(page.get_by_role("heading", name="Customer totals")).to_be_visible()
    made = found(shop, "lakehouse.query", "Customer totals")
    assert {name: [end.uid for end in ends] for name, ends in made.edges.items()} == {
        "reads": ["orders"],
        "writes": ["clean"],
        "into": ["clean"],
    }
    assert made.settings == {"sql": SQL, "table": "customer_totals", "mode": "merge", "keys": ["customer", "day"]}
    page.goto(f"/resources/{made.uid}/pipeline/edit")
    page.get_by_label("Clean.stores").check()
    page.get_by_role("radio", name="Full refresh Replaces").check()
    write_sql(page, "SELECT 1 AS one")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved. Applies from the next run.")).to_be_visible()
    after = found(shop, "lakehouse.query", "Customer totals")
    assert after.settings == {**made.settings, "sql": "SELECT 1 AS one", "mode": "overwrite"}
    assert sorted(end.uid for end in after.edges["reads"]) == ["orders", "stores"]


def test_somebody_makes_a_history_and_changes_it(open_as: Open, shop: Shop) -> None:
    page = open_as("erik", f"/workspaces/{LAKE}/pipelines")
    page.get_by_role("button", name="New").click()
    page.get_by_role("link", name="New history").click()
    page.get_by_label("Name", exact=True).fill("Customers before")
    page.get_by_label("Table", exact=True).select_option("Clean.customers")
    page.get_by_label("Layer", exact=True).select_option("Clean")
    page.get_by_label("Table name").fill("customers_before")
    page.get_by_label("Keys").fill("id")
    page.get_by_role("button", name="Create ").click()
    expect(page.get_by_role("heading", name="Customers before")).to_be_visible()
    made = found(shop, "lakehouse.history", "Customers before")
    assert made.settings == {"table": "customers_before", "keys": ["id"], "at": "", "closes_missing": True}
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_label("Close deleted rows").uncheck()
    page.get_by_label("Valid-from field").fill("updated_at")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("updated_at")).to_be_visible()
    after = found(shop, "lakehouse.history", "Customers before")
    assert after.settings == {**made.settings, "at": "updated_at", "closes_missing": False}
    assert [end.uid for end in after.edges["reads"]] == ["customers"]


def test_a_query_writes_a_table_that_is_there(shop: Shop) -> None:
    sent = {**GOOD, "output": "there", "there": "stock", "mode": "append"}
    answer = send(shop.client("erik"), QUERY, QUERY, **sent)
    assert answer.status_code == 303
    made = found(shop, "lakehouse.query", "Totals")
    assert [end.uid for end in made.edges["writes"]] == ["stock"]
    assert made.edges["into"] == []
    assert made.settings == {"sql": SQL, "mode": "append", "keys": []}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": ""}, "Enter a name."),
        ({"sql": " "}, "Enter a query"),
        ({"layer": ""}, "Select a layer"),
        ({"table": ""}, "Enter a table name."),
        ({"table": "Daily sales"}, "cannot be called"),
        ({"mode": "merge"}, "Enter the key fields"),
        ({"mode": "replace"}, "Select an option."),
        ({"output": "nowhere"}, "Select new or there."),
        ({"output": "there"}, "Select a table."),
        ({"output": "there", "there": "orders"}, "needs another table"),
        ({"layer": "private"}, "There is no resource"),
        ({"reads": "salaries"}, "There is no resource"),
        ({"reads": "sales_by_day"}, "You may not create"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_that_was_filled_in_is_lost(
    shop: Shop, wrong: dict[str, str], said: str
) -> None:
    sent = {**GOOD, "description": "kept words", **wrong}
    answer = send(shop.client("erik"), QUERY, QUERY, **sent)
    assert answer.status_code == 422
    assert said in answer.text
    assert "kept words" in answer.text
    assert "SELECT customer" in answer.text or not sent["sql"].strip()


def test_what_the_form_does_not_ask_for_now_stays(shop: Shop) -> None:
    client = shop.client("erik")
    assert send(client, QUERY, QUERY, **GOOD).status_code == 303
    made = found(shop, "lakehouse.query", "Totals")
    # As after its first run: it writes a table that is there, whose name it needs if that is ever deleted.
    here, sent = f"/resources/{made.uid}/pipeline/edit", {**GOOD, "output": "there", "there": "stock", "table": ""}
    assert send(client, here, here, **sent, version=str(made.version)).status_code == 303
    after = found(shop, "lakehouse.query", "Totals")
    assert [end.uid for end in after.edges["writes"]] == ["stock"]
    assert after.settings == {**(made.settings or {}), "table": "totals"}


@pytest.mark.parametrize(
    ("wrong", "said"), [({"reads": ""}, "Select a table"), ({"keys": " , "}, "Enter the key fields")]
)
def test_a_history_lacks_nothing(shop: Shop, wrong: dict[str, str], said: str) -> None:
    answer = send(shop.client("erik"), HISTORY, HISTORY, **{**GOOD_HISTORY, **wrong})
    assert answer.status_code == 422
    assert said in answer.text


def test_only_what_one_may_read_and_write_is_there_to_choose(shop: Shop) -> None:
    text = shop.client("ana").get(QUERY).text
    assert "Clean.orders" in text
    assert "Requires Editor" in text
    for hidden in ("salaries", "tills", "Private"):
        assert hidden not in text
    assert "No layer where you can create tables." in text
    assert send(shop.client("ana"), QUERY, QUERY, **GOOD).status_code == 422
    assert shop.client("nils").get(QUERY).status_code == 404
    assert shop.client("olga").get("/workspaces/sales/pipelines/new/query").status_code == 404


def test_who_may_not_edit_it_gets_no_form_and_of_two_who_do_the_second_is_told(shop: Shop) -> None:
    send(shop.client("erik"), QUERY, QUERY, **GOOD)
    here = f"/resources/{found(shop, 'lakehouse.query', 'Totals').uid}/pipeline/edit"
    assert shop.client("ana").get(here).status_code == 403
    assert shop.client("nils").get(here).status_code == 404
    client = shop.client("erik")
    assert send(client, here, here, **GOOD, mode="append", version="1").status_code == 303
    late = send(client, here, here, **{**GOOD, "name": "Too late"}, version="1")
    assert late.status_code == 422
    assert 'value="Too late"' in late.text
    assert client.get("/resources/till_source/pipeline/edit").status_code == 422


@pytest.mark.parametrize("form", [QUERY, HISTORY])
@pytest.mark.rare
def test_axe_finds_nothing_wrong_with_the_forms(open_as: Open, violations: Violations, form: str) -> None:
    assert violations(open_as("ana", form)) == []
