"""Tables are kept up, rolled back, described, dropped and restored: each as a run, by who may, over HTTP."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakehold.access import Grant
from lakehold.catalog import resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.kit.clock import DAY, SECOND, now
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark.table_writer import TableWriteOptions, WriteMode, write_rows
from lakehold.lake.table_metadata import IcebergMetadata, IcebergSnapshot
from lakehold.runs.cause import CauseKind, RunCause
from lakehold.workspaces.lakehouse import deleted_tables, maintenance
from lakehold.workspaces.lakehouse.executors import tables
from tests.api.client import Api, Json, json_body, problem, serve_api
from tests.lake.shop import ADA, ED, TENANT
from tests.workspaces.lakehouse.inline_runs import RUNS, InlineRuns


@pytest.fixture(scope="module")
def api(here: InlineRuns) -> Iterator[Api]:
    with serve_api(here.shop.platform, TENANT) as found:
        yield found


def table(here: InlineRuns, spark: SparkSession, name: str, writes: int) -> TableIdentifier:
    """A table of the layer raw with so many writes of one row each, and one snapshot of when it was empty."""
    with here.shop.platform.write(ED) as ctx:
        resources.create(ctx, "lakehouse.table", name, uid=name, edges={"layer": "raw"})
    place = here.shop.place(name)
    for number in range(writes):
        rows = spark.sql(f"SELECT {number} AS id, 'word {number}' AS word")
        write_rows(here.shop.tables, place, rows, TableWriteOptions(WriteMode.APPEND, f"{name} {number}"))
    return place


def done(here: InlineRuns, begun: Json) -> list[str]:
    run = here.execute(begun["id"] if "id" in begun else begun["run"])
    assert (run.state, run.error) == ("succeeded", "")
    return here.lines(run)


def snapshots(here: InlineRuns, place: TableIdentifier) -> list[IcebergSnapshot]:
    return list(here.shop.tables.current_metadata(place).snapshots)


def test_upkeep_changes_files_and_no_row(here: InlineRuns, api: Api, spark: SparkSession) -> None:
    place = table(here, spark, "crumbs", 6)
    before = here.rows("crumbs")
    begun = json_body(api.post("/api/v1/tables/crumbs/upkeep", "ed"), 202)
    first, second, third = done(here, begun)
    assert first.startswith("6 files compacted into 1")
    assert second.startswith("0 snapshots older than 30 days")
    assert third == "0 orphan files deleted"
    assert here.rows("crumbs") == before
    later = now() + 31 * DAY
    here.shop.platform.clock = lambda: later
    try:
        run = here.execute(json_body(api.post("/api/v1/tables/crumbs/upkeep", "ed"), 202)["id"])
    finally:
        here.shop.platform.clock = now
    assert here.lines(run)[1].startswith("3 snapshots older than 30 days")
    assert len(snapshots(here, place)) == 5
    assert here.rows("crumbs") == before


def test_a_table_is_rolled_back_by_who_may(here: InlineRuns, api: Api, spark: SparkSession) -> None:
    place = table(here, spark, "back", 3)
    then = snapshots(here, place)[1].id
    body = {"snapshot": str(then)}
    done(here, json_body(api.post("/api/v1/tables/back/rollback", "ed", body), 202))
    assert here.rows("back") == [(0, "word 0")]
    problem(api.post("/api/v1/tables/back/rollback", "ed", {"snapshot": "7"}), 404, "not_found")
    problem(api.post("/api/v1/tables/back/rollback", "sam", body), 404, "not_found")
    with here.shop.platform.access.write(TENANT) as session:
        session.store.add(Grant("rita", "viewer", "back"))
    for path, request_body in (("rollback", body), ("upkeep", None), ("descriptions", {"descriptions": {"id": "x"}})):
        problem(api.post(f"/api/v1/tables/back/{path}", "rita", request_body), 403, "forbidden")
    problem(api.post("/api/v1/tables/raw/upkeep", "ed"), 422, "invalid_input")


def test_fields_say_what_they_mean(here: InlineRuns, api: Api, spark: SparkSession) -> None:
    table(here, spark, "meaning", 1)
    path = "/api/v1/tables/meaning/descriptions"
    done(here, json_body(api.post(path, "ed", {"descriptions": {"word": "It's \\ a word."}}), 202))
    found = json_body(api.get("/api/v1/tables/meaning", "ed"))["fields"]
    assert [(field["name"], field["description"]) for field in found] == [("id", ""), ("word", "It's \\ a word.")]
    problem(api.post(path, "ed", {"descriptions": {"nosuch": "x"}}), 422, "invalid_input")
    problem(api.post(path, "ed", {"descriptions": {}}), 422, "invalid_input")


def dropped(api: Api, member: str) -> dict[str, dict[str, Any]]:
    """What they could bring back, by its id; tests beside this one delete tables too."""
    return {each["id"]: each for each in json_body(api.get("/api/v1/dropped-tables", member))["items"]}


def restored(api: Api, table: str, **body: str) -> Json:
    return json_body(api.post(f"/api/v1/dropped-tables/{table}/restore", "ada", body))


def test_a_deleted_table_comes_back_with_its_rows(here: InlineRuns, api: Api, spark: SparkSession) -> None:
    place = table(here, spark, "mislaid", 2)
    states = snapshots(here, place)
    with here.shop.platform.access.write(TENANT) as session:
        session.store.add(Grant("rita", "manager", "mislaid"))
    with here.shop.platform.write(ADA) as ctx:
        resource_edit.apply_edit(ctx, "mislaid", ResourceEdit(description="What was lost."))
    json_body(api.call("DELETE", "/api/v1/resources/mislaid", "ada"))
    assert dropped(api, "ada")["mislaid"]["held"] == [{"subject": "rita", "role": "manager"}]
    # Ed could not delete it, and Rita cannot make one there.
    for member in ("ed", "rita", "sam"):
        assert "mislaid" not in dropped(api, member)
        problem(api.post("/api/v1/dropped-tables/mislaid/restore", member, {}), 404, "not_found")
    table(here, spark, "taken", 0)
    refused = problem(api.post("/api/v1/dropped-tables/mislaid/restore", "ada", {"name": "taken"}), 409, "name_taken")
    assert (refused["field"], refused["hint"]) == ("name", "'taken_2' is free.")
    assert restored(api, "mislaid") == {"table": "mislaid", "name": "mislaid", "edited": []}
    back = json_body(api.get("/api/v1/resources/mislaid", "rita"))
    assert (back["name"], back["description"], "delete" in back["actions"]) == ("mislaid", "What was lost.", True)
    assert (here.shop.place("mislaid"), snapshots(here, place)) == (place, states)
    assert here.rows("mislaid") == [(0, "word 0"), (1, "word 1")]
    assert "mislaid" not in dropped(api, "ada")
    problem(api.post("/api/v1/dropped-tables/mislaid/restore", "ada", {}), 404, "not_found")
    done(here, json_body(api.post("/api/v1/tables/mislaid/upkeep", "ed"), 202))
    assert len(here.rows("mislaid")) == 2


def query_into(here: InlineRuns, target: str, name: str) -> str:
    """A query of Ed's from the orders into a table of the layer raw."""
    edges = {"lakehouse": "shop", "reads": ["orders"], "into": "raw", "writes": [target]}
    settings = {"sql": "SELECT id FROM raw.orders WHERE id < 3", "table": target}
    with here.shop.platform.write(ED) as ctx:
        return resources.create(ctx, "lakehouse.query", name, uid=name, edges=edges, settings=settings)


