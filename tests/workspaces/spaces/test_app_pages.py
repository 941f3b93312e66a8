"""Pages of apps: the viewer, its filters and its CSV, and the form that makes one."""

from __future__ import annotations

import json
import re

import pytest

from lakehold.catalog import resources
from lakehold.web.form_values import list_setting
from tests.web.forms import send
from tests.workspaces.spaces.dashboard import APP, DATASET, SOURCE_WORDS, Dashboard, sum_of
from tests.workspaces.spaces.space import CARL

NEW = "/workspaces/sales/apps/new"


@pytest.fixture(scope="module")
def app(board: Dashboard) -> str:
    """An app with a chart of each type, shared with Nora."""
    total, number = sum_of("amount", "total"), {"how": "count", "name": "orders"}
    charts = [
        board.chart("By month", type="line", group_by=["day"], period="month"),
        board.chart("Both", type="area", series=[total, number]),
        board.chart("Bars", type="bar", series=[total, number]),
        board.chart("Spread", type="scatter", series=[total, number]),
        board.chart("Sum", type="number", group_by=[]),
        board.chart("All", type="table", group_by=["region", "fruit"]),
        board.chart("Shares", type="treemap"),
        board.chart("Gone", group_by=["nothing_there"]),
        board.chart("Names", series=[{"how": "most", "column": "fruit"}]),
    ]
    return board.app(board.settings(*charts), "nora")


def test_a_viewer_sees_all_charts_and_no_source(board: Dashboard, app: str) -> None:
    nora = board.browser("nora")
    page = nora.get(f"/resources/{app}/app")
    assert page.status_code == 200, page.text
    assert page.text.count('class="chart app-chart"') == 5
    for words in ("By month", "2026-02-01: total 35", "<dd>52</dd>", "o&#39;west", "Its values are not numeric",
                  "A column that it needs is gone."):  # fmt: skip
        assert words in page.text, words
    for path in ("app", "app?f.Region=north", "access", "why?action=view", "why?action=edit", "lineage", "app/edit"):
        text = nora.get(f"/resources/{app}/{path}").text
        assert [word for word in (*SOURCE_WORDS, board.task) if word in text] == [], path
    assert "Edit" not in re.findall(r"<main.*</main>", page.text, re.DOTALL)[0]


def test_filters_in_the_address_act_on_all_charts(board: Dashboard, app: str) -> None:
    nora = board.browser("nora")
    page = nora.get(f"/resources/{app}/app", params={"f.Region": "north", "from.Day": "2026-02-01"}).text
    assert "<dd>5</dd>" in page
    assert 'value="2026-02-01"' in page
    assert '<option value="north" selected>' in page
    wrong = nora.get(f"/resources/{app}/app", params={"from.Day": "soon"})
    assert wrong.status_code == 422
    assert "is not a date" in wrong.text
    assert "Clear filters" in wrong.text
    assert "No data" in nora.get(f"/resources/{app}/app", params={"f.Fruit": "<script>"}).text


def test_a_chart_is_downloaded_as_csv(board: Dashboard, app: str) -> None:
    nora = board.browser("nora")
    found = nora.get(f"/resources/{app}/app/csv", params={"chart": 5, "f.Region": "north"})
    assert found.text == "region,fruit,total\nnorth,apple,10\nnorth,pear,5\n"
    assert nora.get(f"/resources/{app}/app/csv?chart=90").status_code == 404
    assert nora.get(f"/resources/{app}/app/csv?chart=7").status_code == 409
    assert board.browser("liam").get(f"/resources/{app}/app/csv?chart=5").status_code == 404


def test_a_link_alone_opens_no_page(board: Dashboard, app: str) -> None:
    for path in ("app", "app/edit", ""):
        found = board.browser("liam").get(f"/resources/{app}/{path}".rstrip("/"))
        assert found.status_code == 404
        assert APP not in found.text
    admin = board.browser("ada").get(f"/resources/{app}/app")
    assert admin.status_code == 200
    assert "35" not in re.findall(r"<main.*</main>", admin.text, re.DOTALL)[0]


