"""Readers of a data mart get it as it is now, without its hidden columns; what is hidden is removed for good."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from urllib.parse import unquote, urlsplit

import pytest
from pyarrow import parquet
from pyiceberg.table import StaticTable

from lakehold.catalog import resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.lake.errors import QueryError
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.table_metadata import IcebergSnapshot
from lakehold.runs.cause import CauseKind, RunCause
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import Run
from lakehold.workspaces.lakehouse import maintenance
from lakehold.workspaces.marts import reports
from tests.api.client import Api, json_body, problem, serve_api
from tests.lake.shop import ED, RITA, TENANT
from tests.workspaces.lakehouse.inline_runs import RUNS
from tests.workspaces.marts.project import MartsProject

pytestmark = pytest.mark.slow
SOLD = {"by": "sql", "sql": "SELECT id, customer, amount FROM raw.orders WHERE id < 3"}
HIDDEN = {**SOLD, "columns": [{"name": "amount", "hidden": True}]}


@pytest.fixture(scope="module")
def api(here: MartsProject) -> Iterator[Api]:
    with serve_api(here.inline_runs.shop.platform, TENANT) as found:
        yield found


def edit(here: MartsProject, mart: str, settings: Mapping[str, object]) -> None:
    with here.inline_runs.shop.platform.write(ED) as ctx:
        resource_edit.apply_edit(ctx, mart, ResourceEdit(settings=settings))


def snapshots(here: MartsProject, mart: str) -> tuple[IcebergSnapshot, ...]:
    shop = here.inline_runs.shop
    return shop.tables.current_metadata(shop.place(mart)).snapshots


def stored_columns(here: MartsProject, mart: str) -> set[str]:
    """The columns of all data files that any snapshot names."""
    shop, found = here.inline_runs.shop, set[str]()
    table = StaticTable.from_metadata(shop.tables.lake.need_location(shop.place(mart)))
    for snapshot in table.metadata.snapshots:
        for manifest in snapshot.manifests(table.io):
            for entry in manifest.fetch_manifest_entry(table.io):
                found |= set(parquet.read_schema(Path(unquote(urlsplit(entry.data_file.file_path).path))).names)
    return found


def test_only_editors_read_it_as_it_was(here: MartsProject, api: Api) -> None:
    mart = here.create_refreshed_mart(SOLD)
    edit(here, mart, {**SOLD, "sql": "SELECT id, customer, amount FROM raw.orders WHERE id < 2"})
    assert here.run(mart, by=ED).state == "succeeded"
    then = next(each.id for each in snapshots(here, mart) if each.count("total-records") == 3)
    text = f"SELECT count(*) FROM lake.Sales.`{mart}` VERSION AS OF {then}"
    assert here.inline_runs.shop.ask(ED, text) == [(3,)]
    with pytest.raises(QueryError):
        here.inline_runs.shop.ask(RITA, text)
    with pytest.raises(QueryError):
        here.inline_runs.shop.ask(RITA, text.replace(f"VERSION AS OF {then}", "TIMESTAMP AS OF '2020-01-01'"))
    assert len(here.rows(mart, by=RITA)) == 2
    listed = {who: json_body(api.get(f"/api/v1/tables/{mart}", who))["snapshots"] for who in ("ed", "rita")}
    assert (len(listed["ed"]) > 1, [each["rows"] for each in listed["rita"]]) == (True, [2])
    for more in ("", "?snapshots=all", "?snapshots=refs"):
        loaded = json_body(api.get(f"/iceberg/v1/namespaces/Sales/tables/{mart}{more}", "rita"))["metadata"]
        now = loaded["current-snapshot-id"]
        assert [each["snapshot-id"] for each in (*loaded["snapshots"], *loaded["snapshot-log"])] == [now, now]
        assert str(then) not in json.dumps(loaded)


def test_a_hidden_column_is_gone_for_all_at_once_and_from_the_files_by_upkeep(here: MartsProject, api: Api) -> None:
    mart = here.create_refreshed_mart(SOLD)
    report = here.report(mart, here.destination({"to": "files", "kind": "csv"}), {})
    before = here.rows(mart, "id, customer")
    edit(here, mart, HIDDEN)
    shop = here.inline_runs.shop
    for who, name in ((ED, "ed"), (RITA, "rita")):
        with pytest.raises(QueryError, match="amount"):
            here.rows(mart, "amount", by=who)
        assert here.rows(mart, by=who) == before
        found = json_body(api.get(f"/api/v1/tables/{mart}/rows", name))
        assert [each["name"] for each in found["fields"]] == ["id", "customer"]
        problem(api.get(f"/api/v1/tables/{mart}/rows?field=amount&value=1", name), 422, "invalid_input")
        assert "amount" not in api.get(f"/api/v1/tables/{mart}", name).text
        assert '"amount"' not in api.get(f"/iceberg/v1/namespaces/Sales/tables/{mart}", name).text
        with shop.platform.read(who) as ctx:
            assert list(reports.query_source(ctx, shop.tables.lake, mart).columns) == ["id", "customer"]
    assert here.run(report, by=RITA).state == "succeeded"
    kept_up(here, mart)
    assert stored_columns(here, mart) == {"id", "customer"}
    assert len(snapshots(here, mart)) == 1
    assert here.rows(mart) == before
    # Once: the next one has nothing to remove.
    assert not needs_upkeep(here, mart)
    edit(here, mart, SOLD)
    assert here.run(mart, by=ED).state == "succeeded"
    edit(here, mart, HIDDEN)
    assert needs_upkeep(here, mart)


def needs_upkeep(here: MartsProject, mart: str) -> bool:
    shop = here.inline_runs.shop
    lake = SimpleNamespace(
        list_tables=lambda _tenant: [shop.place(mart)], metadata_locations=shop.tables.lake.metadata_locations
    )
    with shop.platform.read(ED) as ctx:
        return bool(maintenance._next_tables(ctx, cast("IcebergCatalog", lake), 30))


def test_a_column_that_is_shown_again_has_no_value_before_a_run(here: MartsProject, api: Api) -> None:
    mart = here.create_refreshed_mart({**SOLD, "mode": "append"})
    edit(here, mart, {**HIDDEN, "mode": "append"})
    oracle = {"check": "accepted values", "fields": ["amount"], "values": ["1"]}
    shown = {**SOLD, "mode": "append", "checks": [oracle]}
    edit(here, mart, shown)
    edit(here, mart, {**shown, "columns": [{"name": "AMOUNT", "hidden": True}]})
    edit(here, mart, shown)
    for who, name in ((ED, "ed"), (RITA, "rita")):
        with pytest.raises(QueryError, match="amount"):
            here.rows(mart, "amount", by=who)
        assert "amount" not in api.get(f"/api/v1/tables/{mart}", name).text
    with here.inline_runs.shop.platform.write(ED) as ctx:
        run = RUNS.start(ctx, mart, RunOptions(parameters={"do": "check"}))
    here.inline_runs.execute(run.id)
    assert "There is no field 'amount'" in here.lines(run)
    assert here.run(mart, by=ED).state == "succeeded"
    # Rows of before were read with the rights of somebody else.
    assert sorted(row[0] is None for row in here.rows(mart, "amount")) == [False] * 3 + [True] * 3
    with here.inline_runs.shop.platform.read(ED) as ctx:
        assert resource_metadata.load(ctx, mart).settings["withheld"] == []


def test_upkeep_ends_that_a_column_is_withheld(here: MartsProject) -> None:
    mart = here.create_refreshed_mart(SOLD)
    edit(here, mart, HIDDEN)
    edit(here, mart, SOLD)
    kept_up(here, mart)
    assert stored_columns(here, mart) == {"id", "customer"}
    with here.inline_runs.shop.platform.read(ED) as ctx:
        assert resource_metadata.load(ctx, mart).settings["withheld"] == []


def kept_up(here: MartsProject, mart: str) -> None:
    """The upkeep that the platform starts by itself, one table of a workspace after the other, up to this mart's."""
    platform, found = here.inline_runs.shop.platform, list[Run]()
    while not found:
        started = maintenance.schedule_maintenance(platform)
        assert started
        for _ in range(started):
            here.inline_runs.execute_next()
        with platform.read(ED) as ctx:
            found = [each for each in RUNS.page(ctx, resource=mart) if each.cause == RunCause(CauseKind.MAINTENANCE)]
    with platform.read(ED) as ctx:
        ended = RUNS.get(ctx, found[0].id)
    assert (ended.state, ended.error) == ("succeeded", "")
    assert [step.name for step in ended.steps] == ["hide", "compact", "expire", "sweep"]


