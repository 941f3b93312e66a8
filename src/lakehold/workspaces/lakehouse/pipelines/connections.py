"""Sources and destinations: each enabled stream is loaded into a table, each table that is read is sent out.

A request to probe one of them before it is saved names an existing one, or the lakehouse in which it would be created.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from lakehold.access import Draft
from lakehold.access.facts.view import FactView
from lakehold.catalog import resource_metadata
from lakehold.connectors.settings import SyncMode
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote
from lakehold.runs.runnable import DefinitionPart, RunOptions, Step, parts_of, refuse_backfill
from lakehold.workspaces.graph import edge_targets, need_connection
from lakehold.workspaces.lakehouse import settings, volumes
from lakehold.workspaces.lakehouse.pipelines.base import LakehousePipeline, readable_inputs, resolve_output
from lakehold.workspaces.lakehouse.steps import DeliverTable, IngestStream


class DestinationPipeline(LakehousePipeline):
    """Sends each table that it reads to files, a database, a webhook or by mail, as its setting `to` says."""

    kind = "lakehouse.destination"

    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return one step for each table."""
        refuse_backfill(options, self.label)
        reads = readable_inputs(ctx, uid)
        if not reads:
            raise ConflictError(f"The destination {quote(uid)} reads no table.", "Let it read at least one.")
        names, stored = ctx.view.names, resource_metadata.load(ctx, uid).settings
        settings.DESTINATION.parse(stored)
        writes = _need_volume(ctx, uid) if stored.get("to") == "files" else ()
        return [
            DeliverTable(
                name=names.get(ctx.view.resource(table)) or table,
                reads=(table,),
                writes=writes,
                destination=uid,
                settings=stored,
                table=table,
                alone=len(reads) == 1,
            )
            for table in reads
        ]


def _need_volume(ctx: RequestContext, uid: str) -> tuple[str, ...]:
    """Return the volume that files go into; refused if the caller may not write there."""
    ends = edge_targets(ctx, uid, "writes")
    found = [end for end in ends if ctx.view.kind(ctx.view.resource(end)) == volumes.VOLUME_KIND]
    if len(found) != 1:
        raise ConflictError(f"The destination {quote(uid)} has no volume for its files.", "Let it write one volume.")
    ctx.need("write", found[0])
    return tuple(found)


def need_destination_check(ctx: RequestContext, request: Mapping[str, Any]) -> Caller:
    """Return the caller if they may edit the destination, or create one like this."""
    lakehouse, volume = request.get("lakehouse", ""), request.get("volume", "")
    edges = {"lakehouse": lakehouse, "reads": request.get("reads", []), "writes": [volume] if volume else []}
    return need_connection(ctx, request.get("destination", ""), lakehouse, Draft(DestinationPipeline.kind, edges))


STREAM_KIND = "lakehouse.stream"
_OFF = "false"


class SourcePipeline(LakehousePipeline):
    """Loads its enabled streams. Its settings are those of its connector; each stream has its own."""

    kind = "lakehouse.source"

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """Return the tables of its streams, or the layer of those that are to be created."""
        found = [stream_output(ctx, uid, stream) for stream in enabled_streams(ctx, uid)]
        return list(dict.fromkeys(end for end in found if end))

    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return one step for each enabled stream."""
        reads = readable_inputs(ctx, uid)
        found = enabled_streams(ctx, uid)
        if not found:
            raise ConflictError(f"No stream of the source {quote(uid)} is enabled.", "Enable at least one.")
        if options.span is not None:
            found = _incremental_streams(ctx, uid, found)
        return [_ingest_step(ctx, uid, stream, reads, options) for stream in found]

    def definition(self, uid: str, step: Step) -> Sequence[DefinitionPart]:
        """Return the source and the stream, with who enabled it."""
        assert isinstance(step, IngestStream)  # noqa: S101 - it has no others
        return (*super().definition(uid, step), *parts_of(STREAM_KIND, step.stream))


def need_source_probe(ctx: RequestContext, request: Mapping[str, Any]) -> Caller:
    """Return the caller if they may edit the source, or create one like this."""
    lakehouse = request.get("lakehouse", "")
    draft = Draft(SourcePipeline.kind, {"lakehouse": lakehouse, "into": request.get("layer", "")})
    return need_connection(ctx, request.get("source", ""), lakehouse, draft)


def sampled_resource(request: Mapping[str, Any]) -> str:
    """Return the resource whose rows a probe shows: the source, or its place; empty if it takes no sample."""
    places = (request.get(name) for name in ("source", "layer", "lakehouse"))
    return next((place for place in places if place), "") if request.get("stream") else ""


def enabled_streams(ctx: RequestContext, uid: str) -> list[str]:
    """Return the enabled streams, by name."""

    def found(view: FactView) -> list[str]:
        enabled = view.attributes["enabled"]
        inside = (child for child in view.children(view.resource(uid)) if view.kind(child) == STREAM_KIND)
        counted = [child for child in inside if enabled.get(child) != _OFF]
        return [view.uid(child) for child in sorted(counted, key=lambda child: (view.names.get(child) or "", child))]

    return ctx.session.read_view(found)


def _incremental_streams(ctx: RequestContext, uid: str, found: Sequence[str]) -> list[str]:
    """Return the streams that are read by a cursor: only these can be backfilled."""
    some = [stream for stream in found if stream_settings(ctx, stream).mode is SyncMode.INCREMENTAL]
    if not some:
        raise ConflictError(
            f"No stream of the source {quote(uid)} is read by a cursor, so it cannot be backfilled.",
            f"Set the mode of a stream to {SyncMode.INCREMENTAL}, or reload it.",
        )
    return some


def stream_settings(ctx: RequestContext, stream: str) -> settings.StreamSettings:
    """Return the settings of a stream."""
    return settings.STREAM.parse(resource_metadata.load(ctx, stream).settings)


def stream_output(ctx: RequestContext, uid: str, stream: str) -> str:
    """Return the table that a stream writes, or the layer of its source; empty if there is neither."""
    return next(iter(edge_targets(ctx, stream, "writes") or edge_targets(ctx, uid, "into")), "")


def _ingest_step(
    ctx: RequestContext, uid: str, stream: str, reads: tuple[str, ...], options: RunOptions
) -> IngestStream:
    end = stream_output(ctx, uid, stream)
    if not end:
        raise ConflictError(
            f"The stream {quote(stream)} writes no table.", "Choose a table, or a layer for the source."
        )
    into = resolve_output(ctx, stream, end, stream_settings(ctx, stream).table)
    source, stored = (resource_metadata.load(ctx, each).settings for each in (uid, stream))
    settings.SOURCE.parse(source)
    return IngestStream(
        name=ctx.view.names.get(ctx.view.resource(stream)) or stream,
        reads=reads,
        writes=(into.target,),
        source=uid,
        source_settings=source,
        stream=stream,
        stream_settings=stored,
        into=into,
        reload=options.reload,
        span=options.span,
    )
