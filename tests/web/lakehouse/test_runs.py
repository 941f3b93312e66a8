"""The page of a run, which follows it, and the list of runs."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from lakehold.catalog import resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.runs.cause import CauseKind, RunCause
from lakehold.web import runs
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import send
from tests.web.lakehouse.recorded_runs import LAKE, as_member, queue_run, record_run_state, state_of

RUNS = f"/workspaces/{LAKE}/runs"
FAILED = "There is no field qty. Choose one of the table."


def test_a_page_follows_its_run_until_it_has_ended(open_as: Open, shop: Shop) -> None:
    run = queue_run(shop, "make_orders", member="erik")
    record_run_state(shop, run, "running", step="query", said=[("info", "The rows are asked for")])
    page = open_as("erik", f"/runs/{run}")
    expect(page.get_by_role("heading", name="Run of Make orders")).to_be_visible()
    expect(page.get_by_text("The rows are asked for")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    record_run_state(
        shop, run, "succeeded", step="query", rows=1234, size=5_600_000, bad=7, said=[("info", "1,234 rows written")]
    )
    expect(page.get_by_text("1,234 rows written")).to_be_visible()
    expect(page.get_by_text("5.6 MB")).to_be_visible()
    expect(page.get_by_text("7 rows", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Retry")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    assert page.locator("[hx-trigger]").filter(has_text="Steps").count() == 0


@pytest.mark.parametrize("scripts", [True, False])
def test_a_run_is_stopped_and_resumed(open_as: Open, shop: Shop, scripts: bool) -> None:
    run = queue_run(shop, "make_orders", member="erik")
    page = open_as("erik", f"/runs/{run}", scripts=scripts)
    page.get_by_role("button", name="Stop").click()
    if scripts:
        page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopping the run.")).to_be_visible()
    assert state_of(shop, run) == "stopped"
    # Its settings are those of a table and layer alone: to go on it lacks its SQL, and that is said.
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("The query has no sql.")).to_be_visible()
    assert state_of(shop, run) == "stopped"


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize(
    ("button", "said"), [("Retry", "Run started again."), ("Full refresh", "Full refresh started.")]
)
def test_what_has_ended_is_done_again(open_as: Open, shop: Shop, button: str, said: str, scripts: bool) -> None:
    with shop.platform.write(as_member("erik")) as ctx:
        settings = {**resource_metadata.load(ctx, "make_orders").settings, "sql": "SELECT 1 AS one"}
        resource_edit.apply_edit(ctx, "make_orders", ResourceEdit(settings=settings))
    run = queue_run(shop, "make_orders", member="erik")
    record_run_state(shop, run, "succeeded", step="query")
    page = open_as("erik", f"/runs/{run}", scripts=scripts)
    page.get_by_role("button", name=button).click()
    if scripts and button == "Full refresh":
        page.get_by_role("dialog").get_by_role("button", name=button).click()
    expect(page.get_by_text(said)).to_be_visible()
    again = page.url.rpartition("/")[2]
    assert again != run
    with shop.platform.read(as_member("erik")) as ctx:
        assert runs.RUNS.get(ctx, again).reload == (button == "Full refresh")
    assert (state_of(shop, run), state_of(shop, again)) == ("succeeded", "queued")


@pytest.mark.parametrize("scripts", [True, False])
def test_a_project_admin_deletes_a_run(open_as: Open, shop: Shop, scripts: bool) -> None:
    run = queue_run(shop, "daily_sales", member="tara")
    record_run_state(shop, run, "failed", error=FAILED)
    assert send(shop.client("tara"), f"/runs/{run}", f"/runs/{run}/delete", confirmed="1").status_code == 403
    page = open_as("adam", f"/runs/{run}", scripts=scripts)
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete").last.click()
    expect(page.get_by_text("The run was deleted.")).to_be_visible()
    assert page.url.endswith("/resources/daily_sales/runs")
    assert shop.client("adam").get(f"/runs/{run}").status_code == 404


def test_what_went_wrong_is_on_top_with_what_to_do(shop: Shop) -> None:
    run = queue_run(shop, "make_orders")
    record_run_state(shop, run, "failed", error=FAILED, step="query", said=[("error", FAILED)])
    text = shop.client("erik").get(f"/runs/{run}").text
    assert text.index(FAILED) < text.index("Steps")
    assert "Fix the problem, then resume" in text
    assert f"/runs/{run}" in shop.client("erik").get("/").text


def test_who_may_not_see_a_run_finds_none(shop: Shop) -> None:
    run = queue_run(shop, "make_orders")
    record_run_state(shop, run, "failed", error=FAILED)
    client = shop.client("nils")
    hidden, missing = client.get(f"/runs/{run}"), client.get("/runs/run_0000000000000000")
    assert (hidden.status_code, missing.status_code) == (404, 404)
    assert "Make orders" not in hidden.text
    assert hidden.text.count(run) == missing.text.count("run_0000000000000000")
    assert client.get(f"/runs/{run}/log").status_code == 404
    followed = client.get(f"/runs/{run}/live")
    assert (followed.headers.get("hx-refresh"), followed.text) == ("true", "")


def test_who_only_looks_is_told_what_they_lack(shop: Shop) -> None:
    run = queue_run(shop, "make_orders")
    client = shop.client("ana")
    # Ana views the layer clean, and nothing of raw: of what she sees she may see the runs.
    assert client.get(f"/runs/{run}").status_code == 404
    seen = queue_run(shop, "store_history")
    page = client.get(f"/runs/{seen}")
    assert page.status_code == 200
    assert "You need Editor" in page.text
    refused = send(client, f"/runs/{seen}", f"/runs/{seen}/stop")
    assert refused.status_code == 403
    assert state_of(shop, seen) == "queued"


def test_the_run_before_it_is_named_only_to_who_sees_it(shop: Shop) -> None:
    first = queue_run(shop, "make_orders")
    second = queue_run(shop, "store_history", cause=RunCause(CauseKind.DEPENDENCY, first))
    assert first not in shop.client("ana").get(f"/runs/{second}").text
    assert "After another run" in shop.client("ana").get(f"/runs/{second}").text
    assert f'href="/runs/{first}"' in shop.client("olga").get(f"/runs/{second}").text


def test_the_log_of_a_run_is_read_page_by_page(shop: Shop) -> None:
    run = queue_run(shop, "make_orders")
    record_run_state(shop, run, "running", step="query", said=[("info", f"line {n:03}") for n in range(501)])
    client = shop.client("olga")
    page = client.get(f"/runs/{run}").text
    assert "line 500" in page
    assert "line 000" not in page
    first = client.get(f"/runs/{run}/log").text
    assert "line 000" in first
    assert "line 500" not in first


def test_runs_are_searched_filtered_and_paged(shop: Shop) -> None:
    runs = [queue_run(shop, uid, member=who) for uid, who in (("make_orders", "olga"), ("store_history", "erik"))]
    record_run_state(shop, runs[0], "failed", error=FAILED)
    client = shop.client("olga")

    def listed(**asked: str) -> list[bool]:
        text = client.get(RUNS, params=asked).text
        return [f'href="/runs/{run}"' in text for run in runs]

    assert listed() == [True, True]
    assert listed(q="orders") == [True, False]
    assert listed(state="failed") == [True, False]
    assert listed(pipeline="store_history") == [False, True]
    assert listed(who="erik") == [False, True]
    assert listed(q="nothing like it") == [False, False]
    more = [queue_run(shop, "make_lines") for _ in range(50)]
    text = client.get(RUNS).text
    assert more[0] in text
    assert runs[1] not in text
    assert f"after={more[0]}" in text
    assert listed(after=more[0]) == [True, True]


def test_a_list_of_runs_has_what_one_sees_and_no_more(shop: Shop) -> None:
    assert "No runs yet" in shop.client("ana").get(RUNS).text
    hidden, seen = queue_run(shop, "make_orders"), queue_run(shop, "store_history")
    text = shop.client("ana").get(RUNS).text
    assert seen in text
    assert hidden not in text
    assert "Make orders" not in text
    assert shop.client("nils").get(RUNS).status_code == 404


@pytest.mark.rare
def test_axe_finds_nothing_wrong_with_runs(open_as: Open, shop: Shop, violations: Violations) -> None:
    run = queue_run(shop, "store_history")
    record_run_state(
        shop, run, "failed", error=FAILED, step="history", bad=3, said=[("error", FAILED), ("info", "begun")]
    )
    page = open_as("ana", f"/runs/{run}")
    assert violations(page) == []
    page.goto(RUNS)
    assert violations(page) == []


def test_a_cause_is_told_in_words(shop: Shop) -> None:
    run = queue_run(
        shop, "store_history", cause=RunCause(CauseKind.SCHEDULE, cron="30 6 * * 1-5", zone="Europe/Berlin")
    )
    assert "Schedule: at 06:30, Monday to Friday (Europe/Berlin)" in shop.client("ana").get(f"/runs/{run}").text
    again = queue_run(shop, "store_history", cause=RunCause(CauseKind.RETRY, run))
    assert f'Retry of <a href="/runs/{run}">an earlier run</a>' in shop.client("ana").get(f"/runs/{again}").text


def test_only_what_is_run_again_and_again_is_there_to_choose(shop: Shop) -> None:
    text = shop.client("olga").get(RUNS).text
    assert '<option value="make_orders">' in text
    assert '<option value="orders">' not in text
