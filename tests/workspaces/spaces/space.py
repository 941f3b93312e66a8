"""Two data spaces on a real PostgreSQL, whose tasks run inline, each with people who hold one role.

Olga owns the space `sales`, Petra the project `ingest` in it: she holds Can edit. Erik edits, Otto operates, Vera
views data, Carl consumes it. Zoe owns the space `sources`, in which the connection to the shop lies. Ada is the
tenant's Owner.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from lakehold import workspaces
from lakehold.access import Grant
from lakehold.catalog import resources
from lakehold.catalog.resource_edit import ResourceEdit, apply_edit
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.spark.tables import Tables
from lakehold.runs import heartbeat, queue, worker_client
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import Run, Runs
from lakehold.worker.run_executor import RunExecutor, step_executors
from lakehold.worker.server import serve
from lakehold.workspaces.spaces.datasets import list_datasets
from tests import postgres

TENANT = "acme"
ROLES = {
    "erik": "can_edit",
    "petra": "can_edit",
    "otto": "can_operate",
    "vera": "can_view_data",
    "carl": "can_consume_data",
    "vito": "can_view",
}
ADA, OLGA, ZOE, PETRA, ERIK, OTTO, VERA, CARL, VITO = (
    Caller(TENANT, member) for member in ("ada", "olga", "zoe", "petra", "erik", "otto", "vera", "carl", "vito")
)
RUNS = Runs(workspaces.runnables())
PREPARE: Mapping[str, object] = {"do": "prepare"}


@dataclass(slots=True)
class InlineSpace:
    """The spaces, and the runner of their tasks."""

    platform: Platform
    tables: Tables
    executor: RunExecutor

    def task(self, name: str, settings: Mapping[str, object], *, by: Caller = ERIK, project: str = "ingest") -> str:
        """A task of this name and id."""
        with self.platform.write(by) as ctx:
            return resources.create(ctx, "spaces.task", name, edges={"project": project}, settings=settings)

    def edit(self, uid: str, settings: Mapping[str, object], *, by: Caller = ERIK) -> None:
        with self.platform.write(by) as ctx:
            apply_edit(ctx, uid, ResourceEdit(settings=settings))

    def start(
        self, uid: str, parameters: Mapping[str, object] | None = None, *, by: Caller = OTTO, reload: bool = False
    ) -> Run:
        """From its start to its end."""
        with self.platform.write(by) as ctx:
            run = RUNS.start(ctx, uid, RunOptions(reload, parameters=parameters or {})).id
        self.execute_next()
        return self.get(run, by=by)

    def prepare(self, uid: str, *, by: Caller = OTTO, recreate: bool = False) -> Run:
        run = self.start(uid, {**PREPARE, "recreate": recreate}, by=by)
        assert run.state == "succeeded", run.error
        return run

    def make(self, name: str, settings: Mapping[str, object], *, project: str = "ingest") -> str:
        """A task that is ready to run."""
        uid = self.task(name, settings, project=project)
        self.prepare(uid)
        return uid

    def run(self, uid: str, *, by: Caller = OTTO, reload: bool = False) -> Run:
        """A run that succeeds."""
        run = self.start(uid, by=by, reload=reload)
        assert run.state == "succeeded", run.error
        return run

    def execute_next(self, between: Callable[[], object] = lambda: None) -> None:
        """Execute the next run; what is to happen between its plan and its first step is given."""
        with self.platform.database.write(queue.QUEUE_LOCK) as transaction:
            ((number, _),) = queue.claim_runs(transaction, self.platform.clock(), most=1, at_once=2)
        problem, count = self.executor.begin(number)
        between()
        for place in range(count):
            problem = problem or self.executor.execute_step(number, place)
        self.executor.end(number, problem)

    def get(self, run: str, *, by: Caller = ADA) -> Run:
        with self.platform.read(by) as ctx:
            return RUNS.get(ctx, run)

    def dataset(self, task: str, name: str) -> str:
        with self.platform.read(ADA) as ctx:
            return list_datasets(ctx, task)[name]

    def rows(self, task: str, name: str) -> list[tuple[object, ...]]:
        """The rows of a dataset, as the platform reads them."""
        with self.platform.read(ADA) as ctx:
            place = readable_tables.identifier_of(ctx, list_datasets(ctx, task)[name])
        return sorted((tuple(row) for row in self.tables.read(place).collect()), key=str)

    def ask(self, caller: Caller, text: str, *, workspace: str = "") -> list[tuple[object, ...]]:
        """The rows of a query, as the worker gives them."""
        with worker_client.run_query(self.platform, caller, workspace=workspace, text=text, rows=1000) as found:
            return found.rows()

    def lines(self, run: Run, *, by: Caller = ADA) -> list[str]:
        with self.platform.read(by) as ctx:
            return [line.text for line in RUNS.log_lines(ctx, run.id)]

    def grant(self, member: str, role: str, resource: str) -> None:
        with self.platform.access.write(TENANT) as session:
            session.store.add(Grant(member, role, resource))

    def revoke(self, member: str, role: str, resource: str) -> None:
        with self.platform.access.write(TENANT) as session:
            session.store.remove(Grant(member, role, resource))


@contextmanager
def inline_space(
    spark: SparkSession, template_file: Path, folder: Path, server: postgres.Server, database: str
) -> Iterator[InlineSpace]:
    """Open the spaces; the connection `shop` leads to the database."""
    shutil.copy(template_file, folder / "lakehold.sqlite")
    settings = Settings(
        data=folder / "data", database=f"sqlite:///{folder / 'lakehold.sqlite'}", private_addresses=True
    )
    platform = Platform(settings)
    platform.access.create_tenant(TENANT, "Acme", workspaces.models())
    address = f"jdbc:postgresql://127.0.0.1:{server.port}/{database}"
    with platform.access.write(TENANT) as session:
        store = session.store
        for member in ("ada", "olga", "zoe", *ROLES):
            store.create("tenant.member", member.title(), uid=member, edges={"tenant": TENANT})
        store.add(Grant("ada", "owner", TENANT))
        store.create("spaces.space", "Sales", uid="sales", edges={"tenant": TENANT}, creator="olga")
        store.create("spaces.space", "Sources", uid="sources", edges={"tenant": TENANT}, creator="zoe")
        for member, role in ROLES.items():
            store.add(Grant(member, role, "sales"))
        store.add(Grant("petra", "can_consume_data", "sources"))
        # Who names a connection in a task sees it.
        store.add(Grant("erik", "can_view", "sources"))
        store.create("spaces.project", "ingest", uid="ingest", edges={"space": "sales"}, creator="petra")
    with platform.write(ZOE) as ctx:
        resources.create(
            ctx,
            "spaces.connection",
            "shop",
            uid=None,
            edges={"space": "sources"},
            settings={"connector": "database", "address": address, "user": postgres.USER},
        )
    lake = IcebergCatalog(platform.settings)
    with serve(platform) as (worker, runtime):
        with platform.database.write() as transaction:
            heartbeat.register_worker(transaction, "here", worker)
        executor = RunExecutor(platform, workspaces.runnables(), step_executors, runtime)
        yield InlineSpace(platform, Tables(spark, lake), executor)
    lake.close()
    platform.close()
