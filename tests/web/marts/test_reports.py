"""Reports: made and changed by a form, shown, run, and read-only while their destination is gone."""

from __future__ import annotations

import json
import re

import pytest
from markupsafe import Markup
from playwright.sync_api import expect

from lakehold.access import Attribute, Remove
from lakehold.catalog import resource_edit, resource_metadata, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.lake import readable_tables
from lakehold.lake.volumes import Volume
from lakehold.runs.run_table import run_step_table
from lakehold.workspaces.marts.messages import MessageData
from lakehold.workspaces.marts.pages.reports import form_options, form_pages
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send
from tests.web.lakehouse.recorded_runs import as_member, queue_run, record_run_state
from tests.web.lakehouse.sample_rows import ORDERS, fill, order

NEW = "/workspaces/sales/reports/new"
ON_SALES = f"{NEW}?mart=daily_sales"
COLUMNS = [{"name": "store", "alias": "Shop"}, {"name": "amount", "alias": "Turnover", "description": "Without tax."}]
ASKED: dict[str, str | list[str]] = {
    "mart": "daily_sales",
    "name": "Weekly",
    "description": "For the board.",
    "columns": ["store"],
    "sum_column": ["amount"],
    "sum_how": ["sum"],
    "sum_name": ["total"],
    "where_column": ["day", "store", "id"],
    "where_is": [">=", "in", "is not empty"],
    "where_value": [":since", "Ulm, Köln", ""],
    "sort_column": ["total", ""],
    "sort_way": ["down", "up"],
    "limit": "10",
    "parameters": "since: today - 7",
    "zone": "Europe/Berlin",
    "send": "changed",
    "destination": "board_mail",
    "subject": "Sales",
    "file": "",
    "kind": "csv",
    "message": "**{{ total }}**\n\n{{ table }}",
}
KEPT = {
    "columns": ["store"],
    "sums": [{"column": "amount", "how": "sum", "name": "total"}],
    "where": [
        {"column": "day", "is": ">=", "value": ":since"},
        {"column": "store", "is": "in", "values": ["Ulm", "Köln"]},
        {"column": "id", "is": "is not empty"},
    ],
    "sort": [{"column": "total", "descending": True}],
    "limit": 10,
    "parameters": {"since": "today - 7"},
    "zone": "Europe/Berlin",
    "send": "changed",
    "message": "**{{ total }}**\n\n{{ table }}",
    "delivery": {"subject": "Sales", "kind": "csv"},
}


@pytest.fixture
def filled(shop: Shop) -> Shop:
    _fill(shop)
    return shop


def _fill(shop: Shop) -> None:
    fill(shop.platform, "daily_sales", ORDERS, [order(n) for n in range(3)])
    with shop.platform.write(as_member("tara")) as ctx:
        settings = {**resource_metadata.load(ctx, "daily_sales").settings, "by": "sql", "sql": "SELECT 1"}
        resource_edit.apply_edit(
            ctx, "daily_sales", ResourceEdit(settings={**settings, "columns": COLUMNS}, managed={"published": True})
        )


def made(shop: Shop, name: str) -> ResourceView:
    with shop.platform.read(as_member("olga")) as ctx:
        some = resources.find(ctx, among=["marts.report"], within="sales", search=name).items
        (item,) = (each for each in some if each.name == name)
        return resources.get(ctx, item.uid)


def test_a_business_user_makes_a_report_and_the_form_says_all_that_was_kept(filled: Shop) -> None:
    bella = filled.client("bella")
    answer = send(bella, ON_SALES, NEW, **ASKED, do="save")
    assert answer.status_code == 303, answer.text
    found = made(filled, "Weekly")
    assert found.settings == KEPT
    assert [end.uid for end in found.edges["destination"]] == ["board_mail"]
    assert found.parent
    assert found.parent.uid == "daily_sales"
    here = f"/resources/{found.uid}/report"
    assert answer.headers["location"] == here
    text = bella.get(here).text
    for words in ("Sum of Turnover, as total", "day is not before :since", "total (descending)", "10 rows"):
        assert words in text, words
    assert "Only if rows changed" in text
    again = send(bella, f"{here}/edit", f"{here}/edit", **ASKED, version=str(found.version), do="save")
    assert again.status_code == 303
    assert made(filled, "Weekly").settings == KEPT


