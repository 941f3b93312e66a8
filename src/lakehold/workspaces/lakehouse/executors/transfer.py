"""Executors that load streams of sources into tables and send tables to destinations."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.catalog import credentials, resource_metadata
from lakehold.connectors import registry as connectors
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.connectors.sources.settings import SyncMode
from lakehold.connectors.sources.source import ReadSpan, StreamOptions
from lakehold.connectors.sources.sync import SyncOptions, current_cursor, sync_stream
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark.table_writer import SchemaEvolution
from lakehold.runs.runnable import StepContext, StepResult
from lakehold.workspaces.lakehouse import volumes
from lakehold.workspaces.lakehouse.executors import tables
from lakehold.workspaces.lakehouse.pipelines.connections import source_settings, stream_settings
from lakehold.workspaces.lakehouse.settings import DESTINATION, StreamSettings
from lakehold.workspaces.lakehouse.steps import DeliverTable, IngestStream
from lakehold.workspaces.transfer import delivery_request, delivery_result


def deliver_table(step: DeliverTable, step_ctx: StepContext) -> StepResult:
    """Send the rows that the table has now, read as the caller of the run."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        to = DESTINATION.parse(resource_metadata.load(ctx, step.destination).settings)
        secrets = credentials.load_for_use(ctx, step.destination)
        volume = volumes.open_volume(ctx, step_ctx.platform.settings, step.writes[0], "write") if step.writes else None
    rows = tables.read_table(step_ctx, step.table)
    step_ctx.check_stopped()
    environment = ConnectorEnvironment(step_ctx.platform.settings, secrets, volume)
    request = delivery_request(step_ctx, "" if step.alone else step.name)
    return delivery_result(step_ctx, connectors.open_destination(environment, to, request).send(rows))


_UNLIMITED = 2**62


def ingest_stream(step: IngestStream, step_ctx: StepContext) -> StepResult:
    """Load the stream with one write, and write the rejected rows with another."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        stream, source = stream_settings(ctx, step.stream), source_settings(ctx, step.source)
        settings = step_ctx.platform.settings
        at = source.volume_id
        volume = volumes.open_volume(ctx, settings, at, "read") if at else None
        environment = ConnectorEnvironment(settings, credentials.load_for_use(ctx, step.source), volume)
    place = tables.output_place(step_ctx, step.into)
    how = _sync_options(step_ctx, step, stream, place)
    step_ctx.check_stopped()
    options = StreamOptions(stream.stream, stream.format, stream.parts)
    connector = connectors.open_source(environment, source, options)
    done = sync_stream(step_ctx.tables, place, connector, stream.stream, how, step_ctx.mark)
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
    step_ctx: StepContext, step: IngestStream, stream: StreamSettings, place: TableIdentifier
) -> SyncOptions:
    """Return how the stream is loaded; a reload of an incremental stream replaces everything."""
    mode = stream.mode
    if step.reload and mode in {SyncMode.INCREMENTAL, SyncMode.APPEND}:
        mode = SyncMode.FULL
    cursor = stream.cursor if mode is SyncMode.INCREMENTAL else ""
    span = _backfill_range(step, cursor)
    keeps = stream.keep_bad
    most = stream.most_bad if stream.most_bad is not None else _UNLIMITED if span and keeps else None
    return SyncOptions(
        mode,
        stream.keys,
        cursor,
        None if span else current_cursor(step_ctx.tables, place, cursor, step_ctx.mark),
        _RejectedTable(step_ctx, step) if keeps and not span else None,
        most,
        stream.allow_empty,
        SchemaEvolution(stream.evolution),
        stream.partitioned_by,
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
