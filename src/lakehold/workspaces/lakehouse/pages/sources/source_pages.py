"""The section of a source on the pipeline page, and the page on which its streams are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.http.dependencies import read_transaction, write_transaction
from lakehold.catalog import credentials, resource_metadata
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs, attributes_of
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.runs.service import Run, StepState
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.cookies import Flash
from lakehold.web.form_values import CORRECTABLE_ERRORS
from lakehold.web.labels import format_count
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.runs.services import RUNS
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.lakehouse.pages import pipeline_graph, table_options
from lakehold.workspaces.lakehouse.pages.sources import setup_pages, stream_form
from lakehold.workspaces.lakehouse.pages.sources.setup_pages import SourceProbe, need_source
from lakehold.workspaces.lakehouse.pages.sources.stream_form import SYNC_MODES
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND

TEMPLATE = "lakehouse/source.html"


@dataclass(frozen=True, slots=True)
class StreamRow:
    """A stream of a source with its last run step."""

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


def source_values(
    ctx: RequestContext, eyes: VisibleRefs, found: ResourceView, runs: Sequence[Run]
) -> dict[str, object]:
    """Return the template values of the page."""
    here, setup = urls.resource, setup_pages.setup_url(found.uid, setup_pages.CONNECT)
    streams = _streams(ctx, eyes, found, runs)
    change = PageAction("Edit", here(found.uid, setup_pages.CONNECT), icon="pencil")
    choose = PageAction("Select streams", here(found.uid, setup_pages.STREAMS), icon="pencil")
    is_set = found.settings is not None and bool(found.settings.get("connector"))
    if is_set and not streams:
        setup = setup_pages.setup_url(found.uid, setup_pages.STREAMS)
    return {
        "connection": None if found.settings is None else _connection_facts(ctx, eyes, found),
        "is_set": is_set or found.settings is None,
        "setup": setup,
        "change": resource_header.actions_of(ctx, found.uid, {"edit": change})[0],
        "choose": resource_header.actions_of(ctx, found.uid, {"edit": choose})[0],
        "streams": streams,
        "layer": LAYER_KIND,
    }


def _connection_facts(ctx: RequestContext, eyes: VisibleRefs, found: ResourceView) -> list[tuple[str, str]]:
    filled = setup_pages.SourceFormPage.design.from_resource(found)
    volume = eyes.ref(filled.text("volume"))
    named = replace(filled, labels={"volume": volume.name if volume else "Not visible to you"})
    return named.describe(credentials.list_names(ctx, found.uid), "From")


def _streams(ctx: RequestContext, eyes: VisibleRefs, found: ResourceView, runs: Sequence[Run]) -> list[StreamRow]:
    seen = sorted(eyes.refs(pipeline_graph.stream_ids(ctx, found.uid)), key=lambda ref: ref.name.casefold())
    last = _last_steps(ctx, runs)
    return [_stream(ctx, eyes, found, ref, last.get(ref.name)) for ref in seen]


def _stream(
    ctx: RequestContext, eyes: VisibleRefs, found: ResourceView, ref: ResourceRef, last: tuple[str, StepState] | None
) -> StreamRow:
    settings = resource_metadata.load(ctx, ref.uid).settings if found.settings is not None else {}
    on = ctx.session.read_view(lambda view: attributes_of(view, ref.uid).get("enabled"))
    end = next(iter(edge_targets(ctx, ref.uid, "writes") or edge_targets(ctx, found.uid, "into")), "")
    preview = f"{urls.resource(found.uid, setup_pages.PREVIEW)}?{urlencode({'stream': ref.uid})}"
    return StreamRow(
        ref,
        on != "false",
        eyes.ref(end),
        str(settings.get("table", "")),
        dict(SYNC_MODES).get(str(settings.get("mode", "")), ""),
        preview if found.settings is not None else "",
        last[1] if last else None,
        last[0] if last else "",
    )


def _last_steps(ctx: RequestContext, runs: Sequence[Run]) -> dict[str, tuple[str, StepState]]:
    """Return the newest run id and step of each stream."""
    found: dict[str, tuple[str, StepState]] = {}
    for run in runs:
        for step in RUNS.get(ctx, run.id).steps:
            found.setdefault(step.name, (run.id, step))
    return found


routes = router("/resources")


@routes.get("/{uid:path}/streams")
def streams_page(request: Request, uid: str) -> Response:
    """Render the streams that a worker finds at the source, and those that are saved."""
    found = read_transaction(request).run(lambda ctx: need_source(ctx, uid))
    seen = setup_pages.probe_source(request, {"source": uid, "settings": dict(found.settings or {})})

    def page(ctx: RequestContext) -> Response:
        layer = next((end.name for end in found.edges.get("into", ())), "")
        rows = stream_form.merge_stream_rows(stream_form.saved_stream_rows(ctx, uid), seen.streams, layer)
        return _page(request, ctx, found, rows, seen=seen)

    return read_transaction(request).run(page)


@routes.post("/{uid:path}/streams")
def choose(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Save the chosen streams, all or none."""
    reading, rows = read_transaction(request), stream_form.parse_stream_rows(sent)
    found = reading.run(lambda ctx: need_source(ctx, uid))
    if str(sent.get("do", "")) == "more":
        named = _add_named(found, rows, str(sent.get("more", "")).strip())
        return reading.run(lambda ctx: _page(request, ctx, found, named))
    errors = reading.run(lambda ctx: _errors(ctx, found, rows))
    if errors:
        return reading.run(lambda ctx: _page(request, ctx, found, rows, errors=errors))
    try:
        count = write_transaction(request).run(
            lambda ctx: stream_form.save_streams(ctx, uid, rows, _targets(ctx, found))
        )
    except CORRECTABLE_ERRORS as refusal:
        error = refusal
        return reading.run(lambda ctx: _page(request, ctx, found, rows, error=error))
    setup = setup_pages.is_setup(request)
    to = (
        setup_pages.setup_url(uid, setup_pages.PREVIEW)
        if setup
        else reading.run(lambda ctx: resource_header.overview_url(ctx, uid))
    )
    return pages.redirect(request, to, Flash(f"{format_count(count, 'stream')} on."))