def test_a_row_is_added_and_taken_away_by_a_button_and_nothing_is_lost(filled: Shop) -> None:
    bella = filled.client("bella")
    more = send(bella, ON_SALES, NEW, **{**ASKED, "where_new": "amount"}, do="where")
    assert more.status_code == 200
    assert more.text.count('name="where_column"') == 4
    assert "A number, such as 12.5." in more.text
    assert "Good morning" in more.text
    assert 'value="Ulm, Köln"' in more.text
    less = send(bella, ON_SALES, NEW, **ASKED, do="where-drop-1").text
    assert less.count('name="where_column"') == 2
    assert 'value="Ulm, Köln"' not in less
    sums = send(bella, ON_SALES, NEW, **{**ASKED, "sum_new": ""}, do="sum").text
    assert sums.count('name="sum_column"') == 2
    assert 'value="today - 7"' not in sums
    assert "since: today - 7" in sums
    with filled.platform.read(as_member("olga")) as ctx:
        found = resources.find(ctx, among=["marts.report"], within="sales", search="Weekly").items
    assert "Weekly" not in [each.name for each in found]


@pytest.mark.parametrize(
    ("wrong", "field", "said"),
    [
        ({"name": ""}, "name", "Enter a name."),
        ({"destination": ""}, "destination", "Select a destination."),
        ({"limit": "many"}, "limit", "Enter a number"),
        ({"where_value": ["yesterday", "Ulm", ""]}, "where-0", "is not a date"),
        ({"where_value": [":nothing", "Ulm", ""]}, "where-0", "has no value"),
        ({"where_column": ["day", "nowhere", "id"]}, "where-1", "no column"),
        ({"sum_how": ["twice"]}, "sum-0", "cannot be"),
        ({"sort_column": ["day", ""]}, "sort", "does not show"),
        ({"zone": "Europe/Nowhere"}, "zone", "no time zone"),
        ({"message": "{{ nothing }}"}, "message", "which the report does not have"),
        ({"parameters": "since"}, "parameters", "name: value"),
    ],
)
def test_what_is_wrong_is_told_at_its_place(
    filled: Shop, wrong: dict[str, str | list[str]], field: str, said: str
) -> None:
    answer = send(filled.client("bella"), ON_SALES, NEW, **{**ASKED, **wrong}, do="save")
    assert answer.status_code == 422
    (message,) = re.findall(rf'<li><a href="#field-{field}">(.*?)</a>', answer.text, re.DOTALL)
    assert said in message
    assert f'id="field-{field}"' in answer.text
    assert "For the board." in answer.text


def test_only_what_one_may_use_can_be_chosen(filled: Shop) -> None:
    bella, boris = filled.client("bella"), filled.client("boris")
    chosen = bella.get(NEW).text
    assert "Daily sales" in chosen
    assert "Margins" not in chosen
    form = bella.get(ON_SALES).text
    assert "board_mail" in form
    assert "store_sheets" in form
    assert "finance_table" not in form
    # Boris works for EMEA alone.
    assert "Suppliers" not in boris.get(NEW).text
    assert bella.get(f"{NEW}?mart=margins").status_code == 404
    assert bella.get(f"{NEW}?mart=board_mail").status_code == 404
    assert send(bella, ON_SALES, NEW, **{**ASKED, "mart": "margins"}, do="save").status_code == 404
    assert send(bella, ON_SALES, NEW, **{**ASKED, "destination": "finance_table"}, do="save").status_code == 422
    assert filled.client("nils").get(ON_SALES).status_code == 404
    assert bella.get("/workspaces/daily_sales/reports/new").headers["location"] == ON_SALES


def test_columns_are_shown_by_their_aliases_with_operators_of_their_type(filled: Shop) -> None:
    text = send(filled.client("bella"), ON_SALES, NEW, **ASKED, do="sort").text
    assert re.search(r'<label for="column-\d+">Turnover</label>', text)
    assert "amount, decimal(10, 2). Without tax." in text
    assert "is not before" in text
    assert "today - 7, week, month - 1" in text
    assert [word for word, _ in form_options.operator_options("boolean")] == ["=", "is empty", "is not empty"]
    assert "contains" not in dict(form_options.operator_options("long"))
    assert "sum" not in dict(form_options.aggregate_options("string"))


def test_a_mart_without_rows_says_so_and_a_report_on_it_can_be_kept(shop: Shop) -> None:
    bella = shop.client("bella")
    assert "has no data yet" in bella.get(ON_SALES).text
    sent = {"mart": "daily_sales", "name": "Later", "destination": "board_mail", "do": "save"}
    assert send(bella, ON_SALES, NEW, **sent).status_code == 303
    assert made(shop, "Later").settings == {}


