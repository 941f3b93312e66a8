"""A source: each of its streams that is enabled goes into a table."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.access.facts.view import View
from lakehold.catalog import details
from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import shown
from lakehold.runs.runnable import Step, Wanted
from lakehold.workspaces.ends import ends
from lakehold.workspaces.lakehouse.pipelines.pipeline import Pipeline, output
from lakehold.workspaces.lakehouse.steps import Ingest
from lakehold.workspaces.told import Told

STREAM = "lakehouse.stream"
INCREMENTAL = "incremental"
_OFF = "false"


class SourcePipeline(Pipeline):
    """Its settings are those of its connector. Of a stream: `stream`, `mode`, `keys`, `cursor`, `table` and more."""

    kind = "lakehouse.source"
    word = "source"

    def outputs(self, work: Work, uid: str) -> Sequence[str]:
        """The tables of its streams, or the layer of those that are to be made."""
        found = [_end(work, uid, stream) for stream in streams(work, uid)]
        return list(dict.fromkeys(end for end in found if end))

    def steps(self, work: Work, uid: str, wanted: Wanted) -> Sequence[Step]:
        """One for each stream that is enabled."""
        readable_files(work, self.told(work, uid))
        found = streams(work, uid)
        if not found:
            raise ConflictError(f"No stream of the source {shown(uid)} is enabled.", "Enable at least one.")
        if wanted.span is not None:
            found = _by_cursor(work, uid, found)
        return [_step(work, uid, stream, wanted) for stream in found]


def streams(work: Work, uid: str) -> list[str]:
    """The streams that are enabled, by name."""

    def found(view: View) -> list[str]:
        enabled = view.attributes["enabled"]
        inside = (child for child in view.inside(view.resource(uid)) if view.kind(child) == STREAM)
        counted = [child for child in inside if enabled.get(child) != _OFF]
        return [view.uid(child) for child in sorted(counted, key=lambda child: (view.names.get(child) or "", child))]

    return work.session.asking(found)


def _by_cursor(work: Work, uid: str, found: Sequence[str]) -> list[str]:
    """Those that are read bit by bit: only these have a span. The others are read as a whole each time."""
    some = [stream for stream in found if told_of(work, stream).text("mode", "") == INCREMENTAL]
    if not some:
        raise ConflictError(
            f"No stream of the source {shown(uid)} is read by a cursor, so it has no span.",
            f"Set the mode of a stream to {INCREMENTAL}, or reload it.",
        )
    return some


def readable_files(work: Work, told: Told) -> None:
    """A source that reads files of a volume reads no more than the person may."""
    if told.text("connector", "") == "files":
        work.need("read", told.text("volume"))


def told_of(work: Work, stream: str) -> Told:
    """The settings of a stream."""
    return Told(details.read(work, stream).settings, "stream")


def _end(work: Work, uid: str, stream: str) -> str:
    return next(iter(ends(work, stream, "writes") or ends(work, uid, "into")), "")


def _step(work: Work, uid: str, stream: str, wanted: Wanted) -> Ingest:
    end = _end(work, uid, stream)
    if not end:
        raise ConflictError(
            f"The stream {shown(stream)} writes no table.", "Choose a table, or a layer for the source."
        )
    into = output(work, stream, end, told_of(work, stream))
    name = work.view.names.get(work.view.resource(stream)) or stream
    return Ingest(
        name=name, writes=(into.end,), source=uid, stream=stream, into=into, reload=wanted.reload, span=wanted.span
    )