@pytest.mark.parametrize("mode", [{}, {"mode": "append"}, {"mode": "merge", "keys": ["id"]}])
def test_a_refresh_removes_what_was_hidden_with_its_history(here: MartsProject, mode: dict[str, object]) -> None:
    mart = here.create_refreshed_mart({**SOLD, **mode})
    edit(here, mart, {**HIDDEN, **mode})
    run = here.run(mart, by=ED)
    assert run.state == "succeeded", run.error
    assert "Columns removed for good" in here.lines(run)
    assert stored_columns(here, mart) == {"id", "customer"}
    assert len(snapshots(here, mart)) == 1
    assert len(here.rows(mart, "DISTINCT id, customer")) == 3
    edit(here, mart, {**SOLD, **mode})
    assert here.run(mart, by=ED).state == "succeeded"
    assert {row[2] is None for row in here.rows(mart)} <= ({False} if mode.get("mode") != "append" else {True, False})


def test_a_column_that_the_definition_has_no_more_leaves_with_its_history(here: MartsProject) -> None:
    mart = here.create_refreshed_mart(SOLD)
    edit(here, mart, {"by": "sql", "sql": "SELECT id, customer FROM raw.orders WHERE id < 3"})
    assert here.run(mart, by=ED).state == "succeeded"
    assert stored_columns(here, mart) == {"id", "customer"}
    assert [len(row) for row in here.rows(mart)] == [2, 2, 2]


def test_a_narrowed_token_of_an_editor_reads_no_history(here: MartsProject, api: Api) -> None:
    mart = here.create_refreshed_mart(SOLD)
    assert here.run(mart, by=ED).state == "succeeded"
    token = api.token("ed", actions=frozenset({"see", "use"}))
    assert len(json_body(api.get(f"/api/v1/tables/{mart}", token=token))["snapshots"]) == 1
