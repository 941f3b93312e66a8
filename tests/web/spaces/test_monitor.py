"""The monitor: all tasks of one's spaces with their last runs, and runs and stops in bulk."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from lakehold.access import Add, Draft, Grant, Remove
from lakehold.catalog import resource_metadata, resources
from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.kit.clock import SECOND
from lakehold.runs.run_table import run_output_table, run_step_table, run_table
from lakehold.web.runs import RUNS
from lakehold.workspaces.spaces import monitor, task_runs
from lakehold.workspaces.spaces.datasets import PREPARED, fingerprint
from tests.web.demo import Shop
from tests.web.forms import send

MONITOR = "/data-integration/monitor"
ERIK, OTTO, PETRA = (Caller(company.TENANT, who) for who in ("erik", "otto", "petra"))


def make_ready(shop: Shop, uid: str) -> None:
    """Let a task be ready to run, as if it had been prepared."""
    settings: Mapping[str, object] = {
        "type": "transform",
        "reads": [],
        "datasets": [{"name": "rows", "sql": "SELECT 1"}],
    }
    with shop.platform.write(PETRA) as ctx:
        ctx.create_unchecked(Draft("spaces.dataset", {"task": uid}), "rows")
        stored = {**settings, PREPARED: {"fingerprint": fingerprint(settings), "at": 1}}
        resource_metadata.save(ctx, uid, settings=stored)


def add_run(
    shop: Shop, uid: str, state: str = "succeeded", *, kind: str = "spaces.task", ago: int = 60, **values: object
) -> None:
    """A run that took ten seconds, with a step for each of its tasks: by id of the task, its state."""
    steps: Mapping[str, str] = values.pop("steps", {uid: state})  # type: ignore[assignment]
    with shop.platform.write(OTTO) as ctx:
        at = ctx.at - ago * SECOND
        number = ctx.rows(run_table).insert(
            id=f"run_{uid}_{state}_{ago}_{kind[7:]}",
            tenant=company.TENANT,
            resource_id=ctx.view.resource(uid),
            workspace_id=ctx.view.resource("landing"),
            kind=kind,
            state=state,
            started_by="otto",
            caller=json.dumps(ctx.caller.to_stored()),
            options=json.dumps({"reload": False, "parameters": values.pop("parameters", {})}),
            tries=0,
            made_at=at,
            started_at=at,
            ended_at=at + 10 * SECOND if state in {"succeeded", "failed", "stopped"} else None,
            **{"error": "", **values},
        )
        for resource in {uid, *steps}:
            ctx.rows(run_output_table).insert(run=number, resource_id=ctx.view.resource(resource))
        for n, (task, how) in enumerate(steps.items()):
            plan = json.dumps({"type": "RunTransform", "fields": {"task": task}})
            ctx.rows(run_step_table).insert(
                run=number,
                number=n,
                name=f"{task}.rows",
                plan=plan,
                state=how,
                rows=100 + n,
                size=0,
                bad=0,
                saved_state="{}",
                begun=1,
                error="It broke here." if how == "failed" else "",
                started_at=None if how == "queued" else at + n * SECOND,
                ended_at=None if how == "queued" else at + (n + 5) * SECOND,
            )


def statuses(shop: Shop, who: Caller = OTTO) -> dict[str, monitor.TaskStatus]:
    with shop.platform.read(who) as ctx:
        return {each.task.uid: each for each in monitor.load(ctx)}


def listed(page: str) -> list[str]:
    """The tasks of a page, in order."""
    return re.findall(r'name="task" form="bulk" value="([^"]+)"', page)


def test_it_lists_the_tasks_of_all_spaces_that_one_sees(shop: Shop) -> None:
    assert {"land_tills", "copy_erp", "serve_sales"} <= set(listed(shop.client("otto").get(MONITOR).text))
    assert set(listed(shop.client("erik").get(MONITOR).text)) == {
        *("land_tills", "land_web", "land_stock", "copy_erp", "copy_crm")
    }
    assert "No tasks yet" in shop.client("nils").get(MONITOR).text


def test_each_step_of_a_project_run_is_read_once(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    read, task_of = list[str](), task_runs._task_of

    def record(step: sa.Row[Any]) -> str:
        read.append(step.name)
        return task_of(step)

    monkeypatch.setattr(task_runs, "_task_of", record)
    tasks = dict.fromkeys(("land_tills", "land_web", "land_stock"), "succeeded")
    add_run(shop, "ingest", kind="spaces.project", steps=tasks)
    found = statuses(shop)
    assert {found[each].state for each in tasks} == {"succeeded"}
    assert len(read) == len({*read})


def test_a_task_has_the_state_rows_time_and_error_of_its_last_run(shop: Shop) -> None:
    add_run(shop, "land_tills", "succeeded", ago=600)
    add_run(shop, "land_tills", "failed", ago=60, error="The shop did not answer.")
    add_run(shop, "land_web", "succeeded", ago=3600)
    add_run(shop, "land_web", "succeeded", ago=30, parameters={"do": "prepare"})
    found = statuses(shop)
    with shop.platform.read(OTTO) as ctx:
        now = ctx.at
    tills, web = found["land_tills"], found["land_web"]
    assert (tills.state, tills.rows, tills.duration(now)) == ("failed", 100, 10 * SECOND)
    assert 590 * SECOND <= (tills.latency(now) or 0) < 700 * SECOND
    # To prepare a task loads nothing.
    assert 3590 * SECOND <= (web.latency(now) or 0) < 3700 * SECOND
    page = shop.client("otto").get(MONITOR).text
    assert "The shop did not answer." in page
    assert listed(page)[0] == "land_tills"


def test_a_run_of_the_project_counts_for_each_of_its_tasks(shop: Shop) -> None:
    add_run(shop, "land_tills", "succeeded", ago=600)
    steps = {"land_tills": "failed", "land_web": "succeeded", "land_stock": "queued"}
    add_run(shop, "ingest", "failed", kind="spaces.project", ago=60, error="A step failed.", steps=steps)
    found = statuses(shop)
    assert [found[uid].state for uid in steps] == ["failed", "succeeded", "failed"]
    assert [found[uid].error for uid in steps] == ["It broke here.", "", "A step failed."]
    assert found["land_web"].rows == 101
    assert all(found[uid].last and found[uid].last.of_project for uid in steps)  # type: ignore[union-attr]


def test_who_may_not_open_a_task_sees_no_runs_of_it(shop: Shop) -> None:
    add_run(shop, "serve_sales", "failed", error="Names of secret tables.")
    with shop.platform.access.write(company.TENANT) as session:
        session.store.apply(Add(Grant("nils", "can_consume_data", "serving")))
    page = shop.client("nils").get(MONITOR).text
    assert "serve_sales" in listed(page)
    assert "Names of secret tables." not in page
    assert "Not visible to you" in page


def test_search_filter_sort_and_page_are_in_the_url(shop: Shop) -> None:
    add_run(shop, "land_web", "failed", error="Timeout of the shop.")
    add_run(shop, "land_tills", "succeeded")
    otto = shop.client("otto")
    assert listed(otto.get(f"{MONITOR}?state=failed").text) == ["land_web"]
    assert listed(otto.get(f"{MONITOR}?q=timeout").text) == ["land_web"]
    assert set(listed(otto.get(f"{MONITOR}?space=serving").text)) == {"serve_sales", "serve_stock"}
    names = listed(otto.get(f"{MONITOR}?sort=-name").text)
    assert names == listed(otto.get(f"{MONITOR}?sort=name").text)[::-1]
    assert listed(otto.get(f"{MONITOR}?sort=-rows").text)[:2] == ["land_web", "land_tills"]
    assert listed(otto.get(f"{MONITOR}?page=9").text) == []
    assert listed(otto.get(f"{MONITOR}?state=nonsense&sort=x&page=-1").text)


def test_a_task_whose_owner_has_lost_a_role_is_marked(shop: Shop) -> None:
    assert not statuses(shop)["land_tills"].owner_lacks_role
    with shop.platform.access.write(company.TENANT) as session:
        session.store.apply(Remove(Grant("petra", "can_consume_data", "sources")))
    assert statuses(shop)["land_tills"].owner_lacks_role
    page = shop.client("otto").get(f"{MONITOR}?state=owner+lacks+role").text
    assert "land_tills" in listed(page)
    assert "Petra" in page
    assert "needs Can consume data" in page
    assert "without a role" in shop.client("otto").get("/data-integration").text


# Bulk


def bulk(client: httpx.Client, what: str, *tasks: str) -> httpx.Response:
    return send(client, MONITOR, f"{MONITOR}/{what}", task=list(tasks))


def open_runs(shop: Shop, uid: str) -> list[str]:
    with shop.platform.read(OTTO) as ctx:
        return [run.id for run in RUNS.page(ctx, resource=uid) if run.state == "queued"]


def test_chosen_tasks_are_run_and_stopped(shop: Shop) -> None:
    otto = shop.client("otto")
    for uid in ("land_tills", "land_web"):
        make_ready(shop, uid)
    assert bulk(otto, "run", "land_tills", "land_web").status_code == 303
    assert open_runs(shop, "land_tills")
    assert open_runs(shop, "land_web")
    assert bulk(otto, "stop", "land_tills", "land_web").status_code == 303
    assert not open_runs(shop, "land_tills")
    assert statuses(shop)["land_web"].state == "stopped"


def test_a_refusal_of_one_is_named_and_keeps_back_no_other(shop: Shop) -> None:
    make_ready(shop, "land_tills")
    answer = bulk(shop.client("otto"), "run", "land_web", "land_tills")
    assert answer.status_code == 200
    assert "1 task started, 1 refused" in answer.text
    assert "Land web" in answer.text
    assert "Complete its settings first." in answer.text
    assert open_runs(shop, "land_tills")
    stopped = bulk(shop.client("otto"), "stop", "land_web", "land_tills")
    assert "1 task stopped, 1 refused" in stopped.text
    assert "No run of the task itself" in stopped.text


@pytest.mark.parametrize("who", ["erik", "petra_without", "ana"])
def test_who_does_not_operate_runs_nothing(shop: Shop, who: str) -> None:
    make_ready(shop, "land_tills")
    client = shop.client("petra" if who == "petra_without" else who)
    if who == "petra_without":
        with shop.platform.access.write(company.TENANT) as session:
            session.store.apply(Add(Grant("olga", "owner", "landing")))
            session.store.apply(Add(Grant("petra", "can_edit", "landing")))
    page = client.get(MONITOR).text
    assert re.search(r'value="land_tills"[^>]*disabled', page)
    refused = bulk(client, "run", "land_tills")
    assert refused.status_code == 422
    assert "0 tasks started, 1 refused" in refused.text
    assert not open_runs(shop, "land_tills")


def test_who_operates_no_task_has_no_buttons_for_it(shop: Shop) -> None:
    buttons = f'formaction="{MONITOR}/run"'
    assert buttons in shop.client("otto").get(MONITOR).text
    assert buttons not in shop.client("erik").get(MONITOR).text


@pytest.mark.parametrize("tasks", [[], ["nothing"], ["ingest"], ["shop_sales"], ["olgas"]])
def test_what_is_no_task_or_hidden_refuses_the_form(shop: Shop, tasks: list[str]) -> None:
    make_ready(shop, "land_tills")
    refused = bulk(shop.client("otto"), "run", *(["land_tills", *tasks] if tasks else []))
    assert refused.status_code in {404, 422}
    assert not open_runs(shop, "land_tills")


def test_two_hundred_tasks_are_loaded_at_once(shop: Shop) -> None:
    with shop.platform.write(PETRA) as ctx:
        made = [
            resources.create(ctx, "spaces.task", f"load {n}", edges={"project": "ingest", "sources": ["till_link"]})
            for n in range(200)
        ]
    for uid in made[:100]:
        add_run(shop, uid)
    statuses(shop)
    with shop.platform.read(OTTO) as ctx:
        statements = list[str]()
        sa.event.listen(ctx.session.transaction.connection, "before_cursor_execute", lambda *a: statements.append(a[2]))
        found = monitor.load(ctx)
    assert len(found) > 200
    # However many tasks there are; it takes 6 ms.
    assert len(statements) < 10
