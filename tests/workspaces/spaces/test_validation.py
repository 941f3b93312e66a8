"""Tasks validated and prepared over REST: what is wrong is named with its setting, and nothing is changed before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import psycopg
import pytest

from tests.cli.command_runner import CommandRunner, serve_platform
from tests.workspaces.spaces.space import ADA, ERIK, InlineSpace
from tests.workspaces.spaces.test_owner_context import without
from tests.workspaces.spaces.test_tasks import fill, landing, reference

As = Callable[[str], httpx.Client]


@pytest.fixture(scope="module")
def by(space: InlineSpace) -> Iterator[As]:
    """A client of somebody's."""
    with serve_platform(space.platform) as address, ExitStack() as stack:
        runner = CommandRunner(space.platform, address)

        def client(member: str) -> httpx.Client:
            headers = {"authorization": f"Bearer {runner.token(member)}"}
            return stack.enter_context(httpx.Client(base_url=address, headers=headers, timeout=120))

        yield client


def validate(client: httpx.Client, task: str) -> Any:  # noqa: ANN401 - JSON
    answer = client.post(f"/api/v1/tasks/{task}/validate")
    assert answer.status_code == 200, answer.text
    return answer.json()


def problem(client: httpx.Client, task: str) -> tuple[str, str]:
    """The one problem of a task: its field and its message."""
    found = validate(client, task)
    assert found["datasets"] == []
    (one,) = found["problems"]
    return one["field"], one["message"]


def transform(reads: list[str], sql: str = "SELECT 1 AS one", **more: object) -> dict[str, object]:
    return {"type": "transform", "reads": reads, "datasets": [{"name": "made", "sql": sql}], **more}


def test_a_task_is_validated_and_prepared(space: InlineSpace, source: psycopg.Connection, shop: str, by: As) -> None:
    fill(source, "planned")
    task, otto = space.task("planned", landing(shop, "planned")), by("otto")
    found = validate(by("erik"), task)
    assert (found["state"], found["problems"]) == ("ready to prepare", [])
    (plan,) = found["datasets"]
    assert (plan["name"], plan["change"], plan["loses_values"]) == ("planned", "create", False)
    assert plan["columns"][0] == ["id", "int"]
    started = otto.post(f"/api/v1/tasks/{task}/prepare", json={})
    assert started.status_code == 202, started.text
    space.execute_next()
    assert space.get(started.json()["id"]).state == "succeeded"
    again = validate(otto, task)
    assert (again["state"], again["datasets"][0]["change"]) == ("ready to run", "none")


def test_a_change_that_loses_values_is_said_before(
    space: InlineSpace, source: psycopg.Connection, shop: str, by: As
) -> None:
    fill(source, "shrunk")
    land, otto = space.make("shrunk", landing(shop, "shrunk")), by("otto")
    task = space.make("shrink", transform([land], "SELECT id, name FROM shrunk.shrunk"))
    space.edit(task, transform([land], "SELECT id FROM shrunk.shrunk"))
    (plan,) = validate(otto, task)["datasets"]
    assert (plan["change"], plan["loses_values"], plan["details"]) == ("recreate", True, ["name is dropped."])
    for recreate, state in ((False, "failed"), (True, "succeeded")):
        started = otto.post(f"/api/v1/tasks/{task}/prepare", json={"recreate": recreate}).json()
        space.execute_next()
        assert space.get(started["id"]).state == state


def test_who_may_validate_and_prepare(space: InlineSpace, source: psycopg.Connection, shop: str, by: As) -> None:
    fill(source, "asked_of")
    task = space.task("asked_of", landing(shop, "asked_of"))
    expected = {"olga": (200, 202), "otto": (200, 202), "erik": (200, 403), "vito": (403, 403), "vera": (403, 403),
                "carl": (403, 403), "ada": (403, 403), "zoe": (404, 404)}  # fmt: skip
    for member, (validated, prepared) in expected.items():
        assert by(member).post(f"/api/v1/tasks/{task}/validate").status_code == validated, member
        started = by(member).post(f"/api/v1/tasks/{task}/prepare", json={})
        assert started.status_code == prepared, (member, started.text)
        if prepared == 202:
            space.execute_next()
    assert by("otto").post("/api/v1/tasks/ingest/validate").status_code == 422
    assert by("otto").post("/api/v1/tasks/nothing/validate").status_code == 404


def test_tasks_cannot_read_each_other(space: InlineSpace, by: As) -> None:
    one = space.task("hen", transform([]))
    other = space.task("egg", transform([one]))
    erik, at = by("erik"), "/api/v1/resources/"
    circle = erik.patch(f"{at}{one}", json={"settings": transform([other])})
    assert circle.status_code == 409, circle.text
    assert "would create a cycle" in circle.json()["detail"]
    assert erik.patch(f"{at}{one}", json={"settings": transform([one])}).json()["field"] == "reads"


def test_a_task_without_settings(space: InlineSpace, by: As) -> None:
    task = space.task("blank", {})
    assert validate(by("erik"), task)["state"] == "new"
    assert problem(by("erik"), task) == ("", "The task has no settings.")


