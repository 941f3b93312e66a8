"""The section of a source on the pipeline page, and the page on which its streams are chosen."""

from collections.abc import Iterator, Sequence

from fastapi import Request, Response

from lakehold.api.http.dependencies import read_transaction, write_transaction
from lakehold.catalog import resource_metadata
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.runs.service import Run, StepState
from lakehold.web import pages, urls
from lakehold.web.connections.form_page import workspace_id
from lakehold.web.form_values import CORRECTABLE_ERRORS
from lakehold.web.labels import format_count
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.runs import RUNS
from lakehold.workspaces.lakehouse.pages.page_frame import write_targets
from lakehold.workspaces.lakehouse.pages.sources import setup_pages, stream_form
from lakehold.workspaces.lakehouse.pages.sources.stream_form import SYNC_MODES, StreamFormRow
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND
from lakehold.workspaces.lakehouse.pipelines.connections import stream_output

TEMPLATE = "lakehouse/source.html"


def source_values(
    ctx: RequestContext, visible: VisibleRefs, found: ResourceView, runs: Sequence[Run]
) -> dict[str, object]:
    """Return the template values of the page."""
    page = setup_pages.SourceFormPage
    streams = list(_stream_rows(ctx, visible, found, runs))
    is_set = found.settings is not None and bool(found.settings.get("connector"))
    next_step = setup_pages.STREAMS if is_set and not streams else setup_pages.CONNECT
    return {
        "connection": None if found.settings is None else page.describe_connection(ctx, visible, found, "From"),
        "is_set": is_set or found.settings is None,
        "setup": setup_pages.step_url(found.uid, next_step),
        "streams": streams,
        "layer": LAYER_KIND,
        "modes": dict(SYNC_MODES),
    }


def _stream_rows(
    ctx: RequestContext, visible: VisibleRefs, found: ResourceView, runs: Sequence[Run]
) -> Iterator[tuple[object, ...]]:
    """Yield the streams that the caller sees: reference, whether it is on, its table or the layer in which that will be
    made (None if the caller does not see it), settings (of editors alone), and run and step in which it was last read.
    """
    last: dict[str, tuple[str, StepState]] = {}
    for run in runs:
        for step in RUNS.get(ctx, run.id).steps:
            last.setdefault(step.name, (run.id, step))
    for ref in stream_form.visible_streams(ctx, visible, found.uid):
        settings = resource_metadata.load(ctx, ref.uid).settings if found.settings is not None else {}
        end = visible.ref(stream_output(ctx, found.uid, ref.uid))
        yield ref, stream_form.is_on(ctx, ref.uid), end, settings, *last.get(ref.name, ("", None))


routes = router("/resources")


@routes.get("/{uid:path}/streams")
def streams_page(request: Request, uid: str) -> Response:
    """Render the streams that a worker finds at the source, and those that are saved."""
    found = read_transaction(request).run(lambda ctx: setup_pages.need_source(ctx, uid))
    if sent := pages.restored_form(request):
        restored = stream_form.parse_stream_rows(sent)
        return read_transaction(request).run(lambda ctx: _page(request, ctx, found, restored))
    probed, error = setup_pages.probe_source(request, {"source": uid, "settings": dict(found.settings or {})})

    def page(ctx: RequestContext) -> Response:
        layer = next((end.name for end in found.edges.get("into", ())), "")
        kept = stream_form.saved_stream_rows(ctx, uid)
        rows = stream_form.merge_stream_rows(kept, probed.get("streams", ()), layer)
        return _page(request, ctx, found, rows, probe_error=error)

    return read_transaction(request).run(page)


@routes.post("/{uid:path}/streams")
def choose(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Save the chosen streams, all or none."""
    reading, rows = read_transaction(request), stream_form.parse_stream_rows(sent)
    found = reading.run(lambda ctx: setup_pages.need_source(ctx, uid))
    if str(sent.get("do", "")) == "more":
        named = _add_named(found, rows, str(sent.get("more", "")).strip())
        return reading.run(lambda ctx: _page(request, ctx, found, named))
    errors = reading.run(lambda ctx: _errors(ctx, found, rows))
    if errors:
        return reading.run(lambda ctx: _page(request, ctx, found, rows, errors=errors))
    try:
        count = write_transaction(request).run(
            lambda ctx: stream_form.save_streams(ctx, uid, rows, write_targets(ctx, workspace_id(found)))
        )
    except CORRECTABLE_ERRORS as refusal:
        error = refusal
        return reading.run(lambda ctx: _page(request, ctx, found, rows, error=error))
    setup = setup_pages.is_setup(request)
    to = setup_pages.step_url(uid, setup_pages.PREVIEW) if setup else urls.resource(uid, "pipeline")
    return pages.redirect(request, to, f"{format_count(count, 'stream')} on.")


def _add_named(found: ResourceView, rows: Sequence[StreamFormRow], name: str) -> list[StreamFormRow]:
    layer = next((end.name for end in found.edges.get("into", ())), "")
    known = {row.stream for row in rows}
    return [*rows, stream_form.named_stream_row(name, layer)] if name and name not in known else list(rows)


def _errors(ctx: RequestContext, found: ResourceView, rows: Sequence[StreamFormRow]) -> dict[str, str]:
    targets, errors = write_targets(ctx, workspace_id(found)), dict[str, str]()
    for n, row in enumerate(rows):
        if row.on:
            errors |= row.errors(n, targets)
    if not any(row.on for row in rows) and not any(row.uid for row in rows):
        errors["streams"] = "Select at least one stream."
    return errors


def _page(
    request: Request,
    ctx: RequestContext,
    found: ResourceView,
    rows: Sequence[StreamFormRow],
    *,
    probe_error: LakeholdError | None = None,
    errors: dict[str, str] | None = None,
    error: LakeholdError | None = None,
) -> Response:
    targets = write_targets(ctx, workspace_id(found))
    values: dict[str, object] = {
        **setup_pages.step_values(ctx, found, setup_pages.STREAMS, setup=setup_pages.is_setup(request)),
        "rows": list(enumerate(rows)),
        "modes": stream_form.SYNC_MODES,
        "cut": len(rows) == stream_form.MAX_STREAMS,
        "tables": sorted([*targets.tables, *(f"{layer}." for layer in targets.layers)], key=str.casefold),
        "unseen": probe_error,
        "is_files": (found.settings or {}).get("connector") == "files",
    }
    return pages.render_form(request, "lakehouse/streams.html", values, errors, error)