def test_the_page_says_when_the_maker_has_lost_the_right(board: Dashboard, app: str) -> None:
    board.space.revoke("carl", "can_consume_data", "sales")
    try:
        for member in ("nora", "carl"):
            page = board.browser(member).get(f"/resources/{app}/app").text
            assert "its owner may not consume all of the data behind it" in page
            assert "By month" not in page
    finally:
        board.space.grant("carl", "can_consume_data", "sales")


def fields(board: Dashboard, **more: str | list[str]) -> dict[str, str | list[str]]:
    """What the form sends for an app of one chart and one filter."""
    return {
        "name": "Made by hand", "description": "", "version": "", "charts": "1", "filters": "1",
        "c0_task": board.task, "c0_dataset": DATASET, "c0_type": "bar", "c0_title": "Sums", "c0_groups": "region",
        "c0_period": "", "c0_sort": "value-down", "c0_limit": "2", "c0_how": ["sum", ""],
        "c0_column": ["amount", ""], "c0_name": ["", ""],
        "f0_task": board.task, "f0_dataset": DATASET, "f0_column": "region", "f0_title": "Region",
        "f0_control": "choice", "do": "save", **more,
    }  # fmt: skip


def test_an_app_is_built_by_its_form(board: Dashboard) -> None:
    carl = board.browser("carl")
    assert "New app" in carl.get("/workspaces/sales/app").text
    first = send(carl, NEW, NEW, name="x", charts="0", filters="0", do="chart", new_type="bar",
                 new_chart=json.dumps([board.task, DATASET]))  # fmt: skip
    assert first.status_code == 200
    assert '<option value="region">region (string)</option>' in first.text
    moved = send(carl, NEW, NEW, **fields(board, do="filter", new_filter=json.dumps([board.task, DATASET, "day"])))
    assert 'name="f1_title" type="text" value="Day"' in moved.text
    seen = send(carl, NEW, NEW, **fields(board, do="preview"))
    assert seen.status_code == 200, seen.text
    assert "south: sum of amount 30" in seen.text
    assert "Shows 2 groups; there are more." in seen.text
    made = send(carl, NEW, NEW, **fields(board))
    assert made.status_code == 303, made.text
    here = made.headers["location"]
    uid = here.removeprefix("/resources/").removesuffix("/app")
    with board.space.platform.read(CARL) as ctx:
        found = resources.get(ctx, uid)
    (chart,) = list_setting(found.settings or {}, "charts")
    assert (chart["title"], chart["limit"], chart["sort"], chart["descending"]) == ("Sums", 2, "value", True)
    edit = f"{here}/edit"
    form = carl.get(edit).text
    assert 'value="Sums"' in form
    assert '<option value="sum" selected>' in form
    saved = send(carl, edit, edit, **fields(board, c0_title="Totals", version=str(found.version)))
    assert saved.status_code == 303, saved.text
    assert "Totals" in carl.get(here).text
    assert send(carl, edit, edit, **fields(board, version="1")).status_code == 422


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"c0_groups": "nothing"}, "The dataset has no column &#39;nothing&#39;"),
        ({"c0_groups": ""}, "has 0 of group_by"),
        ({"c0_title": ""}, "has no title"),
        ({"c0_column": ["fruit", ""]}, "it is not numeric"),
        ({"c0_period": "month"}, "is no date or time"),
        ({"c0_limit": "many"}, "must be a whole number"),
        ({"c0_type": "pie"}, "cannot be &#39;pie&#39;"),
        ({"f0_control": "range"}, "A range filters"),
        ({"charts": "0"}, "Add at least one chart"),
        ({"name": ""}, "name"),
    ],
)
def test_a_wrong_field_is_told_at_its_chart_and_nothing_is_lost(
    board: Dashboard, given: dict[str, str | list[str]], words: str
) -> None:
    found = send(board.browser("carl"), NEW, NEW, **fields(board, **given))
    assert found.status_code == 422, found.text
    assert words in found.text
    assert "Made by hand" in found.text or given == {"name": ""}


def test_whoever_may_not_consume_makes_none(board: Dashboard) -> None:
    erik = board.browser("erik")
    assert "No data to show" in erik.get(NEW).text
    for do in ("save", "preview"):
        refused = send(erik, "/", NEW, **fields(board, do=do))
        assert refused.status_code in {403, 422}
        assert "north" not in refused.text
    assert board.browser("nora").get(NEW).status_code == 404
