"""A stream of a source into a table: read as the person whom the run is for may, written by the platform."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.catalog import credentials, resource_metadata
from lakehold.connectors.sources.connector import ReadSpan
from lakehold.connectors.sources.sync import SyncMode, SyncOptions, current_cursor, sync_stream
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark.schema_evolution import SchemaEvolution
from lakehold.runs.runnable import Done, StepContext
from lakehold.workspaces.lakehouse import volumes
from lakehold.workspaces.lakehouse.doing import outputs
from lakehold.workspaces.lakehouse.pipelines.pipeline import EVOLUTIONS
from lakehold.workspaces.lakehouse.pipelines.source import told_of
from lakehold.workspaces.lakehouse.steps import Ingest
from lakehold.workspaces.moving.connecting import Connecting
from lakehold.workspaces.told import SettingsReader

MODES = tuple(SyncMode)
_ANY = 2**62


def do(step: Ingest, doing: StepContext) -> Done:
    """One write of what the stream has, and one of the rows that are none."""
    with doing.platform.read(doing.caller) as ctx:
        stream, source = (
            told_of(ctx, step.stream),
            SettingsReader(resource_metadata.load(ctx, step.source).settings, "source"),
        )
        settings, at = doing.platform.settings, source.text("volume", "")
        volume = volumes.files_of(ctx, settings, at, "read") if at else None
        connecting = Connecting(settings, credentials.load_for_use(ctx, step.source), volume)
    place = outputs.place(doing, step.into)
    how = _how(doing, step, stream, place)
    name = stream.text("stream")
    doing.go_on()
    done = sync_stream(doing.tables, place, connecting.connector(source, {name: stream}), name, how, doing.mark)
    for note in done.notes:
        doing.log(note)
    doing.log(
        f"{done.written.added:,} rows written, {done.written.removed:,} removed; the table has {done.written.total:,}"
    )
    if done.bad:
        # Of a span they have been kept when it was read the first time.
        kept = "left out" if step.span else "kept aside"
        doing.log(f"{done.bad:,} rows could not be read and are {kept}", "warning")
    return Done(done.written.added, done.written.size, done.bad, {"cursor": done.cursor} if done.cursor else {})


def _how(doing: StepContext, step: Ingest, told: SettingsReader, place: TableIdentifier) -> SyncOptions:
    """A reload of what comes bit by bit replaces it all."""
    mode = SyncMode(told.one_of("mode", MODES, SyncMode.FULL))
    if step.reload and mode in {SyncMode.INCREMENTAL, SyncMode.APPEND}:
        mode = SyncMode.FULL
    cursor = told.text("cursor", "") if mode is SyncMode.INCREMENTAL else ""
    span = _span(step, cursor)
    keeps = told.flag("keep_bad", default=True)
    most = told.count("most_bad", 0) if told.has("most_bad") else _ANY if span and keeps else None
    return SyncOptions(
        mode,
        told.texts("keys"),
        cursor,
        None if span else current_cursor(doing.tables, place, cursor, doing.mark),
        _Rejected(doing, step) if keeps and not span else None,
        most,
        told.flag("allow_empty", default=False),
        SchemaEvolution(told.one_of("evolution", EVOLUTIONS, "merge")),
        told.texts("partitioned_by"),
        span,
    )


def _span(step: Ingest, cursor: str) -> ReadSpan | None:
    if step.span is None:
        return None
    return ReadSpan(cursor, step.span.since, including=True, until=step.span.until, again=True)


@dataclass(frozen=True, slots=True)
class _Rejected:
    """The table beside a stream's own in which its bad rows are kept."""

    doing: StepContext
    step: Ingest

    def find(self) -> TableIdentifier | None:
        return outputs.beside(self.doing, self.step.into, make=False)

    def make(self) -> TableIdentifier:
        made = outputs.beside(self.doing, self.step.into, make=True)
        assert made is not None  # noqa: S101 - it was made
        return made
