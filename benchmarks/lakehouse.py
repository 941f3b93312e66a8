"""A lakehouse with many rows: a file that arrives, a query over it, a file that goes out; and the same in plain Spark.

Both read the same file, write Iceberg tables beside each other and send out the same rows.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter

from pyspark.sql import SparkSession

from lakehold import workspaces
from lakehold.access import Grant
from lakehold.catalog import resources
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark import spark_session
from lakehold.lake.spark.queries import QueryService
from lakehold.lake.spark.runtime import SparkOptions
from lakehold.lake.spark.tables import Tables
from lakehold.lake.volumes import Volume
from lakehold.runs import queue
from lakehold.runs import run_table as states
from lakehold.runs.service import Runs
from lakehold.worker.run_executor import RunExecutor, step_executors
from lakehold.worker.server import serve
from lakehold.worker.spark_session import SparkRuntime

TENANT = "bench"
ED = Caller(TENANT, "ed")
ROWS = 10_000_000
SUMS = "SELECT day, customer % 1000 AS part, count(*) AS orders, sum(amount) AS amount FROM {table} GROUP BY 1, 2"
_ORDERS = (
    "SELECT id, CAST(id * 7919 % 100000 AS INT) AS customer, CAST(id % 9973 AS DECIMAL(10, 2)) AS amount,"
    " DATE '2026-01-01' + CAST(id % 300 AS INT) AS day, concat('order ', id % 1000) AS note FROM range({rows})"
)
_RUNS = Runs(workspaces.runnables())


@dataclass
class Lakehouse:
    """A lakehouse, and the same pipeline in plain Spark."""

    folder: Path
    platform: Platform
    spark: SparkSession
    warm: SparkRuntime

    def run(self, uid: str) -> float:
        """A run from its start to its end, as a worker does it; in seconds."""
        start = perf_counter()
        with self.platform.write(ED) as ctx:
            _RUNS.start(ctx, uid)
        running = RunExecutor(self.platform, workspaces.runnables(), step_executors, self.warm)
        with self.platform.database.write(queue.QUEUE_LOCK) as transaction:
            ((number, _),) = queue.claim_runs(transaction, self.platform.clock(), most=1, at_once=2)
        problem, count = running.begin(number)
        for place in range(count):
            problem = problem or running.execute_step(number, place)
        running.end(number, problem)
        taken = perf_counter() - start
        with self.platform.read(ED) as ctx:
            run = _RUNS.page(ctx, resource=uid, limit=1)[0]
        assert run.state == states.SUCCEEDED, run.error
        return taken

    @property
    def tables(self) -> Tables:
        """As the platform sees them."""
        return self.warm.tables

    @property
    def queries(self) -> QueryService:
        """As people ask them."""
        return self.warm.queries

    def place(self, uid: str) -> TableIdentifier:
        """Where a table or a volume lies."""
        with self.platform.read(ED) as ctx:
            return TableIdentifier(ctx.session.tenant, ctx.view.resource(uid))

    @cached_property
    def plain(self) -> SparkSession:
        """Spark and Iceberg, and nothing of ours."""
        made = self.spark.newSession()
        here = "spark.sql.catalog.plain"
        for name, value in {
            here: "org.apache.iceberg.spark.SparkCatalog",
            f"{here}.type": "jdbc",
            f"{here}.uri": f"jdbc:sqlite:file:{self.folder / 'plain.sqlite'}?busy_timeout=30000",
            f"{here}.warehouse": str(self.folder / "plain"),
            f"{here}.jdbc.schema-version": "V1",
            f"{here}.jdbc.init-catalog-tables": "true",
        }.items():
            made.conf.set(name, value)
        made.sql("CREATE NAMESPACE IF NOT EXISTS plain.a")
        return made

    @property
    def file(self) -> Path:
        """The file that arrives."""
        return Volume(self.platform.settings, self.place("files")).folder / "orders.parquet"

    def pipeline(self) -> float:
        """In, over, out; in seconds."""
        return sum(self.run(uid) for uid in ("source", "query", "destination"))

    def by_hand(self) -> float:
        """The same in plain Spark."""
        spark, out = self.plain, self.folder / "out.parquet"
        shutil.rmtree(out, ignore_errors=True)
        start = perf_counter()
        spark.read.parquet(str(self.file)).writeTo("plain.a.orders").using("iceberg").createOrReplace()
        spark.sql(SUMS.format(table="plain.a.orders")).writeTo("plain.a.sums").using("iceberg").createOrReplace()
        spark.table("plain.a.sums").coalesce(1).write.parquet(str(out))
        return perf_counter() - start


@contextmanager
def lakehouse(folder: Path, rows: int = ROWS) -> Iterator[Lakehouse]:
    """With a file of so many rows in its volume. The heap is one GiB."""
    platform = Platform(Settings(data=folder / "data", spark="local[2]"))
    platform.database.migrate()
    platform.access.create_tenant(TENANT, "Bench", workspaces.models())
    _create_resources(platform)
    spark = spark_session.get_spark_session(SparkOptions("local[2]", {"spark.driver.memory": "1g"}))
    with serve(platform) as (_, warm):
        made = Lakehouse(folder, platform, spark, warm)
        made.file.parent.mkdir(parents=True, exist_ok=True)
        parts = folder / "parts"
        spark.sql(_ORDERS.format(rows=rows)).coalesce(1).write.parquet(str(parts))
        next(parts.glob("*.parquet")).rename(made.file)
        yield made
    spark_session.stop()
    platform.close()


def _create_resources(platform: Platform) -> None:
    with platform.access.write(TENANT) as session_:
        store = session_.store
        store.create("tenant.member", "Ed", uid="ed", edges={"tenant": TENANT})
        store.create("lakehouse.lakehouse", "Bench", uid="shop", edges={"tenant": TENANT})
        store.add(Grant("ed", "member", "shop"))
        for layer in ("raw", "trusted"):
            store.create("lakehouse.layer", layer, uid=layer, edges={"lakehouse": "shop"})
            store.add(Grant("ed", "editor", layer))
        store.create("lakehouse.volume", "files", uid="files", edges={"layer": "raw"})
        store.create("lakehouse.table", "orders", uid="orders", edges={"layer": "raw"})
        store.create("lakehouse.table", "sums", uid="sums", edges={"layer": "trusted"})
    made: dict[str, tuple[dict[str, str | list[str]], dict[str, object]]] = {
        "source": ({"into": "raw"}, {"connector": "files", "volume": "files"}),
        "query": (
            {"reads": ["orders"], "writes": ["sums"], "into": "trusted"},
            {"sql": SUMS.format(table="raw.orders")},
        ),
        "destination": (
            {"reads": ["sums"], "writes": ["files"]},
            {"to": "files", "name": "sums", "kind": "parquet"},
        ),
    }
    with platform.write(ED) as ctx:
        for kind, (edges, settings) in made.items():
            around = {"lakehouse": "shop", **edges}
            resources.create(ctx, f"lakehouse.{kind}", kind, uid=kind, edges=around, settings=settings)
        stream = {"stream": "orders.parquet", "mode": "full"}
        into = {"source": "source", "writes": "orders"}
        resources.create(ctx, "lakehouse.stream", "orders", uid="stream", edges=into, settings=stream)