def test_without_a_worker_a_preview_says_so_and_nothing_is_lost(filled: Shop) -> None:
    answer = send(filled.client("bella"), ON_SALES, NEW, **ASKED, do="preview")
    assert answer.status_code == 200
    assert "No worker is running." in answer.text
    assert "For the board." in answer.text
    assert "No worker is running." in filled.client("bella").get("/resources/morning_sales/rows").text


def test_a_message_is_shown_as_it_will_be_without_styles_of_its_own() -> None:
    first = MessageData("Weekly", "2026-11-16", ("day", "total"), [("Monday", 4), ("<b>", 2)], 2)
    words = form_pages.render_message(
        "# Sales\n\n{{ day }} {{ column total }}\n\n{{ table }}\n\n{{ chart day total }}", first
    )
    assert isinstance(words, Markup)
    assert "<h3>Sales</h3>" in words
    assert "style=" not in words
    assert "&lt;b&gt;" in words
    assert 'max="100" value="50"' in words
    assert form_pages.render_message("", first) == ""


def test_a_report_whose_destination_is_gone_can_only_be_read_until_it_is_back(filled: Shop) -> None:
    bella, tara, boris = filled.client("bella"), filled.client("tara"), filled.client("boris")
    here = "/resources/morning_sales"
    send(bella, f"{here}/report", "/resources/board_mail/delete", confirmed="1")
    text = bella.get(f"{here}/report").text
    assert "Its destination Board mail is deleted" in text
    assert "is read-only" in text
    assert 'action="/resources/board_mail/restore"' in text
    assert "see the definition" not in text
    assert bella.get(f"{here}/report/edit").status_code == 403
    assert send(bella, f"{here}/report", f"{here}/pipeline/run").status_code == 403
    # Who edits the mart is let run it, and told that it cannot be sent; and may choose another.
    run = send(tara, f"{here}/report", f"{here}/pipeline/run")
    tara.cookies.update(run.cookies)
    assert "is gone" in tara.get(run.headers["location"]).text
    assert "Change destination" in tara.get(f"{here}/report").text
    assert 'action="/resources/board_mail/restore"' not in boris.get(f"{here}/report").text
    other = {"name": "Morning sales", "destination": "store_sheets", "do": "save"}
    assert send(tara, f"{here}/report/edit", f"{here}/report/edit", **other).status_code == 303
    assert "is deleted" not in bella.get(f"{here}/report").text
    assert bella.get(f"{here}/report/edit").status_code == 200


def test_a_report_says_when_it_was_sent_and_why_not(filled: Shop) -> None:
    bella, here = filled.client("bella"), "/resources/morning_sales/report"
    assert "Not sent yet." in bella.get(here).text
    sent = queue_run(filled, "morning_sales", member="bella")
    record_run_state(filled, sent, "succeeded", step="send", rows=3, said=[("info", "3 rows delivered")])
    held = queue_run(filled, "morning_sales", member="bella")
    record_run_state(filled, held, "succeeded", step="send", said=[("info", "Nothing was sent: there are no rows.")])
    text = bella.get(here).text
    assert "there are no rows." in text
    assert text.index("Not sent") < text.index("Last sent")


def test_what_a_report_has_left_can_be_taken_from_its_page(filled: Shop) -> None:
    with filled.platform.write(as_member("adam")) as ctx:
        resource_edit.apply_edit(ctx, "store_sheets", ResourceEdit(settings={"to": "files", "kind": "csv"}))
        resource_edit.apply_edit(ctx, "morning_sales", ResourceEdit(edges={"destination": ["store_sheets"]}))
        volume = Volume(filled.platform.settings, readable_tables.identifier_of(ctx, "store_sheets"))
    with volume.open_partial() as rough:
        rough.write(b"day\n")
        volume.publish(rough, "Morning sales.csv", replace=False)
    record_run_state(filled, queue_run(filled, "morning_sales", member="bella"), "succeeded", step="send", rows=1)
    with filled.platform.database.write() as transaction:
        run_state = json.dumps({"places": ["Morning sales.csv"], "sure": True})
        transaction.connection.execute(run_step_table.update().values(saved_state=run_state))
    here, file = "/resources/morning_sales/report", "/resources/store_sheets/destination/file?path=Morning+sales.csv"
    assert f'href="{file}"' in filled.client("bella").get(here).text
    assert filled.client("bella").get(file).text == "day\n"
    with filled.platform.write(as_member("adam")) as ctx:
        for toggle in ("shared_for_use", "shared_for_maintenance"):
            ctx.make(Remove(Attribute("store_sheets", toggle, "true")))
    assert file not in filled.client("bella").get(here).text