def test_what_reads_and_writes_a_table_does_so_again(here: InlineRuns, api: Api, spark: SparkSession) -> None:
    table(here, spark, "few", 0)
    query_into(here, "few", "make_few")
    assert here.run("make_few").state == "succeeded"
    with here.shop.platform.write(ED) as ctx:
        edges = {"lakehouse": "shop", "reads": ["few"]}
        resources.create(ctx, "lakehouse.saved_query", "Few", uid="asks_few", edges=edges, settings={"sql": "SELECT 1"})
        for uid in ("few_kept", "few_lost"):
            edges = {"layer": "raw", "saved_from": ["few"]}
            sql = {"sql": "SELECT id FROM raw.few"}
            resources.create(ctx, "lakehouse.table", uid, uid=uid, edges=edges, settings=sql)
    assert here.run("few_lost").state == "succeeded"
    before = json_body(api.get("/api/v1/lineage/few", "ada"))
    for uid in ("few_lost", "few"):
        json_body(api.call("DELETE", f"/api/v1/resources/{uid}", "ada"))
    # The last that was deleted comes back first, or last: both find each other again.
    assert restored(api, "few")["edited"] == restored(api, "few_lost")["edited"] == []
    assert json_body(api.get("/api/v1/lineage/few", "ada")) == before
    for uid in ("make_few", "few_lost", "few_kept"):
        run = here.run(uid)
        assert (run.state, run.error) == ("succeeded", "")
    assert here.rows("few_lost") == here.rows("few") == [(0,), (1,), (2,)]