def _add_named(
    found: ResourceView, rows: Sequence[stream_form.StreamFormRow], name: str
) -> list[stream_form.StreamFormRow]:
    layer = next((end.name for end in found.edges.get("into", ())), "")
    known = {row.stream for row in rows}
    return [*rows, stream_form.named_stream_row(name, layer)] if name and name not in known else list(rows)


def _errors(ctx: RequestContext, found: ResourceView, rows: Sequence[stream_form.StreamFormRow]) -> dict[str, str]:
    targets, errors = _targets(ctx, found), dict[str, str]()
    for n, row in enumerate(rows):
        if row.on:
            errors |= row.errors(n, targets)
    if not any(row.on for row in rows) and not any(row.uid for row in rows):
        errors["streams"] = "Select at least one stream."
    return errors


def _targets(ctx: RequestContext, found: ResourceView) -> table_options.WriteTargets:
    return table_options.write_targets(ctx, found.workspace.uid if found.workspace else "")


def _page(
    request: Request,
    ctx: RequestContext,
    found: ResourceView,
    rows: Sequence[stream_form.StreamFormRow],
    *,
    seen: SourceProbe | None = None,
    errors: dict[str, str] | None = None,
    error: LakeholdError | None = None,
) -> Response:
    setup, targets = setup_pages.is_setup(request), _targets(ctx, found)
    settings = found.settings or {}
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, found.uid, "Streams"),
        "found": found,
        "steps": setup_pages.setup_steps(setup_pages.STREAMS, found.uid) if setup else [],
        "setup": setup,
        "to": setup_pages.step_url(found.uid, setup_pages.STREAMS, setup=setup),
        "back": resource_header.overview_url(ctx, found.uid),
        "connection": setup_pages.step_url(found.uid, setup_pages.CONNECT, setup=setup),
        "rows": list(enumerate(rows)),
        "modes": stream_form.SYNC_MODES,
        "cut": len(rows) == stream_form.MAX_STREAMS,
        "tables": sorted([*targets.tables, *(f"{layer}." for layer in targets.layers)], key=str.casefold),
        "unseen": seen.error if seen else None,
        "is_files": settings.get("connector") == "files",
        "errors": errors or {},
        "error": error,
    }
    return pages.render(request, "lakehouse/streams.html", values, status=422 if errors or error else 200)