def test_an_owner_who_lost_the_mart_is_not_told_how_it_went(filled: Shop) -> None:
    boris, here = filled.client("boris"), "/resources/returns_watch/report"
    assert "Not sent yet." in boris.get(here).text
    with filled.platform.write(as_member("tara")) as ctx:
        resource_edit.apply_edit(ctx, "returns", ResourceEdit(attributes={"shared_for_reporting": False}))
    text = boris.get(here).text
    assert "Only visible to those who see its data mart." in text
    assert "not sent yet" not in text


def test_who_only_sees_a_report_is_not_told_what_it_asks(filled: Shop) -> None:
    with filled.platform.write(as_member("bella")) as ctx:
        settings = {"columns": ["store"], "where": [{"column": "store", "is": "=", "value": "quiet words"}]}
        resource_edit.apply_edit(ctx, "morning_sales", ResourceEdit(settings=settings))
    boris, here = filled.client("boris"), "/resources/morning_sales"
    text = boris.get(f"{here}/report").text
    assert "see the definition" in text
    assert "quiet words" not in text
    assert "quiet words" in filled.client("bella").get(f"{here}/report").text
    assert boris.get(f"{here}/report/edit").status_code == 403
    assert send(boris, f"{here}/report", f"{here}/report/edit", name="Mine", do="save").status_code == 403
    assert boris.get("/resources/margin_book/report").status_code == 404
    assert filled.client("nils").get(f"{here}/rows").status_code == 404
    assert boris.get("/resources/orders/report").status_code == 404


@pytest.mark.rare
def test_axe_finds_nothing_wrong(open_as: Open, violations: Violations, filled: Shop) -> None:
    send(filled.client("bella"), ON_SALES, NEW, **ASKED, do="save")
    uid = made(filled, "Weekly").uid
    page = open_as("bella", NEW)
    for path in (
        NEW,
        ON_SALES,
        *(f"/resources/{uid}/{part}" for part in ("report", "report/edit", "rows", "runs", "insights")),
        "/workspaces/sales/insights",
    ):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert violations(page) == [], path


def test_a_report_is_made_without_scripts(filled: Shop, open_as: Open) -> None:
    page = open_as("bella", "/workspaces/sales/report", scripts=False)
    page.get_by_role("link", name="New report").first.click()
    page.get_by_role("link", name="Daily sales").click()
    page.get_by_label("Name", exact=True).fill("Shops of the week")
    page.get_by_label("Shop", exact=True).check()
    page.get_by_label("Aggregate").select_option(label="Turnover")
    page.get_by_role("button", name="Add aggregation").click()
    page.get_by_label("Column name").fill("total")
    page.get_by_label("Filter on").select_option(label="day")
    page.get_by_role("button", name="Add filter").click()
    page.get_by_label("Value for day").fill("today - 7")
    page.get_by_label("Destination").select_option(value="board_mail")
    page.get_by_role("button", name="Create report").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Shops of the week")
    assert made(filled, "Shops of the week").settings == {
        "columns": ["store"],
        "sums": [{"column": "amount", "how": "sum", "name": "total"}],
        "where": [{"column": "day", "is": ">=", "value": "today - 7"}],
    }


def test_insights_say_when_how_often_and_where_to(filled: Shop) -> None:
    bella, here = filled.client("bella"), "/resources/morning_sales/insights"
    assert "neither sent nor pulled" in bella.get(here).text
    run = queue_run(filled, "morning_sales", member="bella")
    record_run_state(filled, run, "succeeded", step="send", rows=1234)
    with filled.platform.database.write() as transaction:
        run_state = json.dumps({"places": ["board@shop.example"], "sure": True})
        transaction.connection.execute(run_step_table.update().values(saved_state=run_state))
    text = bella.get(here).text
    assert "1,234" in text
    assert "board@shop.example" in text
    # Who sees the report, and may not edit where it goes, is told that it went.
    others = filled.client("tim").get(here).text
    assert "1,234" in others
    assert "board@shop.example" not in others
    listed = bella.get("/workspaces/sales/insights").text
    assert "Morning sales" in listed
    assert "Margin book" not in listed
    assert "Morning sales" not in bella.get("/workspaces/sales/insights?q=month").text
    assert bella.get("/workspaces/sales/insights?sort=name").status_code == 200
    assert filled.client("nils").get(here).status_code == 404