def test_a_key_that_is_no_column(space: InlineSpace, source: psycopg.Connection, shop: str, by: As) -> None:
    fill(source, "keyed")
    erik = by("erik")
    wrong = space.task("keyed_wrong", landing(shop, "keyed", mode="compare", keys=["number"]))
    assert problem(erik, wrong) == ("datasets.0.keys", "keyed has no column 'number'.")
    land = space.make("keyed", landing(shop, "keyed"))
    stored = {"name": "kept", "source": reference(land, "keyed"), "keys": ["nummer"]}
    store = space.task("keyed_store", {"type": "storage", "datasets": [stored]})
    assert problem(erik, store) == ("datasets.0.keys", "kept has no column 'nummer'.")
    star = {"type": "data_mart",
            "dimensions": [{"name": "who", "source": reference(land, "keyed"), "business_key": ["nr"]}]}  # fmt: skip
    assert problem(erik, space.task("keyed_star", star)) == ("dimensions.0", "who: The source has no column 'nr'.")


def test_a_source_table_that_was_dropped(space: InlineSpace, source: psycopg.Connection, shop: str, by: As) -> None:
    fill(source, "leaving")
    task = space.make("leaving", landing(shop, "leaving"))
    source.execute("DROP TABLE leaving")
    field, message = problem(by("erik"), task)
    assert (field, message) == ("datasets.0.stream", "leaving: the source has no 'public.leaving'.")
    # Which tables it has instead is for those who may list them.
    fill(source, "quincepurchases")
    assert "quince" not in by("otto").post(f"/api/v1/tasks/{task}/validate").text
    run = by("otto").post(f"/api/v1/tasks/{task}/prepare", json={}).json()["id"]
    space.execute_next()
    seen = by("vito").get(f"/api/v1/runs/{run}").text
    assert ("public.leaving" in seen, "quince" in seen) == (True, False)


def test_a_step_on_a_column_that_is_gone_and_its_preview(
    space: InlineSpace, source: psycopg.Connection, shop: str, by: As
) -> None:
    fill(source, "stepped")
    land, erik = space.make("stepped", landing(shop, "stepped")), by("erik")
    space.run(land)
    steps = [{"step": "rename", "columns": {"name": "title"}}, {"step": "select", "columns": ["id", "name"]}]
    item = {"name": "s", "start": "stepped.stepped", "steps": steps}
    task = space.task("steps", {"type": "transform", "reads": [land], "datasets": [item]})
    field, message = problem(erik, task)
    assert field == "datasets.0.steps.1.columns"
    assert message.startswith("Step 2 (select): There is no column 'name'.")
    preview = f"/api/v1/tasks/{task}/preview"
    first = erik.post(preview, json={"dataset": item, "step": 1})
    assert first.status_code == 200, first.text
    assert [each["name"] for each in first.json()["fields"]] == ["id", "title", "at"]
    assert first.json()["rows"] is None
    broken = erik.post(preview, json={"dataset": item, "step": 2})
    assert (broken.status_code, broken.json()["field"]) == (422, "datasets.0.steps.1.columns")
    assert erik.post(preview, json={"dataset": {"name": "s"}}).status_code == 422
    olga = by("olga").post(preview, json={"dataset": item, "step": 1})
    assert [row[1] for row in olga.json()["rows"]] == ["n1", "n2", "n3"]
    # Who was shown rows, and of what: not of the task alone, which has none yet.
    space.platform.reads.flush()
    params = {"log": "reads", "resource": task}
    (entry,) = by("ada").get("/api/v1/access/audit", params=params).json()["items"]
    assert (entry["member"], entry["action"], entry["after"]["rows"]) == ("olga", "preview", 3)
    assert space.dataset(land, "stepped") in str(entry["after"])


def test_two_tasks_that_write_one_table(space: InlineSpace, source: psycopg.Connection, shop: str, by: As) -> None:
    fill(source, "sent_twice")
    land = space.make("sent_twice", landing(shop, "sent_twice"))
    sent = {"source": reference(land, "sent_twice"), "table": "Target"}
    send = {"type": "replication", "connection": shop, "tables": [sent]}
    first = space.task("send_first", send)
    second = space.task("send_second", {**send, "tables": [{**sent, "table": "target"}]})
    found = problem(by("erik"), second)
    assert found == ("tables.0.table", "The task 'send_first' writes the table 'target' of this connection too.")
    with space.platform.write(ERIK) as ctx:
        ctx.delete(first)
    assert validate(by("erik"), second)["problems"] == []


def test_a_dataset_that_is_not_there_and_a_role_that_is_missing(
    space: InlineSpace, source: psycopg.Connection, shop: str, by: As
) -> None:
    fill(source, "later_on")
    land = space.task("later_on", landing(shop, "later_on"))
    stored = {"name": "kept", "source": reference(land, "later_on"), "keys": ["id"]}
    store = space.task("later_store", {"type": "storage", "datasets": [stored]})
    assert problem(by("erik"), store) == ("datasets.0.source", "The task 'later_on' has no dataset 'later_on'.")
    with without(space, "petra", "can_consume_data", "sources"):
        _, message = problem(by("erik"), land)
        assert message == "Petra needs Can consume data, Can edit or Can manage in the data space 'Sources'."
    with space.platform.read(ADA) as ctx:
        assert ctx.session.check("ada", "open", land)
