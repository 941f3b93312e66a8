"""A source: each of its streams that is enabled goes into a table."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.access.facts.view import FactView
from lakehold.catalog import resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote
from lakehold.runs.runnable import RunOptions, Step
from lakehold.workspaces.ends import ends
from lakehold.workspaces.lakehouse.pipelines.pipeline import Pipeline, output
from lakehold.workspaces.lakehouse.steps import Ingest
from lakehold.workspaces.told import SettingsReader

STREAM = "lakehouse.stream"
INCREMENTAL = "incremental"
_OFF = "false"


class SourcePipeline(Pipeline):
    """Its settings are those of its connector. Of a stream: `stream`, `mode`, `keys`, `cursor`, `table` and more."""

    kind = "lakehouse.source"
    word = "source"

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """The tables of its streams, or the layer of those that are to be made."""
        found = [_end(ctx, uid, stream) for stream in streams(ctx, uid)]
        return list(dict.fromkeys(end for end in found if end))

    def steps(self, ctx: RequestContext, uid: str, wanted: RunOptions) -> Sequence[Step]:
        """One for each stream that is enabled."""
        readable_files(ctx, self.told(ctx, uid))
        found = streams(ctx, uid)
        if not found:
            raise ConflictError(f"No stream of the source {quote(uid)} is enabled.", "Enable at least one.")
        if wanted.span is not None:
            found = _by_cursor(ctx, uid, found)
        return [_step(ctx, uid, stream, wanted) for stream in found]


def streams(ctx: RequestContext, uid: str) -> list[str]:
    """The streams that are enabled, by name."""

    def found(view: FactView) -> list[str]:
        enabled = view.attributes["enabled"]
        inside = (child for child in view.children(view.resource(uid)) if view.kind(child) == STREAM)
        counted = [child for child in inside if enabled.get(child) != _OFF]
        return [view.uid(child) for child in sorted(counted, key=lambda child: (view.names.get(child) or "", child))]

    return ctx.session.read_view(found)


def _by_cursor(ctx: RequestContext, uid: str, found: Sequence[str]) -> list[str]:
    """Those that are read bit by bit: only these have a span. The others are read as a whole each time."""
    some = [stream for stream in found if told_of(ctx, stream).text("mode", "") == INCREMENTAL]
    if not some:
        raise ConflictError(
            f"No stream of the source {quote(uid)} is read by a cursor, so it has no span.",
            f"Set the mode of a stream to {INCREMENTAL}, or reload it.",
        )
    return some


def readable_files(ctx: RequestContext, told: SettingsReader) -> None:
    """A source that reads files of a volume reads no more than the person may."""
    if told.text("connector", "") == "files":
        ctx.need("read", told.text("volume"))


def told_of(ctx: RequestContext, stream: str) -> SettingsReader:
    """The settings of a stream."""
    return SettingsReader(resource_metadata.load(ctx, stream).settings, "stream")


def _end(ctx: RequestContext, uid: str, stream: str) -> str:
    return next(iter(ends(ctx, stream, "writes") or ends(ctx, uid, "into")), "")


def _step(ctx: RequestContext, uid: str, stream: str, wanted: RunOptions) -> Ingest:
    end = _end(ctx, uid, stream)
    if not end:
        raise ConflictError(
            f"The stream {quote(stream)} writes no table.", "Choose a table, or a layer for the source."
        )
    into = output(ctx, stream, end, told_of(ctx, stream))
    name = ctx.view.names.get(ctx.view.resource(stream)) or stream
    return Ingest(
        name=name, writes=(into.end,), source=uid, stream=stream, into=into, reload=wanted.reload, span=wanted.span
    )
