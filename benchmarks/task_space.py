"""A data space whose tasks run inline, as a worker runs them; shared by the benches of landing and of capture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from pyspark.sql import SparkSession

from lakehold import workspaces
from lakehold.catalog import resources
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.lake.spark import spark_session
from lakehold.lake.spark.runtime import SparkOptions
from lakehold.runs import queue
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import Runs
from lakehold.worker.run_executor import RunExecutor, step_executors
from lakehold.worker.server import serve
from lakehold.worker.spark_session import SparkRuntime

ED = Caller("bench", "ed")
SPACE, PROJECT = "space", "project"
_RUNS = Runs(workspaces.runnables())


@dataclass(frozen=True, slots=True)
class TaskSpace:
    """A data space with an empty project, both of Ed's."""

    platform: Platform
    runtime: SparkRuntime
    spark: SparkSession

    def connection(self, name: str, url: str, **edges: str) -> str:
        """Create a connection to a PostgreSQL by its URL."""
        settings = {
            "connector": "database",
            "address": f"jdbc:postgresql://{url.partition('@')[2]}",
            "user": url.partition("//")[2].partition("@")[0],
        }
        with self.platform.write(ED) as ctx:
            return resources.create(ctx, "spaces.connection", name, edges={"space": SPACE, **edges}, settings=settings)

    def task(self, name: str, settings: Mapping[str, object]) -> str:
        """Create a task and prepare it."""
        with self.platform.write(ED) as ctx:
            uid = resources.create(ctx, "spaces.task", name, edges={"project": PROJECT}, settings=settings)
        self.run(uid, do="prepare")
        return uid

    def run(self, uid: str, *, reload: bool = False, **parameters: object) -> float:
        """Run a task or the project to its end, and return how many seconds its steps took."""
        with self.platform.write(ED) as ctx:
            run = _RUNS.start(ctx, uid, RunOptions(reload, parameters=parameters)).id
        executor = RunExecutor(self.platform, workspaces.runnables(), step_executors, self.runtime)
        with self.platform.database.write(queue.QUEUE_LOCK) as transaction:
            ((number, _),) = queue.claim_runs(transaction, self.platform.clock(), most=1, at_once=2)
        start = perf_counter()
        problem, steps = executor.begin(number)
        for place in range(steps):
            problem = problem or executor.execute_step(number, place)
        executor.end(number, problem)
        assert not problem, (run, problem)
        return perf_counter() - start


@contextmanager
def task_space(folder: Path, **settings: object) -> Iterator[TaskSpace]:
    """Open a platform with the space, and Spark with two threads and a heap of 1 GiB."""
    given = Settings.model_validate(
        {"data": folder / "data", "spark": "local[2]", "private_addresses": True, **settings}
    )
    with closing(Platform(given)) as platform:
        platform.database.migrate()
        platform.access.create_tenant(ED.tenant, "Bench", workspaces.models())
        with platform.access.write(ED.tenant) as session:
            make = session.store.create
            make("tenant.member", "Ed", uid=ED.member, edges={"tenant": ED.tenant})
            make("spaces.space", "Bench", uid=SPACE, edges={"tenant": ED.tenant}, creator=ED.member)
            make("spaces.project", "bench", uid=PROJECT, edges={"space": SPACE}, creator=ED.member)
        spark = spark_session.get_spark_session(SparkOptions("local[2]", {"spark.driver.memory": "1g"}))
        try:
            with serve(platform) as (_, runtime):
                yield TaskSpace(platform, runtime, spark)
        finally:
            spark_session.stop()
