"""Prepares tasks: compares the columns that their datasets are to have with those of their tables, and alters these."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as t

from lakehold.catalog import resource_metadata
from lakehold.connectors.registry import open_environment
from lakehold.connectors.sources.row_parsing import sample_value
from lakehold.kit.errors import ConflictError, LakeholdError, NotFoundError, at_field, without_foreign
from lakehold.kit.ids import fold_name
from lakehold.lake import readable_tables, table_views
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.row_formats import quote_identifier
from lakehold.lake.spark.scd2 import CURRENT, FROM, KEY, TO
from lakehold.lake.spark.table_writer import column_type
from lakehold.runs.step_context import StepResult
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.spaces import change_captures, owner_context
from lakehold.workspaces.spaces.datasets import (
    PREPARED,
    DatasetPlan,
    TableChange,
    fingerprint,
    list_datasets,
    need_dataset,
    plan_table,
)
from lakehold.workspaces.spaces.executors import connections
from lakehold.workspaces.spaces.executors.capture_upkeep import drop_task_slots
from lakehold.workspaces.spaces.executors.change_capture import check_capture
from lakehold.workspaces.spaces.executors.input_rows import load_schema
from lakehold.workspaces.spaces.executors.input_session import InputSession
from lakehold.workspaces.spaces.executors.registrations import (
    load_registration,
    need_source,
    place_dataset,
    plan_registration,
    record_columns,
    registered_datasets,
    source_columns,
)
from lakehold.workspaces.spaces.executors.star_plan import star_schemas
from lakehold.workspaces.spaces.pipelines import TaskPipeline
from lakehold.workspaces.spaces.settings import CONNECTION, TASK
from lakehold.workspaces.spaces.task_planner import input_datasets
from lakehold.workspaces.spaces.tasks.base import DatasetReference
from lakehold.workspaces.spaces.tasks.data_mart import DataMartTaskSettings
from lakehold.workspaces.spaces.tasks.landing import LandingSettings
from lakehold.workspaces.spaces.tasks.register import RegisterSettings
from lakehold.workspaces.spaces.tasks.replication import ReplicationSettings
from lakehold.workspaces.spaces.tasks.storage import StorageSettings
from lakehold.workspaces.spaces.tasks.transform import TransformDataset, TransformSettings

if TYPE_CHECKING:
    from lakehold.directory.caller import Caller
    from lakehold.directory.platform import Platform
    from lakehold.directory.request_context import RequestContext
    from lakehold.lake.spark.tables import Tables
    from lakehold.runs.step_context import StepContext
    from lakehold.worker.spark_session import SparkRuntime
    from lakehold.workspaces.descriptor import Probe
    from lakehold.workspaces.spaces.steps import PrepareTask

Columns = Sequence[tuple[str, str]]
_QUERY_SECONDS = 600
_SAMPLE_ROWS = 20
_HISTORY = ((FROM, "timestamp"), (TO, "timestamp"), (CURRENT, "boolean"))


class TaskSchema:
    """Finds the columns that the datasets of a task are to have: asked of its sources, its inputs and its queries."""

    def __init__(
        self,
        platform: Platform,
        runtime: SparkRuntime,
        caller: Caller,
        task: str,
        *,
        check_stopped: Callable[[], None] | None = None,
    ) -> None:
        self._platform, self._runtime, self._caller, self._task = platform, runtime, caller, task
        self._check_stopped = check_stopped

    def columns(self, stored: Mapping[str, object]) -> Iterator[tuple[str, Columns | None]]:
        """Yield each dataset with its columns; None where only a run tells."""
        match TASK.parse(stored):
            case LandingSettings() as landing:
                yield from self._of_streams(landing)
            case StorageSettings() as storage:
                for n, item in enumerate(storage.datasets):
                    found = self._input_columns(item.source)
                    _need_columns(item.name, found, f"datasets.{n}", keys=item.keys, at=[item.at])
                    yield item.name, [(KEY, "string"), *found, *_HISTORY] if item.history and found else found
            case TransformSettings() as transform:
                yield from self._of_queries(transform)
            case DataMartTaskSettings() as star:
                yield from self._of_star(star)
            case RegisterSettings() as register:
                yield from self._of_sources(register)
            case ReplicationSettings() as replication:
                self._check_replication(replication)
                for n, sent in enumerate(replication.tables):
                    _need_columns(sent.table, self._input_columns(sent.source), f"tables.{n}", keys=sent.keys)

    def plan(self, stored: Mapping[str, object]) -> list[DatasetPlan]:
        """Return what prepare would do to each dataset, also to those that the task makes no more."""
        expected, tables = dict(self.columns(stored)), self._runtime.tables
        registered = registered_datasets(stored)
        with self._read() as ctx:
            ids = list_datasets(ctx, self._task)
            there = {name: readable_tables.identifier_of(ctx, uid) for name, uid in ids.items()}
            known = {name: load_registration(ctx, uid) for name, uid in ids.items()}
        plans = []
        for name, columns in expected.items():
            key = fold_name(name)
            before = table_columns(tables, there[key]) if key in there else None
            if item := registered.get(key):
                plans.append(plan_registration(item, columns or (), known.get(key), has_rows=before is not None))
            else:
                plans.append(plan_table(name, before, columns))
        gone = sorted(there.keys() - set(map(fold_name, expected)))
        ends = (TableChange.UNREGISTER if known[name] else TableChange.DROP for name in gone)
        return [*plans, *map(DatasetPlan, gone, ends)]

    def _read(self) -> AbstractContextManager[RequestContext]:
        return self._platform.read(self._caller)

    def _input_columns(self, reference: DatasetReference) -> Columns | None:
        """Return the columns of a dataset that is read."""
        with self._read() as ctx:
            view = table_views.view_of(ctx, need_dataset(ctx, reference))
        schema = load_schema(self._runtime.tables, view)
        return None if schema is None else _schema_columns(schema)

    def _of_sources(self, register: RegisterSettings) -> Iterator[tuple[str, Columns]]:
        for n, item in enumerate(register.datasets):
            with self._read() as ctx, at_field(f"datasets.{n}.source"):
                need_source(ctx, self._task, item.source)
                yield item.name, source_columns(ctx, self._runtime.tables, item.source.uid)

    def _of_streams(self, landing: LandingSettings) -> Iterator[tuple[str, Columns | None]]:
        with self._read() as ctx:
            stored = resource_metadata.load(ctx, landing.connection).settings
            environment, settings = connections.load_environment(ctx, self._platform, landing.connection, stored)
            gateway = connections.gateway_of(ctx, landing.connection)
            if landing.captured():
                connections.need_direct(ctx, landing.connection)
        if settings.needs_drivers and not gateway:
            _ = self._runtime.spark
        source = connections.open_connection(
            self._platform,
            self._caller,
            (environment, settings),
            stored=stored,
            gateway=gateway,
            check_stopped=self._check_stopped,
        )
        streams = {each.name: each for each in source.streams()}
        if landing.captured():
            check_capture(environment, settings, landing)
        for n, item in enumerate(landing.datasets):
            if item.stream not in streams:
                # Which it has instead is not for all who operate the task, or see its runs.
                raise NotFoundError(
                    f"{item.name}: the source has no {item.stream!r}.",
                    "List the streams of the connection in the task's form, and select one.",
                    field=f"datasets.{n}.stream",
                )
            fields = streams[item.stream].fields
            columns: Columns | None = None if fields is None else [(each.name, each.type) for each in fields]
            if settings.needs_drivers and not gateway:
                # A database is asked for the columns, and for no row.
                columns = _schema_columns(source.read(self._runtime.spark, item.stream).rows.schema)
            _need_columns(item.name, columns, f"datasets.{n}", keys=item.keys, cursor=[item.cursor])
            yield item.name, columns

    def _check_replication(self, replication: ReplicationSettings) -> None:
        with self._read() as ctx:
            for reference in replication.inputs():
                need_dataset(ctx, reference)
            connections.need_direct(ctx, replication.connection)
            settings = CONNECTION.parse(resource_metadata.load(ctx, replication.connection).settings)
            environment = open_environment(ctx, self._platform.settings, {})
        connections.open_target(environment, settings)

    def _of_star(self, star: DataMartTaskSettings) -> Iterator[tuple[str, Columns | None]]:
        tables, sources = self._runtime.tables, dict[str, t.StructType | None]()
        for name, reference in star.sources().items():
            with self._read() as ctx:
                view = table_views.view_of(ctx, need_dataset(ctx, reference))
            sources[name] = load_schema(tables, view)
        for name, schema in star_schemas(star, sources):
            yield name, None if schema is None else _schema_columns(schema)

    def _of_queries(self, transform: TransformSettings) -> Iterator[tuple[str, Columns | None]]:
        session = self.input_session(transform)
        for n, item in enumerate(transform.datasets):
            with _in_dataset(n):
                columns = _schema_columns(session.rows(session.query_of(item), seconds=_QUERY_SECONDS).schema)
            _need_columns(item.name, columns, f"datasets.{n}", keys=item.keys)
            yield item.name, columns

    def input_session(self, transform: TransformSettings) -> InputSession:
        """Return the inputs of a transform task."""
        with self._read() as ctx:
            inputs = input_datasets(ctx, transform.reads)
            place = readable_tables.name_path(ctx.view, owner_context.project_of(ctx, self._task))
        return InputSession(self._platform, self._runtime, self._caller, place, inputs, self._task, "prepare")


@contextmanager
def _in_dataset(n: int) -> Iterator[None]:
    """Let the errors raised inside be about a setting of this dataset."""
    try:
        yield
    except LakeholdError as error:
        error.field = ".".join(filter(None, ("datasets", str(n), error.field)))
        raise


def _schema_columns(schema: t.StructType) -> Columns:
    return [(each.name, column_type(each)) for each in schema.fields]


def _need_columns(dataset: str, columns: Columns | None, path: str, **needed: Sequence[str]) -> None:
    """Refuse what settings of a dataset name as columns, and is none; `path` leads to those settings."""
    if columns is None:
        return
    there = {fold_name(name) for name, _ in columns}
    for setting, names in needed.items():
        missing = next((name for name in filter(None, names) if fold_name(name) not in there), None)
        if missing is not None:
            raise NotFoundError(
                f"{dataset} has no column {missing!r}.",
                f"It has: {', '.join(name for name, _ in columns[:50])}.",
                field=f"{path}.{setting}",
            )


def table_columns(tables: Tables, place: TableIdentifier) -> Columns | None:
    """Return the columns of a table; None if it does not exist yet."""
    if not tables.exists(place):
        return None
    return _schema_columns(tables.schema(place))


def prepare_task(step: PrepareTask, step_ctx: StepContext) -> StepResult:
    """Create and alter the tables of a task's datasets, and record what was prepared."""
    schema = TaskSchema(
        *(step_ctx.platform, step_ctx.spark_runtime, step_ctx.caller, step.task), check_stopped=step_ctx.check_stopped
    )
    plans = schema.plan(step.settings)
    lossy = [plan for plan in plans if plan.loses_values]
    if lossy and not step.recreate:
        first = " ".join(lossy[0].details) or "The task makes it no more."
        raise ConflictError(
            f"Preparing would lose rows of {', '.join(plan.name for plan in lossy)}. {first}",
            "Prepare it with recreating allowed, or change the task.",
            code="lossy_change",
        )
    anew = {plan.name for plan in plans if plan.change is TableChange.RECREATE}
    _keep_captures(step, step_ctx, anew)
    for plan in plans:
        step_ctx.check_stopped()
        _apply(plan, step, step_ctx)
    with step_ctx.platform.write(step_ctx.caller) as ctx:
        prepared = {"fingerprint": fingerprint(step.settings), "at": step_ctx.platform.clock()}
        resource_metadata.save_managed(ctx, step.task, {PREPARED: prepared})
    drop_task_slots(step_ctx.platform, step_ctx.caller, step.task)
    return StepResult(rows=0, state={"datasets": [plan.name for plan in plans]})


