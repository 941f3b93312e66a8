"""Executors that load streams of sources into tables and send tables to destinations."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.catalog import credentials, resource_metadata
from lakehold.connectors.sources.connector import ReadSpan
from lakehold.connectors.sources.sync import SyncMode, SyncOptions, current_cursor, sync_stream
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark.schema_evolution import SchemaEvolution
from lakehold.runs.runnable import StepContext, StepResult
from lakehold.workspaces.lakehouse import volumes
from lakehold.workspaces.lakehouse.executors import tables
from lakehold.workspaces.lakehouse.pipelines.base import EVOLUTIONS
from lakehold.workspaces.lakehouse.pipelines.connections import stream_settings
from lakehold.workspaces.lakehouse.steps import DeliverTable, IngestStream
from lakehold.workspaces.settings_reader import SettingsReader
from lakehold.workspaces.transfer.delivery import StepDeliveryProgress, TableDelivery, delivery_result
from lakehold.workspaces.transfer.source import ConnectorFactory


def deliver_table(step: DeliverTable, step_ctx: StepContext) -> StepResult:
    """Send the rows that the table has now, read as the caller of the run."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        reader = SettingsReader(resource_metadata.load(ctx, step.destination).settings, "destination")
        secrets = credentials.load_for_use(ctx, step.destination)
        volume = volumes.open_volume(ctx, step_ctx.platform.settings, step.writes[0], "write") if step.writes else None
    rows = tables.read_table(step_ctx, step.table)
    step_ctx.check_stopped()
    factory = ConnectorFactory(step_ctx.platform.settings, secrets, volume)
    table_delivery = TableDelivery(
        factory,
        reader,
        "" if step.alone else step.name,
        step_ctx.mark,
        step_ctx.retained_folder,
        StepDeliveryProgress(step_ctx),
    )
    return delivery_result(step_ctx, table_delivery.send(rows))


SYNC_MODES = tuple(SyncMode)
_UNLIMITED = 2**62


def ingest_stream(step: IngestStream, step_ctx: StepContext) -> StepResult:
    """Load the stream with one write, and write the rejected rows with another."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        stream, source = (
            stream_settings(ctx, step.stream),
            SettingsReader(resource_metadata.load(ctx, step.source).settings, "source"),
        )
        settings, at = step_ctx.platform.settings, source.text("volume", "")
        volume = volumes.open_volume(ctx, settings, at, "read") if at else None
        factory = ConnectorFactory(settings, credentials.load_for_use(ctx, step.source), volume)
    place = tables.output_place(step_ctx, step.into)
    how = _sync_options(step_ctx, step, stream, place)
    name = stream.text("stream")
    step_ctx.check_stopped()
    done = sync_stream(
        step_ctx.tables, place, factory.create_connector(source, {name: stream}), name, how, step_ctx.mark
    )
    for note in done.notes:
        step_ctx.log(note)
    step_ctx.log(
        f"{done.written.added:,} rows written, {done.written.removed:,} removed; the table has {done.written.total:,}"
    )
    if done.bad:
        # Of a span they have been kept when it was read the first time.
        kept = "left out" if step.span else "kept aside"
        step_ctx.log(f"{done.bad:,} rows could not be read and are {kept}", "warning")
    return StepResult(done.written.added, done.written.size, done.bad, {"cursor": done.cursor} if done.cursor else {})


def _sync_options(
    step_ctx: StepContext, step: IngestStream, reader: SettingsReader, place: TableIdentifier
) -> SyncOptions:
    """Return how the stream is loaded; a reload of an incremental stream replaces everything."""
    mode = SyncMode(reader.one_of("mode", SYNC_MODES, SyncMode.FULL))
    if step.reload and mode in {SyncMode.INCREMENTAL, SyncMode.APPEND}:
        mode = SyncMode.FULL
    cursor = reader.text("cursor", "") if mode is SyncMode.INCREMENTAL else ""
    span = _backfill_range(step, cursor)
    keeps = reader.flag("keep_bad", default=True)
    most = reader.count("most_bad", 0) if reader.has("most_bad") else _UNLIMITED if span and keeps else None
    return SyncOptions(
        mode,
        reader.texts("keys"),
        cursor,
        None if span else current_cursor(step_ctx.tables, place, cursor, step_ctx.mark),
        _RejectedTable(step_ctx, step) if keeps and not span else None,
        most,
        reader.flag("allow_empty", default=False),
        SchemaEvolution(reader.one_of("evolution", EVOLUTIONS, "merge")),
        reader.texts("partitioned_by"),
        span,
    )


def _backfill_range(step: IngestStream, cursor: str) -> ReadSpan | None:
    if step.span is None:
        return None
    return ReadSpan(cursor, step.span.since, including=True, until=step.span.until, again=True)


@dataclass(frozen=True, slots=True)
class _RejectedTable:
    """The table beside a stream's own that holds its rejected rows."""

    step_ctx: StepContext
    step: IngestStream

    def find(self) -> TableIdentifier | None:
        return tables.rejected_place(self.step_ctx, self.step.into, make=False)

    def make(self) -> TableIdentifier:
        made = tables.rejected_place(self.step_ctx, self.step.into, make=True)
        assert made is not None  # noqa: S101 - it was made
        return made