def test_an_output_table_takes_no_name_of_another(here: InlineRuns) -> None:
    settings = {"sql": "SELECT id FROM raw.orders", "table": "customers"}
    with here.shop.platform.write(ED) as ctx:
        edges = {"lakehouse": "shop", "reads": ["orders"], "into": "raw"}
        resources.create(ctx, "lakehouse.query", "usurper", uid="usurper", edges=edges, settings=settings)
    run = here.run("usurper")
    assert (run.state, "The name 'customers' is taken by the table customers." in run.error) == ("failed", True)


def test_a_pipeline_that_was_edited_meanwhile_stays_as_it_was_edited(
    here: InlineRuns, api: Api, spark: SparkSession
) -> None:
    table(here, spark, "first_goal", 1)
    for name in ("edited_one", "other_one"):
        query_into(here, "first_goal", name)
    json_body(api.call("DELETE", "/api/v1/resources/first_goal", "ada"))
    table(here, spark, "second_goal", 0)
    with here.shop.platform.write(ED) as ctx:
        resource_edit.apply_edit(ctx, "edited_one", ResourceEdit(edges={"writes": ["second_goal"]}))
        resource_edit.apply_edit(ctx, "other_one", ResourceEdit(description="The other one."))
    assert restored(api, "first_goal")["edited"] == ["edited_one"]
    with here.shop.platform.read(ADA) as ctx:
        written = {uid: resources.get(ctx, uid).edges["writes"] for uid in ("edited_one", "other_one")}
    assert {uid: [end.uid for end in ends] for uid, ends in written.items()} == {
        "edited_one": ["second_goal"],
        "other_one": ["first_goal"],
    }


def test_a_table_whose_layer_is_gone_comes_back_in_another(here: InlineRuns, api: Api, spark: SparkSession) -> None:
    with here.shop.platform.write(ADA) as ctx:
        resources.create(ctx, "lakehouse.layer", "short_lived", uid="short_lived", edges={"lakehouse": "shop"})
    table(here, spark, "roofless", 1)
    with here.shop.platform.write(ADA) as ctx:
        resource_edit.reparent(ctx, "roofless", "short_lived")
    for uid in ("roofless", "short_lived"):
        json_body(api.call("DELETE", f"/api/v1/resources/{uid}", "ada"))
    refused = problem(api.post("/api/v1/dropped-tables/roofless/restore", "ada", {}), 409, "layer_deleted")
    assert (refused["field"], "'short_lived'" in refused["detail"]) == ("layer", True)
    for member in ("ed", "rita", "sam"):
        problem(api.post("/api/v1/dropped-tables/roofless/restore", member, {"layer": "raw"}), 404, "not_found")
    restored(api, "roofless", layer="raw")
    assert here.rows("roofless") == [(0, "word 0")]