def _keep_captures(step: PrepareTask, step_ctx: StepContext, anew: Collection[str]) -> None:
    """Let datasets be loaded again whose tables are made anew, or that another mode fills from now on."""
    settings = TASK.parse(step.settings)
    captured = settings.captured() if isinstance(settings, LandingSettings) else ()
    with step_ctx.platform.write(step_ctx.caller) as ctx:
        ids = list_datasets(ctx, step.task)
        kept = {ids.get(fold_name(each.name), "") for each in captured if each.name not in anew}
        change_captures.keep_datasets(ctx, step.task, kept)


def _apply(plan: DatasetPlan, step: PrepareTask, step_ctx: StepContext) -> None:
    with step_ctx.platform.write(step_ctx.caller) as ctx:
        place = _place_dataset(ctx, plan, step)
    if place is not None:
        _change_table(step_ctx.tables, place, plan)
    step_ctx.log(f"{plan.name}: {_DONE[plan.change]}. {' '.join(plan.details)}".strip())


def _place_dataset(ctx: RequestContext, plan: DatasetPlan, step: PrepareTask) -> TableIdentifier | None:
    """Create or delete the dataset, and return the place of its own table; None if it is to have none."""
    item = registered_datasets(step.settings).get(fold_name(plan.name))
    if plan.change in {TableChange.DROP, TableChange.UNREGISTER}:
        # Its files go with those of all tables that were deleted some days ago; a registered one has none.
        ctx.delete_unchecked(list_datasets(ctx, step.task)[fold_name(plan.name)])
        return None
    uid = place_dataset(ctx, step.task, plan.name, item)
    if item is None:
        return readable_tables.identifier_of(ctx, uid)
    record_columns(ctx, uid, plan.columns)
    return None


