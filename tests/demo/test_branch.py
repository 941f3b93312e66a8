"""The demo company's branch: sales of a PostgreSQL come through a gateway, and down to an app."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest
from pyspark.sql import SparkSession

from lakehold import workspaces
from lakehold.catalog import credentials, resource_metadata
from lakehold.cli import demo, demo_branch
from lakehold.demo import branch, branch_database, company
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.runs import heartbeat
from lakehold.runs.run_table import run_table
from lakehold.runs.scheduler.service import Triggers
from lakehold.runs.service import Runs
from lakehold.worker.run_executor import RunExecutor, step_executors
from lakehold.worker.server import serve
from lakehold.workspaces.spaces.apps import app_data
from lakehold.workspaces.spaces.gateways.endpoint import serve_gateways
from tests.demo.test_web_shop import emptied
from tests.processes import Process

NILS, OTTO = Caller(company.TENANT, "nils"), Caller(company.TENANT, "otto")
RUNS = Runs(workspaces.runnables())


@dataclass(frozen=True)
class Branch:
    """The branch while its database sells."""

    platform: Platform
    executor: RunExecutor

    def run(self) -> None:
        with self.platform.write(OTTO) as ctx:
            RUNS.start(ctx, branch.PROJECT)
        self.finish()

    def finish(self) -> None:
        """Do what waits."""
        emptied(self.platform, self.executor)
        with self.platform.read(OTTO) as ctx:
            found = RUNS.page(ctx, resource=branch.PROJECT, limit=50)
        assert {(run.state, run.error) for run in found} == {("succeeded", "")}

    def charts(self) -> dict[str, list[tuple[object, ...]]]:
        lake = IcebergCatalog(self.platform.settings)
        with self.platform.read(NILS) as ctx:
            reading = app_data.open_app(ctx, lake, branch.APP)
        found = list(reading.read_charts(self.platform))
        lake.close()
        assert not [each.error for each in found if each.error]
        return {each.chart.title: [tuple(row) for row in each.rows()] for each in found}


def stop_others(platform: Platform) -> None:
    with platform.read(OTTO) as ctx:
        project = ctx.view.resource(branch.PROJECT)
    with platform.database.write() as transaction:
        others = run_table.c.resource_id != project
        transaction.connection.execute(run_table.update().where(others).values(state="stopped"))


@pytest.fixture(scope="module")
def here(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Branch]:
    del spark
    folder = tmp_path_factory.mktemp("branch") / "company"
    demo.create(folder)
    settings = demo.demo_settings(folder, gateway_port=demo_branch.free_port())
    platform, said = Platform(settings), list[str]()
    with demo.serve_api(folder), demo_branch.run_branch(settings, said.append) as gateways:
        (gateway,) = gateways
        # The web shop has its own tests.
        stop_others(platform)
        gateway_process = Process(f"gateway {' '.join(gateway.arguments)}", {})
        with serve_gateways(platform), serve(platform) as (address, warm), gateway_process:
            with platform.database.write() as transaction:
                heartbeat.register_worker(transaction, "here", address)
            gateway_process.wait_for_line("connected")
            made = Branch(platform, RunExecutor(platform, workspaces.runnables(), step_executors, warm))
            made.finish()
            yield made
    assert not said
    platform.close()


def test_sales_arrive_in_the_app_while_they_are_made(here: Branch) -> None:
    here.run()
    ((first, _),) = here.charts()["So far"]
    assert isinstance(first, int)
    assert first >= 600
    with here.platform.read(branch.OWNER) as ctx:
        settings = resource_metadata.load(ctx, branch.CONNECTION).settings
        password = credentials.load_for_use(ctx, branch.CONNECTION)["password"]
    address = str(settings["address"]).removeprefix("jdbc:postgresql://")
    with psycopg.connect(f"postgresql://{branch_database.USER}:{password}@{address}", autocommit=True) as database:
        branch_database.sell(database, {"item": 1, "pieces": 1, "at": 4_000_000_000})
        row = database.execute("SELECT count(*) FROM sale").fetchone()
    assert row is not None
    here.run()
    charts = here.charts()
    assert charts["So far"][0][0] >= row[0] > first
    assert {row[0] for row in charts["Amount by item"]} == {"Lamp", "Chair", "Table", "Shelf", "Rug", "Mirror"}
    assert charts["Amount by minute"]
    assert {row[1] for row in charts["Pieces by item and state"]} <= {"paid", "returned"}


def test_its_schedule_is_paused_when_it_is_closed(here: Branch) -> None:
    triggers = Triggers(RUNS)
    branch.close_branch(here.platform)
    with here.platform.read(OTTO) as ctx:
        assert [(each.active, each.when.cron) for each in triggers.for_resource(ctx, branch.PROJECT)] == [
            (False, "* * * * *")
        ]
