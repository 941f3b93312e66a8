"""Prepares tasks: compares the columns that their datasets are to have with those of their tables, and alters these."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from pyspark.sql import types as t

from lakehold.access import Draft
from lakehold.catalog import credentials, resource_metadata
from lakehold.connectors import registry as connectors
from lakehold.connectors.registry import open_environment
from lakehold.connectors.sources.row_parsing import sample_value
from lakehold.kit.errors import ConflictError, LakeholdError, NotFoundError
from lakehold.kit.ids import fold_name
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.row_formats import quote_identifier
from lakehold.lake.spark.scd2 import CURRENT, FROM, KEY, TO
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
from lakehold.workspaces.spaces.executors.capture_upkeep import drop_task_slots
from lakehold.workspaces.spaces.executors.change_capture import check_capture, need_direct
from lakehold.workspaces.spaces.executors.input_session import InputSession
from lakehold.workspaces.spaces.executors.star_plan import star_schemas
from lakehold.workspaces.spaces.settings import CONNECTION, DATASET_KIND, TASK
from lakehold.workspaces.spaces.task_planner import input_datasets
from lakehold.workspaces.spaces.tasks.data_mart import DataMartTaskSettings
from lakehold.workspaces.spaces.tasks.landing import LandingSettings
from lakehold.workspaces.spaces.tasks.storage import StorageSettings
from lakehold.workspaces.spaces.tasks.transform import TransformDataset, TransformSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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

    def __init__(self, platform: Platform, runtime: SparkRuntime, caller: Caller, task: str) -> None:
        self._platform, self._runtime, self._caller, self._task = platform, runtime, caller, task

    def columns(self, stored: Mapping[str, object]) -> Iterator[tuple[str, Columns | None]]:
        """Yield each dataset with its columns; None where only a run tells."""
        match TASK.parse(stored):
            case LandingSettings() as landing:
                yield from self._of_streams(landing)
            case StorageSettings() as storage:
                for item in storage.datasets:
                    with self._read() as ctx:
                        place = readable_tables.identifier_of(ctx, need_dataset(ctx, item.source))
                    found = table_columns(self._runtime.tables, place)
                    yield item.name, [(KEY, "string"), *found, *_HISTORY] if item.history and found else found
            case TransformSettings() as transform:
                yield from self._of_queries(transform)
            case DataMartTaskSettings() as star:
                yield from self._of_star(star)

    def plan(self, stored: Mapping[str, object]) -> list[DatasetPlan]:
        """Return what prepare would do to each dataset, also to those that the task makes no more."""
        expected, tables = dict(self.columns(stored)), self._runtime.tables
        with self._read() as ctx:
            ids = list_datasets(ctx, self._task)
            there = {name: readable_tables.identifier_of(ctx, uid) for name, uid in ids.items()}
        plans = []
        for name, columns in expected.items():
            place = there.get(fold_name(name))
            plans.append(plan_table(name, table_columns(tables, place) if place else None, columns))
        gone = sorted(there.keys() - set(map(fold_name, expected)))
        return [*plans, *(DatasetPlan(name, TableChange.DROP) for name in gone)]

    def _read(self) -> AbstractContextManager[RequestContext]:
        return self._platform.read(self._caller)

    def _of_streams(self, landing: LandingSettings) -> Iterator[tuple[str, Columns | None]]:
        with self._read() as ctx:
            stored = resource_metadata.load(ctx, landing.connection).settings
            settings = CONNECTION.parse(stored)
            if landing.captured():
                need_direct(ctx, landing.connection)
            secrets = credentials.load_for_use(ctx, landing.connection)
            environment = open_environment(ctx, self._platform.settings, secrets)
        if settings.needs_drivers:
            _ = self._runtime.spark
        source = connectors.open_source(environment, settings)
        streams = {each.name: each for each in source.streams()}
        if landing.captured():
            check_capture(environment, settings, landing)
        for item in landing.datasets:
            if item.stream not in streams:
                there = ", ".join(sorted(streams)[:20]) or "none"
                raise NotFoundError(
                    f"{item.name}: the source has no {item.stream!r}.", f"It has: {there}.", field="datasets"
                )
            fields = streams[item.stream].fields
            columns: Columns | None = None if fields is None else [(each.name, each.type) for each in fields]
            if settings.needs_drivers:
                # A database is asked for the columns, and for no row.
                columns = _frame_columns(source.read(self._runtime.spark, item.stream).rows)
            _need_columns(item.name, columns, (*item.keys, *filter(None, (item.cursor,))))
            yield item.name, columns

    def _of_star(self, star: DataMartTaskSettings) -> Iterator[tuple[str, Columns | None]]:
        tables, sources = self._runtime.tables, dict[str, t.StructType | None]()
        for name, reference in star.sources().items():
            with self._read() as ctx:
                place = readable_tables.identifier_of(ctx, need_dataset(ctx, reference))
            sources[name] = tables.schema(place) if tables.exists(place) else None
        for name, schema in star_schemas(star, sources):
            yield name, None if schema is None else [(each.name, each.dataType.simpleString()) for each in schema]

    def _of_queries(self, transform: TransformSettings) -> Iterator[tuple[str, Columns | None]]:
        session = self.input_session(transform)
        for n, item in enumerate(transform.datasets):
            with _in_dataset(n):
                columns = _frame_columns(session.rows(session.query_of(item), seconds=_QUERY_SECONDS))
            _need_columns(item.name, columns, item.keys)
            yield item.name, columns

    def input_session(self, transform: TransformSettings) -> InputSession:
        """Return the inputs of a transform task."""
        with self._read() as ctx:
            inputs = input_datasets(ctx, transform.reads)
            place = readable_tables.name_path(ctx.view, owner_context.project_of(ctx, self._task))
        return InputSession(self._platform, self._runtime, self._caller, place, inputs)


@contextmanager
def _in_dataset(n: int) -> Iterator[None]:
    """Let the errors raised inside be about a setting of this dataset."""
    try:
        yield
    except LakeholdError as error:
        error.field = ".".join(filter(None, ("datasets", str(n), error.field)))
        raise


def _frame_columns(rows: DataFrame) -> Columns:
    return [(each.name, each.dataType.simpleString()) for each in rows.schema.fields]


def _need_columns(dataset: str, columns: Columns | None, needed: Sequence[str]) -> None:
    """Refuse keys and cursors that are no column."""
    if columns is None:
        return
    there = {fold_name(name) for name, _ in columns}
    missing = next((name for name in needed if fold_name(name) not in there), None)
    if missing is not None:
        raise NotFoundError(
            f"{dataset} has no column {missing!r}.",
            f"It has: {', '.join(name for name, _ in columns[:50])}.",
            field="datasets",
        )


def table_columns(tables: Tables, place: TableIdentifier) -> Columns | None:
    """Return the columns of a table; None if it does not exist yet."""
    if not tables.exists(place):
        return None
    return [(each.name, each.dataType.simpleString()) for each in tables.schema(place).fields]


def prepare_task(step: PrepareTask, step_ctx: StepContext) -> StepResult:
    """Create and alter the tables of a task's datasets, and record what was prepared."""
    schema = TaskSchema(step_ctx.platform, step_ctx.spark_runtime, step_ctx.caller, step.task)
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
    tables = step_ctx.tables
    with step_ctx.platform.write(step_ctx.caller) as ctx:
        uid = list_datasets(ctx, step.task).get(fold_name(plan.name))
        if uid is None:
            uid = ctx.create_unchecked(Draft(DATASET_KIND, {"task": step.task}), plan.name)
            resource_metadata.create(ctx, uid)
        place = readable_tables.identifier_of(ctx, uid)
    match plan.change:
        case TableChange.CREATE:
            tables.create(place, _schema(plan))
        case TableChange.ALTER:
            _alter(tables, place, plan)
        case TableChange.RECREATE:
            tables.drop(place)
            tables.create(place, _schema(plan))
        case TableChange.DROP:
            tables.drop(place)
            with step_ctx.platform.write(step_ctx.caller) as ctx:
                ctx.delete_unchecked(uid)
    step_ctx.log(f"{plan.name}: {_DONE[plan.change]}. {' '.join(plan.details)}".strip())