def _change_table(tables: Tables, place: TableIdentifier, plan: DatasetPlan) -> None:
    match plan.change:
        case TableChange.CREATE:
            tables.create(place, _schema(plan))
        case TableChange.ALTER:
            _alter(tables, place, plan)
        case TableChange.RECREATE:
            tables.replace(place, _schema(plan))


_DONE = {
    TableChange.NONE: "stays as it is",
    TableChange.CREATE: "created",
    TableChange.ALTER: "altered",
    TableChange.RECREATE: "made anew",
    TableChange.DROP: "dropped",
    TableChange.REGISTER: "registered",
    TableChange.UNREGISTER: "registered no more",
    TableChange.LATER: "is created by the first run",
}


def _schema(plan: DatasetPlan) -> t.StructType:
    return t.StructType([t.StructField(name, t.DataType.fromDDL(kind)) for name, kind in plan.columns])


def _alter(tables: Tables, place: TableIdentifier, plan: DatasetPlan) -> None:
    """Add and widen columns."""
    there = {fold_name(name): kind for name, kind in table_columns(tables, place) or ()}
    tables.writable_metadata(place)
    for name, kind in plan.columns:
        before = there.get(fold_name(name))
        column = quote_identifier(name)
        if before is None:
            tables.session.sql(f"ALTER TABLE {place.sql} ADD COLUMN {column} {kind}")
        elif before != kind and kind not in {"tinyint", "smallint"}:
            tables.session.sql(f"ALTER TABLE {place.sql} ALTER COLUMN {column} TYPE {kind}")