def test_the_rows_of_a_deleted_table_go_in_the_end(here: InlineRuns, api: Api, spark: SparkSession) -> None:
    place = table(here, spark, "old", 2)
    json_body(api.call("DELETE", "/api/v1/resources/old", "ada"))
    platform = here.shop.platform
    assert place not in deleted_tables.expired_places(platform)
    folder = Path(platform.settings.warehouse_url, place.namespace, place.table, "data")
    old, young = folder / "old.parquet", folder / "young.parquet"
    for file in (old, young):
        file.write_bytes(b"PAR1")
    os.utime(old, (time.time() - 4 * 86_400,) * 2)
    platform.clock = lambda: now() + 31 * DAY
    try:
        gone = deleted_tables.expired_places(platform)
        assert place in gone
        assert tables.purge_dropped_tables(platform, here.shop.tables) == len(gone)
    finally:
        platform.clock = now
    assert here.shop.tables.lake.metadata_location(place) is None
    assert "old" not in dropped(api, "ada")
    # Nothing that is younger than the grace is deleted by its folder.
    assert [each for each in folder.rglob("*") if each.is_file()] == [young]


def test_no_row_goes_before_its_files_are_older_than_the_grace(
    here: InlineRuns, api: Api, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = table(here, spark, "hasty", 1)
    json_body(api.call("DELETE", "/api/v1/resources/hasty", "ada"))
    platform = here.shop.platform
    monkeypatch.setattr(platform, "settings", platform.settings.model_copy(update={"dropped_days": 1}))
    for days, is_expired in ((2, False), (4, True)):
        monkeypatch.setattr(platform, "clock", lambda days=days: now() + days * DAY)
        assert (place in deleted_tables.expired_places(platform)) is is_expired


def test_upkeep_is_begun_by_itself_where_there_is_something_to_do(here: InlineRuns, spark: SparkSession) -> None:
    platform = here.shop.platform
    assert maintenance.schedule_maintenance(platform) == 0
    table(here, spark, "busy", 20)
    with platform.write(ADA) as ctx:
        resource_edit.apply_edit(ctx, "shop", ResourceEdit(settings={"upkeep": False}))
    assert maintenance.schedule_maintenance(platform) == 0
    with platform.write(ADA) as ctx:
        resource_edit.apply_edit(ctx, "shop", ResourceEdit(settings={}))
    assert maintenance.schedule_maintenance(platform) == 1
    assert maintenance.schedule_maintenance(platform) == 0
    with platform.read(ADA) as ctx:
        (run,) = RUNS.page(ctx, resource="busy")
    assert (run.cause, run.started_by) == (RunCause(CauseKind.MAINTENANCE), "")
    ended = here.execute(run.id)
    assert (ended.state, ended.error, len(ended.steps)) == ("succeeded", "", 3)
    assert maintenance.schedule_maintenance(platform) == 0
    with platform.read(ED) as ctx:
        assert len(ctx.session.list("ed", "see", "lakehouse.table", search="busy").items) == 1


@pytest.mark.parametrize(
    ("ages", "last", "is_due"),
    [
        ([], None, False),
        ([1], None, False),
        ([8], None, True),
        ([8], 2, False),
        ([9, 8], 10, True),
        ([60, *[1] * 4], 0, False),
        ([60, *[1] * 5], 0, True),
        ([1] * 20, None, True),
        ([3] * 20, 2, False),
    ],
)
def test_when_there_is_something_to_do(ages: list[int], last: int | None, is_due: bool) -> None:
    at = now()
    day = [datetime.fromtimestamp((at - age * DAY) / SECOND, UTC) for age in ages]
    found = tuple(IcebergSnapshot(number, None, each, "append", {}) for number, each in enumerate(day))
    known = IcebergMetadata("", (), found, found[-1] if found else None)
    assert maintenance.needs_maintenance(known, None if last is None else at - last * DAY, at, 30) is is_due
