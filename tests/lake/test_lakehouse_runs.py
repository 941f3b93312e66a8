"""Pipelines of a lakehouse in a real worker: run, waited for, stopped, resumed, refused, and killed in the middle."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakehold import workspaces
from lakehold.access import Add, Grant, Remove
from lakehold.catalog import resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.runs.cause import CauseKind, RunCause
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import Run, Runs
from tests.lake.shop import ADA, ED, Shop, open_shop
from tests.processes import Process
from tests.runs.workers import start_worker

RUNS = Runs(workspaces.runnables())
SLOW = "SELECT count(*) AS n FROM range(60000) a CROSS JOIN range(60000) b WHERE hash(a.id, b.id) = 7"


@pytest.fixture(scope="module")
def busy(spark: SparkSession, template_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop whose tables are written to."""
    folder = tmp_path_factory.mktemp("busy")
    shutil.copy(template_file, folder / "lakehold.sqlite")
    with open_shop(spark, f"sqlite:///{folder / 'lakehold.sqlite'}", folder / "data") as opened:
        yield opened


@pytest.fixture(scope="module")
def working(busy: Shop) -> Iterator[Process]:
    with start_worker(busy.platform) as running:
        yield running


def made(shop: Shop, kind: str, name: str, reads: list[str], **settings: object) -> str:
    """A pipeline of Ed's, into a table of its own in the layer raw."""
    with shop.platform.write(ED) as ctx:
        edges = {"lakehouse": "shop", "reads": reads, "writes": ["raw"], "into": "raw"}
        return resources.create(
            ctx, f"lakehouse.{kind}", name, uid=f"{kind}_{name}", edges=edges, settings={"table": name, **settings}
        )


def begun(shop: Shop, uid: str) -> str:
    with shop.platform.write(ED) as ctx:
        return RUNS.start(ctx, uid).id


def ended(shop: Shop, running: Process, run: str) -> Run:
    running.wait_for_line(f"run {run} has")
    with shop.platform.read(ADA) as ctx:
        return RUNS.get(ctx, run)


def written(shop: Shop, uid: str) -> str:
    """The table that a pipeline writes by now."""
    with shop.platform.read(ADA) as ctx:
        view = ctx.view
        (end,) = view.edges_out["writes"].get(view.resource(uid)) or ()
        return view.uid(end)


def test_a_query_makes_its_table_and_writes_it_anew_each_time(busy: Shop, working: Process) -> None:
    sql = "SELECT customer, sum(amount) AS total FROM raw.orders GROUP BY customer"
    uid = made(busy, "query", "totals", ["orders"], sql=sql)
    first = ended(busy, working, begun(busy, uid))
    assert (first.state, first.error, first.steps[0].rows) == ("succeeded", "", 5)
    table = written(busy, uid)
    assert busy.tables.read(busy.place(table)).count() == 5
    second = ended(busy, working, begun(busy, uid))
    assert second.state == "succeeded"
    assert busy.tables.read(busy.place(table)).count() == 5
    with busy.platform.read(ED) as ctx:
        assert any("rows written" in line.text for line in RUNS.log_lines(ctx, first.id))


def test_a_history_follows_its_table(busy: Shop, working: Process) -> None:
    uid = made(busy, "history", "customer_history", ["customers"], keys=["id"])
    assert ended(busy, working, begun(busy, uid)).state == "succeeded"
    place = busy.place(written(busy, uid))
    assert busy.tables.read(place).count() == 5
    again = ended(busy, working, begun(busy, uid))
    assert (again.state, again.steps[0].rows) == ("succeeded", 0)
    assert busy.tables.read(place).count() == 5


def test_what_a_query_does_not_name_it_does_not_read(busy: Shop, working: Process) -> None:
    uid = made(busy, "query", "sneaky", ["orders"], sql="SELECT * FROM raw.customers")
    run = ended(busy, working, begun(busy, uid))
    assert (run.state, "were not stored with it" in run.error) == ("failed", True)


def test_an_error_in_the_query_is_told_and_after_its_correction_the_run_goes_on(busy: Shop, working: Process) -> None:
    uid = made(busy, "query", "wrong", ["orders"], sql="SELECT nothing FROM raw.orders")
    run = ended(busy, working, begun(busy, uid))
    assert (run.state, "nothing" in run.error, "/" in run.error) == ("failed", True, False)
    with busy.platform.write(ED) as ctx:
        resource_edit.apply_edit(
            ctx, uid, ResourceEdit(settings={"table": "wrong", "sql": "SELECT id FROM raw.orders"})
        )
        RUNS.resume(ctx, run.id)
    again = ended(busy, working, run.id)
    assert (again.state, again.steps[0].rows, again.tries) == ("succeeded", 100, 1)


def test_whoever_lost_the_right_meanwhile_is_refused_by_its_name(busy: Shop, working: Process) -> None:
    uid = made(busy, "query", "lost", ["orders"], sql="SELECT id FROM raw.orders")
    with busy.platform.write(ED) as ctx:
        run = RUNS.insert(ctx, uid, RunOptions(), cause=RunCause(CauseKind.SCHEDULE, cron="0 6 * * *", zone="UTC"))
        ctx.session.store.apply(Remove(Grant("ed", "editor", "raw")))
    refused = ended(busy, working, run)
    with busy.platform.access.write("acme") as session:
        session.store.apply(Add(Grant("ed", "editor", "raw")))
    assert refused.state == "failed"
    assert "trigger" in refused.error or "There is no resource" in refused.error


def test_a_run_is_stopped_in_the_middle(busy: Shop, working: Process) -> None:
    uid = made(busy, "query", "long", ["orders"], sql=SLOW.replace("60000", "2000000"))
    run = begun(busy, uid)
    working.wait_for_line(f"run {run}: query started")
    with busy.platform.write(ED) as ctx:
        RUNS.stop(ctx, run)
    assert ended(busy, working, run).state == "stopped"


@pytest.mark.slow
def test_a_worker_that_is_killed_is_followed_by_one_that_goes_on(busy: Shop, working: Process) -> None:
    """The last one: it ends the worker of all others."""
    uid = made(busy, "query", "killed", ["orders"], sql=SLOW.replace("60000", "30000"), mode="append")
    run = begun(busy, uid)
    working.wait_for_line(f"run {run}: query started")
    working.stop(signal.SIGKILL)
    with start_worker(busy.platform) as second:
        done = ended(busy, second, run)
    assert (done.state, done.error) == ("succeeded", "")
    assert busy.tables.read(busy.place(written(busy, uid))).count() == 1
