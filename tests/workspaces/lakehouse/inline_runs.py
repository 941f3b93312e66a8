"""A shop whose pipelines run inline, without a worker process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from lakehold import workspaces
from lakehold.access import Grant
from lakehold.catalog import credentials, resources
from lakehold.directory.caller import Caller
from lakehold.kit.settings import Settings
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.volumes import Volume
from lakehold.runs import heartbeat, queue
from lakehold.runs.runnable import BackfillSpan, RunOptions
from lakehold.runs.service import Run, Runs
from lakehold.worker.run_executor import RunExecutor, step_executors
from lakehold.worker.spark_session import SparkRuntime
from tests.lake.shop import ADA, ED, TENANT, Shop, open_shop

RUNS = Runs(workspaces.runnables())


@dataclass(slots=True)
class InlineRuns:
    """The shop, and the runner of its pipelines."""

    shop: Shop
    running: RunExecutor

    def source(self, name: str, settings: Mapping[str, object], secrets: dict[str, str] | None = None) -> str:
        """A source of Ed's, into the layer raw."""
        with self.shop.platform.write(ED) as ctx:
            edges = {"lakehouse": "shop", "into": "raw"}
            uid = resources.create(ctx, "lakehouse.source", name, uid=name, edges=edges, settings=settings)
            if secrets:
                credentials.save(ctx, uid, dict(secrets))
        return uid

    def stream(self, source: str, name: str, **settings: object) -> str:
        """A stream of it, into a table of its own."""
        uid = f"{source}_{name}"
        with self.shop.platform.write(ED) as ctx:
            resources.create(
                ctx, "lakehouse.stream", name, uid=uid, edges={"source": source}, settings={"table": uid, **settings}
            )
        return uid

    def destination(
        self, name: str, settings: Mapping[str, object], reads: tuple[str, ...] = ("orders",), volume: str = ""
    ) -> str:
        """A destination of Ed's."""
        with self.shop.platform.write(ED) as ctx:
            edges = {"lakehouse": "shop", "reads": reads, "writes": [volume] if volume else []}
            return resources.create(ctx, "lakehouse.destination", name, uid=name, edges=edges, settings=settings)

    def run(self, uid: str, *, by: Caller = ED, reload: bool = False, span: BackfillSpan | None = None) -> Run:
        """From its start to its end."""
        with self.shop.platform.write(by) as ctx:
            run = RUNS.start(ctx, uid, RunOptions(reload, span=span)).id
        return self.execute(run)

    def execute(self, run: str) -> Run:
        """What a worker does with a run that is written down."""
        self.execute_next()
        with self.shop.platform.read(ADA) as ctx:
            return RUNS.get(ctx, run)

    def execute_next(self) -> None:
        """What a worker does with the run that comes next."""
        with self.shop.platform.database.write(queue.QUEUE_LOCK) as transaction:
            ((number, _),) = queue.claim_runs(transaction, self.shop.platform.clock(), most=1, at_once=2)
        problem, count = self.running.begin(number)
        for place in range(count):
            problem = problem or self.running.execute_step(number, place)
        self.running.end(number, problem)

    def lines(self, run: Run) -> list[str]:
        """What it said."""
        with self.shop.platform.read(ADA) as ctx:
            return [line.text for line in RUNS.log_lines(ctx, run.id)]

    def rows(self, table: str) -> list[tuple[object, ...]]:
        """What is in a table of the layer raw, by its name."""
        return sorted(self.shop.ask(ADA, f"SELECT * FROM raw.{table}"), key=str)

    def volume(self) -> Volume:
        """The files of the layer raw."""
        with self.shop.platform.read(ADA) as ctx:
            return Volume(
                self.shop.platform.settings, TableIdentifier(ctx.session.tenant, ctx.view.resource("raw_files"))
            )

    def put_file(self, path: str, content: str) -> None:
        """A file into it."""
        volume = self.volume()
        with volume.open_partial() as rough:
            rough.write(content.encode())
            volume.publish(rough, path, replace=True)


@contextmanager
def inline_runs(spark: SparkSession, template_file: Path, folder: Path, **settings: object) -> Iterator[InlineRuns]:
    """Open the shop, with a volume in the layer raw."""
    shutil.copy(template_file, folder / "lakehold.sqlite")
    with open_shop(spark, f"sqlite:///{folder / 'lakehold.sqlite'}", folder / "data") as shop:
        given = shop.platform.settings.model_dump() | {"private_addresses": True} | settings
        shop.platform.settings = Settings(**given)
        with shop.platform.access.write(TENANT) as session:
            session.store.create("lakehouse.volume", "files", uid="raw_files", edges={"layer": "raw"})
            session.store.add(Grant("rita", "viewer", "raw_files"))
        with shop.platform.database.read() as transaction:
            address = heartbeat.worker_addresses(transaction)[0]
        running = RunExecutor(
            shop.platform,
            workspaces.runnables(),
            step_executors,
            SparkRuntime(shop.platform, address),
        )
        yield InlineRuns(shop, running)
