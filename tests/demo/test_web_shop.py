"""The demo company's web shop fills itself: three sources, four queries, a history and a delivered file."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pyspark.sql import SparkSession

from lakehold import workspaces
from lakehold.cli import demo
from lakehold.demo import company, data_space, web_shop, web_shop_data
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.lake import previews, readable_tables
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.previews import PreviewOptions
from lakehold.lake.volumes import Volume
from lakehold.runs import heartbeat, queue
from lakehold.runs.service import Run, Runs
from lakehold.worker.run_executor import RunExecutor, step_executors
from lakehold.worker.server import serve
from lakehold.workspaces.marts import checks
from lakehold.workspaces.spaces.apps import app_data
from lakehold.workspaces.spaces.datasets import list_datasets

ERIK, ANA, NILS, BELLA, OTTO = (Caller(company.TENANT, member) for member in ("erik", "ana", "nils", "bella", "otto"))


def emptied(platform: Platform, running: RunExecutor) -> None:
    """Do what waits, and what comes after it, until nothing is left."""
    for _ in range(20):
        with platform.database.write(queue.QUEUE_LOCK) as transaction:
            begun = queue.claim_runs(transaction, platform.clock(), most=10, at_once=10)
        if not begun:
            return
        for number, _ in begun:
            problem, count = running.begin(number)
            for place in range(count):
                problem = problem or running.execute_step(number, place)
            running.end(number, problem)
            running.start_dependents(number)


@pytest.fixture(scope="module")
def filled(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    del spark
    folder = tmp_path_factory.mktemp("demo") / "company"
    demo.create(folder)
    platform = Platform(demo.demo_settings(folder))
    with demo.serve_api(folder), serve(platform) as (address, warm):
        with platform.database.write() as transaction:
            heartbeat.register_worker(transaction, "here", address)
        emptied(platform, RunExecutor(platform, workspaces.runnables(), step_executors, warm))
        yield platform
    platform.close()


def runs(platform: Platform) -> list[Run]:
    with platform.read(ERIK) as ctx:
        return Runs(workspaces.runnables()).page(ctx, within=web_shop.LAKEHOUSE, limit=50)


def test_everything_was_run_once_and_went_well(filled: Platform) -> None:
    assert {run.error for run in runs(filled)} == {""}
    assert {run.state for run in runs(filled)} == {"succeeded"}
    assert len(runs(filled)) == 9


def test_every_table_has_rows(filled: Platform) -> None:
    lake = IcebergCatalog(filled.settings)
    with filled.read(ERIK) as ctx:
        tables = [
            row.uid for row in ctx.session.list(ctx.principal, "read", "lakehouse.table", within="web_shop").items
        ]
        counts = {}
        for uid in tables:
            now = lake.current_metadata(readable_tables.identifier_of(ctx, uid))
            counts[uid] = now.current.count("total-records") if now and now.current else 0
    lake.close()
    assert counts.pop("shop_raw_orders") == counts.pop("shop_trusted_orders") == 2_400
    assert (counts["shop_raw_customers"], counts["shop_trusted_customer_history"]) == (240, 240)
    assert counts["shop_raw_events"] == 1_500
    assert all(counts.values())


def test_the_file_was_delivered_with_a_line_for_each_day_and_city(filled: Platform) -> None:
    with filled.read(ANA) as ctx:
        volume = Volume(filled.settings, readable_tables.identifier_of(ctx, "shop_exports"))
    lines = list(csv.reader(volume.path_on_disk("sales by day.csv").read_text().splitlines()))
    assert lines[0] == ["day", "city", "orders", "amount"]
    assert len(lines) > 300


def test_its_marts_were_refreshed_and_reported_on(filled: Platform) -> None:
    with filled.read(BELLA) as ctx:
        found = Runs(workspaces.runnables()).page(ctx, within=company.MARTS_PROJECT, limit=50)
        volume = Volume(filled.settings, readable_tables.identifier_of(ctx, web_shop.FILE_DESTINATION))
        orders = readable_tables.identifier_of(ctx, "web_orders_mart")
    assert {run.error for run in found} == {""}
    assert {run.resource for run in found} == {
        *("web_customers", "web_sales", "web_orders_mart"),
        *("best_cities", "large_orders"),
    }
    lake = IcebergCatalog(filled.settings)
    assert "price" not in previews.read_preview(lake, orders).rows.column_names
    lake.close()
    best = list(csv.reader(volume.path_on_disk("Best cities.csv").read_text().splitlines()))
    assert best[0] == ["city", "sold", "orders"]
    assert len(best) == 1 + 6
    large = list(csv.reader(volume.path_on_disk("Large orders.csv").read_text().splitlines()))
    assert float(large[1][4]) >= float(large[-1][4]) >= 500


def test_one_promise_is_broken_and_warns(filled: Platform) -> None:
    with filled.read(BELLA) as ctx:
        states = {each.name: each.state for each in checks.list_results(ctx, "web_sales")}
    assert {name for name, state in states.items() if state != checks.KEPT} == {"accepted values city"}


def test_its_data_space_was_prepared_and_run(filled: Platform) -> None:
    with filled.read(OTTO) as ctx:
        found = Runs(workspaces.runnables()).page(ctx, within=data_space.SPACE, limit=50)
        assert [(run.resource, run.state, run.error) for run in found] == [(data_space.PROJECT, "succeeded", "")] * 2
        places = {
            name: readable_tables.identifier_of(ctx, uid)
            for task in ("shop_storage", "shop_support", "shop_star")
            for name, uid in list_datasets(ctx, task).items()
        }
    lake = IcebergCatalog(filled.settings)
    counts = {
        name: previews.read_preview(lake, place, PreviewOptions(rows=1000)).rows.num_rows
        for name, place in places.items()
    }
    lake.close()
    assert counts == {
        "customers": 240,
        "customer_history": 240,
        "tickets": 600,
        "by_topic": 4,
        "by_city": 6,
        "customer": 241,
        "ticket": 600,
        "support": 600,
    }


def test_its_app_shows_its_charts_to_whom_it_is_shared_with(filled: Platform) -> None:
    lake = IcebergCatalog(filled.settings)
    with filled.read(NILS) as ctx:
        assert not ctx.session.can_see(NILS.member, data_space.SPACE)
        reading = app_data.open_app(ctx, lake, data_space.APP)
    charts = {each.chart.title: (each.error, each.rows()) for each in reading.read_charts(filled)}
    lake.close()
    assert [error for error, _ in charts.values()] == [None] * 4
    assert charts["Tickets"][1][0][0] == 600
    assert len(charts["Minutes by topic"][1]) == 4
    assert sum(row[1] for row in charts["Tickets by city"][1] if isinstance(row[1], int)) == 600


def test_analysts_see_what_is_served_and_not_what_is_raw(filled: Platform) -> None:
    with filled.read(ANA) as ctx:
        assert ctx.session.check(ANA.member, "read", "shop_service_sales_by_day")
        assert not ctx.session.can_see(ANA.member, "shop_raw_customers")
    with filled.read(NILS) as ctx:
        assert not ctx.session.can_see(NILS.member, web_shop.LAKEHOUSE)


def test_the_api_pages_and_refuses_what_is_none() -> None:
    with web_shop_data.serve_events() as address:
        assert httpx.get(f"{address}/events?page=8").json()["events"] == web_shop_data.generate_events(8)
        assert len(web_shop_data.generate_events(8)) == 100
        assert web_shop_data.generate_events(9) == []
        assert httpx.get(f"{address}/events?page=x").status_code == 404


def test_it_is_the_same_each_time(tmp_path: Path) -> None:
    assert dict(web_shop_data.generate_orders()) == dict(web_shop_data.generate_orders())
    for name in ("a", "b"):
        web_shop_data.write_customers(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
