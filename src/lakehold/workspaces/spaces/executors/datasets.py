"""Executors that fill datasets: landing, storage, transform and replication.

They read as the platform, within what the owner of the project may use: that the caller may run the task, and that its
owner has the roles for it, has been checked at the beginning of the step. Each fills its dataset by one write with the
mark of the step, so that a step which is repeated does nothing twice.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lakehold.connectors.database import destination as jdbc
from lakehold.connectors.database.destination import JdbcDestination
from lakehold.connectors.database.settings import DeliveryMode
from lakehold.connectors.sources.source import StreamOptions
from lakehold.connectors.sources.sync import SyncOptions, current_cursor, sync_stream
from lakehold.kit.clock import SECOND
from lakehold.kit.settings_schema import adapter_of
from lakehold.lake import readable_tables
from lakehold.lake.spark.history import HistoryOptions, update_history
from lakehold.lake.spark.table_writer import SchemaEvolution, TableWriteOptions, TableWriteResult, WriteMode, write_rows
from lakehold.runs.step_context import StepResult
from lakehold.workspaces import transfer
from lakehold.workspaces.spaces.executors import connections
from lakehold.workspaces.spaces.executors.input_rows import read_rows
from lakehold.workspaces.spaces.executors.input_session import InputSession
from lakehold.workspaces.spaces.executors.star_schema import load_dimension, load_fact, load_view
from lakehold.workspaces.spaces.settings import TASK
from lakehold.workspaces.spaces.tasks.data_mart import DataMartTaskSettings
from lakehold.workspaces.spaces.tasks.landing import LandingDataset, LandingMode, LandingSettings, SchemaChanges
from lakehold.workspaces.spaces.tasks.replication import ReplicatedTable, ReplicationMode
from lakehold.workspaces.spaces.tasks.storage import StorageDataset
from lakehold.workspaces.spaces.tasks.transform import TransformDataset

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lakehold.lake.iceberg_catalog import TableIdentifier
    from lakehold.runs.step_context import StepContext
    from lakehold.workspaces.spaces.steps import LandDataset, LoadStar, ReplicateDataset, RunTransform, StoreDataset


def _item(kind: type, stored: Mapping[str, object]) -> Any:  # noqa: ANN401 - of that type
    return adapter_of(kind).validate_python(stored)


def _place(step_ctx: StepContext, dataset: str) -> TableIdentifier:
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        return readable_tables.identifier_of(ctx, dataset)


def land_dataset(step: LandDataset, step_ctx: StepContext) -> StepResult:
    """Load a stream into its dataset."""
    item, settings = _item(LandingDataset, step.item), TASK.parse(step.settings)
    assert isinstance(settings, LandingSettings)  # noqa: S101 - the step was planned from it
    place = _place(step_ctx, step.dataset)
    stream = StreamOptions(item.stream, None, item.parts)
    one_snapshot = item.mode is LandingMode.INCREMENTAL
    connector = connections.open_source(
        step_ctx, step.connection, step.connection_settings, stream, one_snapshot=one_snapshot
    )
    step_ctx.check_stopped()
    mode = transfer.sync_mode(item.mode.sync_mode, reload=step.reload)
    cursor = "" if step.reload else item.cursor
    since = current_cursor(step_ctx.tables, place, cursor, step_ctx.mark)
    how = SyncOptions(
        mode, item.keys, cursor, since, allow_empty=item.allow_empty, evolution=_EVOLUTIONS[settings.schema_changes]
    )
    done = sync_stream(step_ctx.tables, place, connector, item.stream, how, step_ctx.mark)
    for note in done.notes:
        step_ctx.log(note)
    _log_write(step_ctx, done.written)
    return StepResult(done.written.added, done.written.size, done.bad, {"cursor": done.cursor} if done.cursor else {})


_EVOLUTIONS = {
    SchemaChanges.APPLY: SchemaEvolution.MERGE,
    SchemaChanges.IGNORE: SchemaEvolution.KEEP,
    SchemaChanges.STOP: SchemaEvolution.STRICT,
}


def store_dataset(step: StoreDataset, step_ctx: StepContext) -> StepResult:
    """Bring a dataset up to the rows of another one, or its history."""
    item: StorageDataset = _item(StorageDataset, step.item)
    place = _place(step_ctx, step.dataset)
    rows = read_rows(step_ctx, step.source)
    step_ctx.check_stopped()
    if item.history:
        how = HistoryOptions(item.keys, at=item.at or None, closes_missing=item.deletes)
        moment = datetime.fromtimestamp(step_ctx.platform.clock() / SECOND, UTC)
        written = update_history(step_ctx.tables, rows, place, how, mark=step_ctx.mark, moment=moment)
    else:
        mode = WriteMode.MIRROR if item.deletes else WriteMode.MERGE
        options = TableWriteOptions(WriteMode.OVERWRITE if step.reload else mode, step_ctx.mark, item.keys)
        written = write_rows(step_ctx.tables, place, rows, options)
    _log_write(step_ctx, written)
    return StepResult(written.added, written.size)


def run_transform(step: RunTransform, step_ctx: StepContext) -> StepResult:
    """Write the rows that the query returns now."""
    item: TransformDataset = _item(TransformDataset, step.item)
    session = InputSession(
        *(step_ctx.platform, step_ctx.spark_runtime, step_ctx.caller), step.place, step.inputs, step.task, "run"
    )
    rows = session.rows(session.query_of(item))
    place = _place(step_ctx, step.dataset)
    step_ctx.check_stopped()
    mode = WriteMode.OVERWRITE if step.reload else WriteMode(item.mode)
    written = write_rows(step_ctx.tables, place, rows, TableWriteOptions(mode, step_ctx.mark, item.keys))
    _log_write(step_ctx, written)
    return StepResult(written.added, written.size)


def load_star(step: LoadStar, step_ctx: StepContext) -> StepResult:
    """Load a dimension, a fact or a view of a star schema."""
    star, name = TASK.parse(step.settings), str(step.item["name"])
    assert isinstance(star, DataMartTaskSettings)  # noqa: S101 - the step was planned from it
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        places = {each: readable_tables.identifier_of(ctx, uid) for each, uid in step.members.items()}
    tables, mark = step_ctx.tables, step_ctx.mark
    rows = read_rows(step_ctx, step.source) if step.source else None
    step_ctx.check_stopped()
    if rows is None:
        view = next(each for each in star.views if each.name == name)
        fact = places[view.fact]
        written = load_view(tables, places[name], view, star=star, fact=fact, dimensions=places, mark=mark)
    elif step.role == "dimension":
        moment = datetime.fromtimestamp(step_ctx.platform.clock() / SECOND, UTC)
        dimension = star.dimension(name)
        written = load_dimension(tables, rows, places[name], dimension, mark=mark, moment=moment, reload=step.reload)
    else:
        written = load_fact(
            *(tables, rows, places[name], star.fact(name)),
            star=star,
            dimensions=places,
            mark=mark,
            reload=step.reload,
        )
    _log_write(step_ctx, written)
    return StepResult(written.added, written.size)


_DELIVERY_MODES = {
    ReplicationMode.FULL: DeliveryMode.OVERWRITE,
    ReplicationMode.APPLY: DeliveryMode.UPSERT,
    ReplicationMode.STORE: DeliveryMode.APPEND,
}


def replicate_dataset(step: ReplicateDataset, step_ctx: StepContext) -> StepResult:
    """Send the rows of a dataset to a table of a database, once for each mark."""
    item: ReplicatedTable = _item(ReplicatedTable, step.item)
    environment, settings = connections.step_environment(step_ctx, step.connection, step.connection_settings)
    database = connections.open_target(environment, settings)
    rows = read_rows(step_ctx, step.source)
    step_ctx.check_stopped()
    mode = DeliveryMode.OVERWRITE if step.reload else _DELIVERY_MODES[item.mode]
    target = JdbcDestination(database, item.table, item.schema, mode, item.keys)
    return transfer.delivery_result(step_ctx, jdbc.deliver_rows(rows, target, step_ctx.mark))


def _log_write(step_ctx: StepContext, written: TableWriteResult) -> None:
    step_ctx.log(f"{written.added:,} rows written, {written.removed:,} removed; the dataset has {written.total:,}")
