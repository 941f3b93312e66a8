"""The backfill of a source or a query: a past range of its cursor is run again."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import resource_metadata
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.connectors.sources.settings import SyncMode
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from lakehold.runs.runnable import BackfillSpan, RunOptions
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.cookies import Flash
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.runs.services import RUNS
from lakehold.workspaces.lakehouse.pages import pipeline_graph
from lakehold.workspaces.lakehouse.pages.pipeline_kinds import BACKFILL_KINDS, need_pipeline
from lakehold.workspaces.lakehouse.pipelines.tables import QueryPipeline

routes = router("/resources")


@dataclass(frozen=True, slots=True)
class BackfillCursor:
    """The cursor field of a backfill, and its stream."""

    stream: str
    field: str


@routes.get("/{uid:path}/pipeline/backfill")
def backfill_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the form."""
    return _page(request, ctx, _need_backfillable(ctx, uid), BackfillSpan())


@routes.post("/{uid:path}/pipeline/backfill")
def backfill(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Start the backfill as the caller."""
    found = _need_backfillable(ctx, uid)
    span = BackfillSpan(*(str(sent.get(name, "")).strip() for name in ("from", "until")))
    try:
        started = RUNS.start(ctx, uid, RunOptions(span=span))
    except InvalidInputError as error:
        return _page(request, ctx, found, span, errors={"from": str(error)})
    except ConflictError as error:
        return _page(request, ctx, found, span, error=error)
    return pages.redirect(request, urls.run(started.id), Flash(f"Backfill of {found.name} started."))


def _need_backfillable(ctx: RequestContext, uid: str) -> ResourceView:
    found = need_pipeline(ctx, uid)
    if found.kind not in BACKFILL_KINDS:
        raise InvalidInputError("This pipeline has no cursor.", "Run it, or run a full refresh.")
    ctx.need(RUNS.runnables[found.kind].stop, uid)
    return found


def _page(
    request: Request,
    ctx: RequestContext,
    found: ResourceView,
    span: BackfillSpan,
    *,
    errors: dict[str, str] | None = None,
    error: LakeholdError | None = None,
) -> Response:
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, found.uid, "Backfill"),
        "found": found,
        "to": urls.resource(found.uid, "pipeline/backfill"),
        "back": resource_header.overview_url(ctx, found.uid),
        "edit": kind_pages.edit_form_url(found.uid, found.kind),
        "span": span,
        "cursors": _visible_cursors(ctx, found),
        "errors": errors or {},
        "error": error,
    }
    return pages.render(request, "lakehouse/backfill.html", values, status=422 if errors or error else 200)


def _visible_cursors(ctx: RequestContext, found: ResourceView) -> list[BackfillCursor]:
    """Return the cursors of the streams that the caller may see."""
    if found.kind == QueryPipeline.kind:
        field = str((found.settings or {}).get("cursor", ""))
        return [BackfillCursor("", field)] if field else []
    streams = VisibleRefs(ctx).refs(pipeline_graph.stream_ids(ctx, found.uid))
    stream_settings = [(each.name, resource_metadata.load(ctx, each.uid).settings) for each in streams]
    return [
        BackfillCursor(name, str(of.get("cursor", "")))
        for name, of in stream_settings
        if of.get("mode") == SyncMode.INCREMENTAL
    ]
