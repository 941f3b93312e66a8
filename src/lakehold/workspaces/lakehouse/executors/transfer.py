"""Executors that load streams of sources into tables and send tables to destinations; probes and tests of both.

Nothing is written or sent by a probe, which is made before a source or destination is saved.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lakehold.catalog import credentials
from lakehold.connectors import registry as connectors
from lakehold.connectors.destinations.delivery import DeliveryRequest
from lakehold.connectors.registry import open_environment
from lakehold.connectors.settings import SyncMode
from lakehold.connectors.sources.source import ReadSpan, StreamOptions
from lakehold.connectors.sources.sync import SyncOptions, current_cursor, sync_stream
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark.table_writer import SchemaEvolution
from lakehold.runs.step_context import StepContext, StepResult
from lakehold.workspaces import transfer
from lakehold.workspaces.descriptor import Probe
from lakehold.workspaces.lakehouse import volumes
from lakehold.workspaces.lakehouse.executors import tables
from lakehold.workspaces.lakehouse.pipelines.connections import need_destination_check, need_source_probe
from lakehold.workspaces.lakehouse.settings import DESTINATION, SOURCE, STREAM, StreamSettings
from lakehold.workspaces.lakehouse.steps import DeliverTable, IngestStream


def deliver_table(step: DeliverTable, step_ctx: StepContext) -> StepResult:
    """Send the rows that the table has now, read as the caller of the run."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        to, secrets = DESTINATION.parse(step.settings), credentials.load_for_step(ctx, step.destination, step.settings)
        volume = volumes.open_volume(ctx, step_ctx.platform.settings, step.writes[0], "write") if step.writes else None
        environment = open_environment(ctx, step_ctx.platform.settings, secrets, volume)
    rows = tables.read_table(step_ctx, step.table)
    step_ctx.check_stopped()
    request = transfer.delivery_request(step_ctx, "" if step.alone else step.name)
    return transfer.delivery_result(step_ctx, connectors.open_destination(environment, to, request).send(rows))


_UNLIMITED = 2**62


def ingest_stream(step: IngestStream, step_ctx: StepContext) -> StepResult:
    """Load the stream with one write, and write the rejected rows with another."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        stream, source = STREAM.parse(step.stream_settings), SOURCE.parse(step.source_settings)
        settings = step_ctx.platform.settings
        at = source.volume_id
        volume = volumes.open_volume(ctx, settings, at, "read") if at else None
        secrets = credentials.load_for_step(ctx, step.source, step.source_settings)
        environment = open_environment(ctx, settings, secrets, volume)
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
    mode = transfer.sync_mode(stream.mode, reload=step.reload)
    cursor, part = stream.cursor if mode is SyncMode.INCREMENTAL else "", step.span
    span = ReadSpan(cursor, part.since, including=True, until=part.until, again=True) if part else None
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


@dataclass(frozen=True, slots=True)
class _RejectedTable:
    """The table beside a stream's own that holds its rejected rows."""

    step_ctx: StepContext
    step: IngestStream

    def find(self) -> TableIdentifier | None:
        return tables.rejected_place(self.step_ctx, self.step.into, make=False)

    def make(self) -> TableIdentifier:
        place = tables.rejected_place(self.step_ctx, self.step.into, make=True)
        assert place is not None  # noqa: S101 - it was made
        return place


def probe_source(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], object]
) -> dict[str, Any]:
    """Return as JSON the streams of a source, or a sample of one, for those who may create or edit such a source.

    Given secrets are used instead of those that are kept, or beside them. The settings of a stream to sample are `how`.
    """
    settings, uid, stream = request["settings"], request.get("source", ""), request.get("stream", "")
    source, options = SOURCE.parse(settings), None
    if source.needs_drivers:
        start_spark()
    with platform.read(caller) as ctx:
        need_source_probe(ctx, request)
        stored = credentials.load_for_test(ctx, uid, settings) if uid else {}
        at = source.volume_id
        volume = volumes.open_volume(ctx, platform.settings, at, "read") if at else None
        secrets = {**stored, **request.get("secrets", {})}
        environment = open_environment(ctx, platform.settings, secrets, volume)
    if stream:
        how = STREAM.parse({**request.get("how", {}), "stream": stream})
        options = StreamOptions(stream, how.format, how.parts)
    return transfer.probe_source(connectors.open_source(environment, source, options), stream)


def check_destination(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], object]
) -> dict[str, str]:
    """Test a destination and return the result as a message; raise if nothing could be sent."""
    settings, uid, at = request["settings"], request.get("destination", ""), request.get("volume", "")
    to = DESTINATION.parse(settings)
    if to.needs_drivers:
        start_spark()
    with platform.read(caller) as ctx:
        need_destination_check(ctx, request)
        stored = credentials.load_for_test(ctx, uid, settings) if uid else {}
        volume = volumes.open_volume(ctx, platform.settings, at, "write") if to.writes_volume and at else None
        secrets = {**stored, **request.get("secrets", {})}
        environment = open_environment(ctx, platform.settings, secrets, volume)
    return {"message": connectors.open_destination(environment, to, DeliveryRequest()).check()}


PROBES: Mapping[str, Probe] = {"source": probe_source, "destination": check_destination}
