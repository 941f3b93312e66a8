"""Pipelines: the list, the drawing, one of them, its runs and its triggers."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from lakehold.access import Grant
from lakehold.catalog import resources
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.kit.clock import DAY
from lakehold.runs.scheduler.due import DueTriggers
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.web import lineage_page
from lakehold.web.runs import RUNS, TRIGGERS
from lakehold.web.schedules import schedule_form
from lakehold.workspaces.lakehouse.pages import pipeline_list
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send
from tests.web.lakehouse.recorded_runs import LAKE, SQL, as_member, queue_run, record_run_state

LIST, GRAPH = f"/workspaces/{LAKE}/pipelines", f"/workspaces/{LAKE}/pipelines/graph"


def query(shop: Shop, name: str = "Spending", *, member: str = "erik") -> str:
    """A query of Erik's, who edits raw and clean."""
    with shop.platform.write(as_member(member)) as ctx:
        edges = {"lakehouse": LAKE, "reads": ["orders"], "writes": ["clean"], "into": "clean"}
        settings = {"table": "totals", "sql": SQL, "mode": "merge", "keys": ["customer"]}
        return resources.create(ctx, "lakehouse.query", name, uid=name.lower(), edges=edges, settings=settings)


def test_the_list_tells_the_last_run_the_next_one_and_whether_it_is_active(open_as: Open, shop: Shop) -> None:
    uid = query(shop)
    record_run_state(shop, queue_run(shop, uid), "failed", error="No.")
    with shop.platform.write(as_member("erik")) as ctx:
        TRIGGERS.save(ctx, uid, TriggerSchedule("0 6 * * *", "Europe/Berlin"))
        TRIGGERS.save(ctx, "store_history", TriggerSchedule("0 6 * * *"), active=False)
    page = open_as("erik", LIST)
    spending, history = (page.get_by_role("row").filter(has_text=name) for name in ("Spending", "Store history"))
    expect(spending).to_contain_text("Failed")
    expect(spending).to_contain_text("Active")
    expect(spending).to_contain_text(re.compile(r"in \d+ (hour|minute)"))
    expect(history).to_contain_text("Never")
    expect(history).to_contain_text("Paused")
    page.get_by_label("Search pipelines").fill("spending")
    expect(history).to_have_count(0)
    spending.get_by_role("link", name="Spending").click()
    expect(page.get_by_role("heading", name="Spending")).to_be_visible()


def test_list_and_drawing_have_what_one_sees_and_no_more(shop: Shop) -> None:
    for address in (LIST, GRAPH):
        text = shop.client("ana").get(address).text
        assert "Store history" in text
        for hidden in ("Make orders", "make_orders", "Pay study", "salaries", "Till source"):
            assert hidden not in text
        everything = shop.client("olga").get(address).text
        assert "Make orders" in everything
        assert "Pay study" in everything
        assert shop.client("nils").get(address).status_code == 404
    assert "No pipelines yet" in shop.client("tim").get(LIST).text
    assert "No pipelines yet" in shop.client("tim").get(GRAPH).text
    assert shop.client("olga").get("/workspaces/sales/pipelines").status_code == 404


def test_kinds_are_filtered_in_the_address(shop: Shop) -> None:
    text = shop.client("olga").get(LIST, params={"kind": "lakehouse.source"}).text
    assert "Till source" in text
    assert "Make orders" not in text


def test_the_drawing_leads_to_each_and_can_be_drawn_around_one(open_as: Open, shop: Shop) -> None:
    record_run_state(shop, queue_run(shop, "make_orders"), "succeeded")
    page = open_as("olga", GRAPH)
    drawing = page.get_by_role("region", name="Graph of pipelines")
    expect(drawing.get_by_role("link", name="orders, table in clean")).to_be_visible()
    drawing.get_by_role("link", name="Make orders, query, last run succeeded").click()
    expect(page.get_by_role("heading", name="Make orders")).to_be_visible()
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("link", name="Show in graph").click()
    expect(page.get_by_text("Upstream and downstream of Make orders")).to_be_visible()
    expect(drawing.get_by_role("link", name="tills, table in raw")).to_be_visible()
    expect(drawing.get_by_role("link", name="To finance, destination")).to_be_visible()
    expect(drawing.get_by_role("link", name=re.compile("Pay study"))).to_have_count(0)
    page.get_by_role("link", name="Show all").click()
    expect(drawing.get_by_role("link", name=re.compile("Pay study"))).to_be_visible()