def probe_prepare(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], SparkRuntime]
) -> dict[str, Any]:
    """Return as JSON what prepare would do to the datasets of a task, for those who may validate it."""
    task = request["task"]
    runtime = start_spark()
    with platform.read(caller) as ctx:
        need_plan(ctx, task)
        stored = resource_metadata.load(ctx, task).settings
        hides = not all(ctx.session.check(ctx.principal, *right) for right in TaskPipeline().private_rights(ctx, task))
    schema = TaskSchema(platform, runtime, caller, task)
    with without_foreign(hides=hides):
        return {"datasets": [asdict(each) for each in schema.plan(stored)]}


def need_plan(ctx: RequestContext, task: str) -> None:
    """Refuse unless the caller may validate a task, and its project's owner may use what it reads."""
    readable_tables.refuse_impersonation(ctx)
    ctx.need("validate", task)
    missing = owner_context.missing_roles(ctx, task)
    if missing:
        raise ConflictError(missing[0].text, missing[0].hint)


def probe_steps(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], SparkRuntime]
) -> dict[str, Any]:
    """Return as JSON the query, the columns and the first rows of a dataset of a transform task, perhaps not saved yet.

    With a step, those after it. Rows are for those who may view the data of the task and of all that it reads.
    """
    task, runtime = request["task"], start_spark()
    with platform.read(caller) as ctx:
        need_plan(ctx, task)
        ctx.need("update", task)
        inputs = edge_targets(ctx, task, "reads")
        sees = all(ctx.session.check(ctx.principal, "view_data", each) for each in (task, *inputs))
    settings = TASK.parse({"type": "transform", "datasets": [request["dataset"]]})
    assert isinstance(settings, TransformSettings)  # noqa: S101 - as its type says
    item = settings.datasets[0]
    session = TaskSchema(platform, runtime, caller, task).input_session(TransformSettings(reads=tuple(inputs)))
    with _in_dataset(0):
        text = _query_until(session, item, request.get("step"))
        rows, reads = session.analyse(f"SELECT * FROM (\n{text}\n) LIMIT {_SAMPLE_ROWS}", seconds=_QUERY_SECONDS)  # noqa: S608 - guarded
    fields = [{"name": each.name, "type": each.dataType.simpleString()} for each in rows.schema.fields]
    sample = [[*map(sample_value, row)] for row in rows.collect()] if sees else None
    return {"sql": text, "fields": fields, "rows": sample, "reads": sorted(reads)}


def _query_until(session: InputSession, item: TransformDataset, step: int | None) -> str:
    """Return the query of a dataset, or that of its chain of steps up to one of them."""
    if item.sql:
        return item.sql
    chain = session.chain_of(item)
    return (chain.check() if step is None or step >= len(chain.results) else chain.results[step]).sql


PROBES: Mapping[str, Probe] = {"prepare": probe_prepare, "steps": probe_steps}
