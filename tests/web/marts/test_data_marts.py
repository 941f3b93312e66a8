"""Data marts on their pages: made, tried out and changed; published; their schema, checks, reports and lineage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from lakehold.access import Add, Attribute
from lakehold.catalog import resource_edit
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.runs import run_table as states
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.web.runs import TRIGGERS
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send
from tests.web.lakehouse.probe_worker import demo_with_probe_worker
from tests.web.lakehouse.recorded_runs import as_member, queue_run, record_run_state
from tests.web.lakehouse.sample_rows import ORDERS, fill, order
from tests.web.marts import sample_data
from tests.web.marts.sample_data import find_resource, set_managed, settings_of, update_settings
from tests.web.visitors import visitors

NEW = "/workspaces/sales/marts/new"
MART = "/resources/daily_sales"
KIND = "marts.data_mart"
TABS = ("mart", "sample", "schema", "reports", "triggers", "runs", "quality", "lineage", "access")


@pytest.fixture
def filled(shop: Shop) -> Shop:
    """Daily sales have rows and a definition."""
    sample_data.use_lake_storage(shop)
    fill(shop.platform, "daily_sales", ORDERS, [order(n) for n in range(3)])
    update_settings(shop, "daily_sales", by="sql", sql="SELECT * FROM clean.orders")
    set_managed(shop, "daily_sales", reads=["orders"])
    return shop


@pytest.fixture
def served(shop_folder: Path, tmp_path: Path) -> Iterator[Shop]:
    """With a worker that looks at files."""
    with demo_with_probe_worker(shop_folder, tmp_path / "data") as shop:
        yield shop


@pytest.fixture
def open_there(browser: Browser, served: Shop) -> Iterator[Open]:
    """As `open_as`, where there is a worker."""
    with visitors(browser, served.address, served.cookie_of) as opened:
        yield opened


def words_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", page).split())


@pytest.mark.rare
def test_every_page_is_open_to_everybody(filled: Shop, open_as: Open, violations: Violations) -> None:
    update_settings(filled, "daily_sales", checks=[{"check": "unique", "fields": ["id"]}])
    page = open_as("tara", f"{MART}/mart")
    forms = (NEW, f"{NEW}?storage=lake", f"{MART}/mart/edit", f"{MART}/checks", f"{MART}/checks?n=0")
    for path in (*forms, *(f"{MART}/{part}" for part in TABS), "/resources/margins/mart", "/resources/margins/schema"):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert violations(page) == [], path


def test_what_it_is_refreshed_after_is_named_as_far_as_one_sees(filled: Shop) -> None:
    with filled.platform.write(as_member("tara")) as ctx:
        TRIGGERS.save(ctx, "daily_sales", TriggerSchedule(after=("returns", "margins"), every=True))
    words = {member: words_of(filled.client(member).get(f"{MART}/mart").text) for member in ("tara", "bella")}
    assert "After Returns and Margins" in words["tara"]
    assert "After Returns and others" in words["bella"]
    assert "Margins" not in words["bella"]
    assert "Returns, and others not visible to you" in words_of(filled.client("bella").get(f"{MART}/triggers").text)


@pytest.mark.parametrize("scripts", [True, False])
def test_a_mart_is_tried_out_and_made_of_a_file(served: Shop, open_there: Open, scripts: bool) -> None:
    uid = sample_data.create_file_storage(served)
    page = open_there("tara", NEW, scripts=scripts, refused=True)
    page.get_by_role("link", name="Sheets").click()
    page.get_by_role("textbox", name="Name").fill("Sales of the tills")
    page.get_by_role("radio", name="Table All rows").check()
    page.get_by_label("Table", exact=True).fill("sales.csv")
    page.get_by_role("radio", name="Upsert by key").check()
    page.get_by_label("Primary key").fill("number")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no stored field 'number'.")
    page.get_by_label("Primary key").fill("id")
    page.get_by_label("Copy in the storage").fill("sales.csv")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("alert")).to_contain_text("This is its source table. Choose another name.")
    page.get_by_label("Copy in the storage").fill("tills")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("cell", name="Bonn")).to_be_visible()
    page.get_by_role("button", name="Create data mart").click()
    expect(page.get_by_role("heading", name="Sales of the tills", level=1)).to_be_visible()
    expect(page.get_by_role("term").filter(has_text="Copy in the storage")).to_be_visible()
    made = find_resource(served, KIND, "Sales of the tills")
    assert [end.uid for end in made.edges["storage"]] == [uid]
    assert made.settings
    said_so = [made.settings[name] for name in ("by", "table", "mode", "kept_as")]
    assert said_so == ["table", "sales.csv", "merge", "tills"]


def test_sql_has_an_editor_with_names_of_the_lake(filled: Shop, open_as: Open) -> None:
    page = open_as("tara", f"{NEW}?storage=lake")
    editor = page.get_by_role("textbox", name="SQL")
    editor.click()
    page.keyboard.type("SELECT * FROM Clean.or")
    expect(page.get_by_role("option", name="orders")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("textbox", name="Name").fill("Typed")
    page.get_by_role("button", name="Create data mart").click()
    # There is no worker: the first refresh tells whether it is right.
    expect(page.get_by_role("heading", name="Typed", level=1)).to_be_visible()
    assert "Clean.or" in str(settings_of(filled, find_resource(filled, KIND, "Typed").uid)["sql"])


def test_what_is_wrong_is_told_at_its_field_and_nothing_is_lost(filled: Shop) -> None:
    tara = filled.client("tara")
    sent = {"storage": "lake", "name": "Kept words", "by": "sql", "sql": "", "mode": "incremental", "do": "save"}
    joins = {"join_mart": "returns", "join_name": "9 lives", "join_on": ""}
    answer = send(tara, f"{NEW}?storage=lake", NEW, **sent, **joins)
    assert answer.status_code == 422
    for said_so in (
        "Enter a query",
        "Enter the cursor field",
        "Enter a prefix of letters and digits.",
        "Enter the join columns",
        "Kept words",
    ):
        assert said_so in answer.text
    more = send(tara, f"{NEW}?storage=lake", NEW, **{**sent, "do": "join"})
    assert more.text.count('name="join_mart"') == 1


def test_what_a_mart_is_called_can_be_said_before_its_rows_are(filled: Shop) -> None:
    there = "/resources/margins/mart/edit"
    sent = {"storage": "lake", "name": "Margin", "by": "sql", "sql": "", "mode": "full", "do": "save"}
    assert settings_of(filled, "margins") == {}
    assert send(filled.client("tara"), there, there, **sent, description="What is left.").status_code == 303
    made = find_resource(filled, KIND, "Margin")
    assert (made.uid, made.description, made.settings) == ("margins", "What is left.", {})
    assert send(filled.client("tara"), there, there, **{**sent, "name": ""}).status_code == 422
    assert send(filled.client("tara"), there, there, **{**sent, "mode": "append"}).status_code == 422


def test_a_mart_is_joined_to_others_that_one_may_use(filled: Shop) -> None:
    tara = filled.client("tara")
    sent = {"storage": "lake", "name": "Joined", "by": "table", "table": "clean.orders", "mode": "full", "do": "save"}
    joins = {"join_mart": "daily_sales", "join_name": "sales", "join_on": "id, store = store"}
    assert send(tara, f"{NEW}?storage=lake", NEW, **sent, **joins).status_code == 303
    made = find_resource(filled, KIND, "Joined")
    assert [end.uid for end in made.edges["joins"]] == ["daily_sales"]
    join = {"mart": "daily_sales", "name": "sales", "on": {"id": "id", "store": "store"}}
    assert settings_of(filled, made.uid)["joins"] == [join]
    assert "Daily sales" in tara.get(f"/resources/{made.uid}/lineage").text
    form = tara.get(f"/resources/{made.uid}/mart/edit").text
    assert "id = id, store = store" in form
    # Marts that one may not use are not offered, and taken from nobody.
    assert "Staffing" not in form
    refused = send(tara, f"{NEW}?storage=lake", NEW, **{**sent, "name": "No"}, **{**joins, "join_mart": "staffing"})
    assert refused.status_code == 422


def test_a_join_that_an_editor_does_not_see_stays(filled: Shop) -> None:
    update_settings(filled, "store_targets", by="table", table="clean.stores")
    join = {"mart": "margins", "name": "margin", "on": {"id": "id"}}
    with filled.platform.write(as_member("tara")) as ctx:
        resource_edit.apply_edit(ctx, "store_targets", ResourceEdit(edges={"joins": ["margins"]}))
    update_settings(filled, "store_targets", joins=[join])
    tim = filled.client("tim")
    form = tim.get("/resources/store_targets/mart/edit").text
    assert "Other joins are not visible to you" in form
    assert "margin" not in form.lower()
    version = find_resource(filled, KIND, "Store targets").version
    sent = {"storage": "lake", "name": "Store targets", "by": "table", "table": "clean.stores", "version": str(version)}
    there = "/resources/store_targets/mart/edit"
    # The lake is not his to read: he may call the mart something else, and not let it draw something else.
    assert send(tim, there, there, **{**sent, "table": "clean.items"}, do="save").status_code == 422
    assert send(tim, there, there, **sent, do="save").status_code == 303
    assert settings_of(filled, "store_targets")["joins"] == [join]


def test_a_mart_is_published_and_made_a_draft_again_by_who_edits_it(filled: Shop) -> None:
    tara, bella = filled.client("tara"), filled.client("bella")
    page = tara.get(f"{MART}/mart").text
    assert ("Draft" in page, "Not available for reports" in page) == (True, True)
    assert send(bella, f"{MART}/mart", f"{MART}/mart/publish").status_code == 403
    assert send(tara, f"{MART}/mart", f"{MART}/mart/publish").status_code == 303
    assert settings_of(filled, "daily_sales")["published"] is True
    page_text = bella.get(f"{MART}/mart").text
    assert "Available for reports" in page_text
    assert "Only editors see the definition." in page_text
    assert "clean.orders" not in page_text
    assert send(tara, f"{MART}/mart", f"{MART}/mart/unpublish").status_code == 303
    assert settings_of(filled, "daily_sales")["published"] is False
    assert filled.client("nils").get(f"{MART}/mart").status_code == 404


def test_a_mart_without_rows_is_not_published(filled: Shop) -> None:
    update_settings(filled, "margins", by="table", table="clean.orders")
    tara = filled.client("tara")
    send(tara, f"{MART}/mart", "/resources/margins/mart/publish")
    assert settings_of(filled, "margins").get("published") is not True
    assert "Refresh it once, then publish it." in tara.get("/resources/margins/mart").text


@pytest.mark.parametrize("scripts", [True, False])
def test_the_schema_is_edited_in_place(filled: Shop, open_as: Open, scripts: bool) -> None:
    page = open_as("tara", f"{MART}/schema", scripts=scripts)
    page.get_by_label("amount display name").fill("Amount without tax")
    page.get_by_label("Description of store").fill("The shop's town.")
    page.get_by_label("Type of day").select_option("timestamp")
    page.get_by_label("tags is hidden").check()
    page.get_by_label("id is in the primary key").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved. Types and hidden fields")).to_be_visible()
    settings = settings_of(filled, "daily_sales")
    assert settings["keys"] == ["id"]
    assert settings["columns"] == [
        {"name": "store", "description": "The shop's town."},
        {"name": "amount", "alias": "Amount without tax"},
        {"name": "day", "type": "timestamp"},
        {"name": "tags", "hidden": True},
    ]
    bella = filled.client("bella").get(f"{MART}/schema").text
    assert ("Amount without tax" in bella, "The shop&#39;s town." in bella, 'name="alias-0"' in bella) == (
        True,
        True,
        False,
    )


def test_a_hidden_field_that_is_not_kept_is_shown_to_editors_alone(filled: Shop) -> None:
    update_settings(filled, "daily_sales", columns=[{"name": "margin_secret", "hidden": True}])
    assert "margin_secret" in filled.client("tara").get(f"{MART}/schema").text
    assert "margin_secret" not in filled.client("bella").get(f"{MART}/schema").text
    fields = {"name": "id", "hidden-0": "1", "key-0": "1"}
    refused = send(filled.client("tara"), f"{MART}/schema", f"{MART}/schema", **fields)
    assert (refused.status_code, "part of the primary key" in refused.text) == (422, True)
    assert send(filled.client("bella"), f"{MART}/schema", f"{MART}/schema", **fields).status_code == 403


def test_checks_are_added_changed_and_taken_away(filled: Shop) -> None:
    tara, here = filled.client("tara"), f"{MART}/checks"
    kept = [
        {"check": "unique", "fields": "id, store"},
        {"check": "accepted values", "fields": "store", "values": "Ulm, Bonn", "stops": "1"},
        {"check": "row count", "least": "10", "most": "20"},
        {"check": "freshness", "fields": "day", "hours": "36"},
        {"check": "sql", "sql": "SELECT 1", "name": "none is odd"},
    ]
    for check in kept:
        assert send(tara, here, here, **check).status_code == 303, check
    assert settings_of(filled, "daily_sales")["checks"] == [
        {"check": "unique", "fields": ["id", "store"]},
        {"check": "accepted values", "fields": ["store"], "values": ["Ulm", "Bonn"], "stops": True},
        {"check": "row count", "least": 10, "most": 20},
        {"check": "freshness", "fields": ["day"], "hours": 36},
        {"check": "sql", "sql": "SELECT 1", "name": "none is odd"},
    ]
    for wrong, message in (
        ({"check": "not null"}, "Enter a field."),
        ({"check": "not null", "fields": "id, day"}, "exactly one field"),
        ({"check": "row count", "least": "many"}, "Enter a whole number."),
        ({"check": "unique", "fields": "id, store"}, "already"),
    ):
        refused = send(tara, here, here, **wrong)
        assert (refused.status_code, message in refused.text) == (422, True), refused.text
    assert "36" in tara.get(f"{here}?n=3").text
    assert send(tara, here, here, n="3", check="freshness", fields="day", hours="12").status_code == 303
    assert send(tara, f"{MART}/quality", f"{here}/remove", n="0", confirmed="1").status_code == 303
    checks = settings_of(filled, "daily_sales")["checks"]
    assert isinstance(checks, list)
    assert [each["check"] for each in checks] == ["accepted values", "row count", "freshness", "sql"]
    assert checks[2]["hours"] == 12
    assert tara.get(f"{here}?n=9").status_code == 404


def test_who_may_not_edit_a_mart_changes_nothing_of_it(filled: Shop) -> None:
    update_settings(filled, "daily_sales", checks=[{"check": "unique", "fields": ["id"]}])
    bella = filled.client("bella")
    assert bella.get(f"{MART}/checks").status_code == 403
    assert bella.get(f"{MART}/mart/edit").status_code == 403
    assert bella.get(NEW).status_code == 403
    quality = bella.get(f"{MART}/quality").text
    assert ("unique id" in quality, f"{MART}/checks" in quality) == (True, False)
    assert send(bella, f"{MART}/quality", f"{MART}/checks/remove", n="0", confirmed="1").status_code == 403
    assert send(bella, f"{MART}/quality", f"{MART}/checks", check="unique", fields="id").status_code == 403


def test_reports_on_a_mart_are_those_that_one_sees(filled: Shop) -> None:
    run = queue_run(filled, "morning_sales", member="bella")
    record_run_state(filled, run, states.SUCCEEDED)
    page = filled.client("bella").get(f"{MART}/reports").text
    assert ("Morning sales" in page, "Board mail" in page, run in page) == (True, True, True)
    assert "/workspaces/sales/reports/new?mart=daily_sales" in page
    assert "Month end" not in filled.client("tara").get(f"{MART}/reports?q=morning").text
    assert filled.client("bella").get("/resources/margins/reports").status_code == 404


def test_lineage_goes_from_the_lake_to_destinations_as_far_as_one_sees(filled: Shop) -> None:
    tara = filled.client("tara").get(f"{MART}/lineage").text
    for name in ("Lake", "orders", "Morning sales", "Board mail", "Archive files"):
        assert name in tara
    bella = filled.client("bella").get(f"{MART}/lineage").text.partition("<main")[2]
    assert "not visible to you" in bella
    assert "orders" not in bella
    assert "/resources/lake" not in bella
    with filled.platform.write(as_member("tara")) as ctx:
        ctx.make(Add(Attribute("daily_sales", "shared_for_reporting", "false")))
    assert filled.client("boris").get(f"{MART}/lineage").status_code == 404