def test_rows_go_from_left_to_right_also_where_they_go_in_a_circle() -> None:
    pairs = [("till", "raw"), ("raw", "clean"), ("clean", "sums"), ("stores", "sums"), ("sums", "clean")]
    found = lineage_page.assign_columns(pairs, lineage_page.all_nodes(pairs))
    assert found["till"] < found["raw"] < found["clean"] < found["sums"]
    assert found["stores"] == found["sums"] - 1
    assert lineage_page.connected_nodes(pairs, "raw").keys() == {"raw", "clean", "sums", "till"}
    assert lineage_page.assign_columns([], ["alone"]) == {"alone": 0}


def test_what_one_does_not_see_is_no_end_of_a_line(shop: Shop) -> None:
    with shop.platform.write(as_member("olga")) as ctx:
        ctx.session.store.add(Grant("tim", "viewer", "tills"))
    with shop.platform.read(as_member("tim")) as ctx:
        assert pipeline_list.pipeline_links(ctx, VisibleRefs(ctx), ["till_source"]) == [("till_source", "tills")]


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("30 6 * * 1-5", "At 06:30, Monday to Friday"),
        ("0 6 * * *", "At 06:00, every day"),
        ("0 7 * * 1", "At 07:00, on Mondays"),
        ("0 7 1 * *", "At 07:00, on day 1 of the month"),
        ("*/15 * * * *", "Every 15 minutes"),
        ("5 * * * *", "Every hour at :05"),
        ("* * * * *", "Every minute"),
        ("0 7 1 6 *", "0 7 1 6 *"),
        ("0 7-9 * * *", "0 7-9 * * *"),
        ("0 7 * * 12", "0 7 * * 12"),
        ("@daily", "@daily"),
    ],
)
def test_a_schedule_is_told_in_words_where_there_are_some(cron: str, words: str) -> None:
    assert schedule_form.describe_cron(cron) == words


def test_a_pipeline_tells_what_it_reads_and_writes_and_how_it_is_set(shop: Shop) -> None:
    uid = query(shop)
    client = shop.client("erik")
    first = client.get(f"/resources/{uid}")
    assert (first.status_code, first.headers["location"]) == (303, f"/resources/{uid}/pipeline")
    text = client.get(f"/resources/{uid}/pipeline").text
    assert "sum(amount) AS total" in text
    assert "Upsert by key" in text
    assert 'href="/resources/orders"' in text
    assert "new table" in text
    assert "Runs as" not in text
    viewing = shop.client("ana").get(f"/resources/{uid}/pipeline").text
    assert "sum(amount)" not in viewing
    assert "Only editors see" in viewing
    assert client.get("/resources/orders/pipeline").status_code == 422
    assert shop.client("nils").get(f"/resources/{uid}/pipeline").status_code == 404


@pytest.mark.parametrize("scripts", [True, False])
def test_somebody_runs_it_now(open_as: Open, shop: Shop, scripts: bool) -> None:
    uid = query(shop)
    page = open_as("erik", f"/resources/{uid}", scripts=scripts)
    page.get_by_role("button", name="Run now").click()
    expect(page.get_by_role("heading", name="Run of Spending")).to_be_visible()
    expect(page.get_by_text("Spending was started.")).to_be_visible()
    with shop.platform.read(as_member("erik")) as ctx:
        (run,) = RUNS.page(ctx, resource=uid)
    assert (run.state, run.started_by, run.reload) == ("queued", "erik", False)


def test_a_reload_is_a_run_that_replaces_everything(shop: Shop) -> None:
    uid = query(shop)
    here = f"/resources/{uid}/pipeline"
    answer = send(shop.client("erik"), here, f"{here}/run", reload="1")
    assert answer.headers["location"].startswith("/runs/run_")
    with shop.platform.read(as_member("erik")) as ctx:
        assert [run.reload for run in RUNS.page(ctx, resource=uid)] == [True]


def test_who_only_looks_may_not_run_it_and_is_told_why(shop: Shop) -> None:
    uid, client = query(shop), shop.client("ana")
    here = f"/resources/{uid}/pipeline"
    assert "You need Editor" in client.get(here).text
    assert send(client, here, f"{here}/run").status_code == 403
    with shop.platform.read(as_member("erik")) as ctx:
        assert RUNS.page(ctx, resource=uid) == []


def test_what_lacks_its_settings_is_not_run_and_says_what_is_missing(open_as: Open) -> None:
    page = open_as("olga", "/resources/make_orders")
    expect(page.get_by_text("Setup incomplete.")).to_be_visible()
    page.get_by_role("button", name="Run now").click()
    expect(page.get_by_text("The query has no sql.")).to_be_visible()


