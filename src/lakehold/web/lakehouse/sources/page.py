"""What is told of a source on its own page: its connection without secrets, its streams and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from lakehold.catalog import credentials, resource_metadata
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs, attributes_of
from lakehold.directory.request_context import RequestContext
from lakehold.runs.service import Run, StepState
from lakehold.web import urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.labels import format_count
from lakehold.web.lakehouse import ways
from lakehold.web.lakehouse.doing import RUNS
from lakehold.web.lakehouse.sources import connection, steps
from lakehold.web.lakehouse.sources.streams import MODES
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND

TEMPLATE = "lakehouse/source.html"
_WORDS = {word: label for word, label, _, _ in connection.CONNECTORS}
_WAYS = {"none": "Without anything", "bearer": "With a token", "basic": "With a password", "key": "With a key"}


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of a source, and what became of it last."""

    ref: ResourceRef
    is_on: bool
    into: ResourceRef | None
    """Its table, or the layer in which it will be made; None if the caller does not see it."""
    name: str
    """What the table is to be called, if it is not there."""
    mode: str
    preview: str
    last: StepState | None
    run: str
    """The run that this was in."""


def about(ctx: RequestContext, eyes: VisibleRefs, found: ResourceView, runs: Sequence[Run]) -> dict[str, object]:
    """For the page."""
    here, setup = urls.resource, steps.at(found.uid, steps.CONNECT)
    streams = _streams(ctx, eyes, found, runs)
    change = PageAction("Edit", here(found.uid, steps.CONNECT), icon="pencil")
    choose = PageAction("Choose streams", here(found.uid, steps.STREAMS), icon="pencil")
    is_set = found.settings is not None and bool(found.settings.get("connector"))
    if is_set and not streams:
        setup = steps.at(found.uid, steps.STREAMS)
    return {
        "connection": None if found.settings is None else _connection(ctx, eyes, found),
        "is_set": is_set or found.settings is None,
        "setup": setup,
        "change": resource_header.actions_of(ctx, found.uid, {"edit": change})[0],
        "choose": resource_header.actions_of(ctx, found.uid, {"edit": choose})[0],
        "streams": streams,
        "layer": LAYER_KIND,
    }


def _connection(ctx: RequestContext, eyes: VisibleRefs, found: ResourceView) -> list[tuple[str, str]]:
    told = found.settings or {}
    filled = connection.present(found)
    kept = credentials.list_names(ctx, found.uid)
    secret = [(name.capitalize(), "Kept, and not shown") for name in kept]
    match filled.connector:
        case "files":
            volume = eyes.ref(filled.text("volume"))
            place = [("Volume", volume.name if volume else "Not visible to you"), ("Folder", filled.text("folder"))]
        case "database":
            schemas = filled.text("schemas")
            place = [("Address", str(told.get("address", ""))), ("User name", filled.text("user"))]
            place += [("Schemas", schemas or "That of the connection"), *secret]
        case "api":
            auth = _WAYS.get(filled.text("auth"), filled.text("auth"))
            place = [("Address", filled.text("address")), ("Let in", auth), *secret]
            place += [("Endpoints", format_count(len(filled.endpoints), "endpoint"))]
        case _:
            return []
    return [("From", _WORDS[filled.connector]), *place]


def _streams(ctx: RequestContext, eyes: VisibleRefs, found: ResourceView, runs: Sequence[Run]) -> list[Stream]:
    seen = sorted(eyes.refs(ways.streams(ctx, found.uid)), key=lambda ref: ref.name.casefold())
    last = _last(ctx, runs)
    return [_stream(ctx, eyes, found, ref, last.get(ref.name)) for ref in seen]


def _stream(
    ctx: RequestContext, eyes: VisibleRefs, found: ResourceView, ref: ResourceRef, last: tuple[str, StepState] | None
) -> Stream:
    told = resource_metadata.load(ctx, ref.uid).settings if found.settings is not None else {}
    on = ctx.session.read_view(lambda view: attributes_of(view, ref.uid).get("enabled"))
    end = next(iter(edge_targets(ctx, ref.uid, "writes") or edge_targets(ctx, found.uid, "into")), "")
    preview = f"{urls.resource(found.uid, steps.PREVIEW)}?{urlencode({'stream': ref.uid})}"
    return Stream(
        ref,
        on != "false",
        eyes.ref(end),
        str(told.get("table", "")),
        dict(MODES).get(str(told.get("mode", "")), ""),
        preview if found.settings is not None else "",
        last[1] if last else None,
        last[0] if last else "",
    )


def _last(ctx: RequestContext, runs: Sequence[Run]) -> dict[str, tuple[str, StepState]]:
    """What became of each stream in the newest run that it was in."""
    found: dict[str, tuple[str, StepState]] = {}
    for run in runs:
        for step in RUNS.get(ctx, run.id).steps:
            found.setdefault(step.name, (run.id, step))
    return found