_DONE = {
    TableChange.NONE: "stays as it is",
    TableChange.CREATE: "created",
    TableChange.ALTER: "altered",
    TableChange.RECREATE: "made anew",
    TableChange.DROP: "dropped",
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
    schema = TaskSchema(platform, runtime, caller, task)
    return {"datasets": [asdict(each) for each in schema.plan(stored)]}


def need_plan(ctx: RequestContext, task: str) -> None:
    """Refuse unless the caller may validate a task, and its project's owner may use what it reads."""
    readable_tables.refuse_impersonation(ctx)
    ctx.need("validate", task)
    missing = owner_context.missing_roles(ctx, task)
    if missing:
        raise ConflictError(missing[0].text, "Ask for that role, or give the project an owner who has it.")


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
    item: TransformDataset = TypeAdapter(TransformDataset).validate_python(request["dataset"])
    session = TaskSchema(platform, runtime, caller, task).input_session(TransformSettings(reads=tuple(inputs)))
    text, step = session.query_of(item) if item.sql else "", request.get("step")
    if not text:
        chain = session.chain_of(item)
        text = chain.check().sql if step is None else chain.results[step].sql
    rows = session.rows(f"SELECT * FROM (\n{text}\n) LIMIT {_SAMPLE_ROWS}", seconds=_QUERY_SECONDS)  # noqa: S608 - guarded
    fields = [{"name": name, "type": kind} for name, kind in _frame_columns(rows)]
    sample = [[*map(sample_value, row)] for row in rows.collect()] if sees else None
    return {"sql": text, "fields": fields, "rows": sample}


PROBES: Mapping[str, Probe] = {"prepare": probe_prepare, "steps": probe_steps}