def test_the_runs_of_one_are_listed_and_drawn(shop: Shop) -> None:
    uid = query(shop)
    runs = [queue_run(shop, uid) for _ in range(3)]
    for run, state in zip(runs, ("succeeded", "failed", "queued"), strict=True):
        record_run_state(shop, run, state)
    client = shop.client("erik")
    text = client.get(f"/resources/{uid}/runs").text
    assert all(run in text for run in runs)
    assert "Seconds of the last 2 runs" in text
    narrowed = client.get(f"/resources/{uid}/runs", params={"state": "failed"}).text
    assert [run in narrowed for run in runs] == [False, True, False]
    assert "No runs yet" in client.get("/resources/till_source/runs").text
    assert "cannot be run here yet" in shop.client("olga").get("/resources/basket_study/triggers").text


@pytest.mark.parametrize("scripts", [True, False])
def test_somebody_gives_it_a_schedule_pauses_it_and_removes_it(open_as: Open, shop: Shop, scripts: bool) -> None:
    uid = query(shop)
    page = open_as("erik", f"/resources/{uid}/triggers", scripts=scripts)
    page.get_by_role("radio", name="Monday to Friday").check()
    page.get_by_label("At", exact=True).fill("06:30")
    page.get_by_label("Time zone").fill("Europe/Berlin")
    page.get_by_role("button", name="Add schedule").click()
    expect(page.get_by_text("At 06:30, Monday to Friday (Europe/Berlin)")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused", exact=True)).to_be_visible()
    assert DueTriggers(RUNS).start_due(shop.platform, shop.platform.clock() + 9 * DAY) == 0
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("Active", exact=True)).to_be_visible()
    page.get_by_role("button", name="Remove").click()
    if scripts:
        page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    else:
        page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("No triggers yet")).to_be_visible()


def test_a_schedule_that_is_none_is_refused_at_its_field_and_nothing_is_lost(shop: Shop) -> None:
    here, client = f"/resources/{query(shop)}/triggers", shop.client("erik")
    answer = send(client, here, here, by="cron", cron="every day", zone="Europe/Berlin")
    assert answer.status_code == 422
    assert "is not a cron schedule" in answer.text
    assert 'value="every day"' in answer.text
    assert 'value="Europe/Berlin"' in answer.text
    assert "There is no time zone" in send(client, here, here, by="cron", cron="0 6 * * *", zone="Mars").text


def test_it_comes_after_all_of_others(shop: Shop) -> None:
    uid, client = query(shop), shop.client("erik")
    here = f"/resources/{uid}/triggers"
    assert "Select at least one" in send(client, here, here, by="after", every="all").text
    assert send(client, here, here, by="after", after="make_orders", every="all").status_code == 303
    text = client.get(here).text
    assert "After all of these" in text
    # Ana sees the pipeline and that it comes after others, and not which.
    viewing = shop.client("ana").get(here).text
    assert "Others, not visible to you" in viewing
    assert "make_orders" not in viewing
    assert "Make orders" not in viewing


def test_a_trigger_is_changed_where_it_belongs_and_by_who_may(shop: Shop) -> None:
    uid = query(shop)
    with shop.platform.write(as_member("erik")) as ctx:
        made = TRIGGERS.save(ctx, uid, TriggerSchedule("0 6 * * *")).id
    there = "/resources/store_history/triggers"
    assert send(shop.client("erik"), there, f"{there}/pause", trigger=made).status_code == 404
    here = f"/resources/{uid}/triggers"
    assert "You need Editor" in shop.client("ana").get(here).text
    assert send(shop.client("ana"), here, f"{here}/pause", trigger=made).status_code == 403
    with shop.platform.read(as_member("erik")) as ctx:
        assert TRIGGERS.get(ctx, made).active


@pytest.mark.rare
def test_axe_finds_nothing_wrong_with_pipelines(open_as: Open, shop: Shop, violations: Violations) -> None:
    uid = query(shop)
    for state in ("succeeded", "failed"):
        record_run_state(shop, queue_run(shop, uid), state)
    with shop.platform.write(as_member("erik")) as ctx:
        TRIGGERS.save(ctx, uid, TriggerSchedule("0 6 * * *"))
    page = open_as("erik", LIST)
    for part in ("", "graph", "pipeline", "triggers", "runs"):
        page.goto({"": LIST, "graph": GRAPH}.get(part, f"/resources/{uid}/{part}"))
        assert violations(page) == [], part
