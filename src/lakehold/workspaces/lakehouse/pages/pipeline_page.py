"""The overview page of a pipeline: inputs, outputs, settings, runs and triggers; and the backfill of a past range."""

import json
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, FormContext, ReadContext
from lakehold.catalog import kinds, resource_metadata
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.connectors.settings import SyncMode
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.runs.runnable import BackfillSpan, RunOptions
from lakehold.runs.service import Run
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.form_values import FieldErrors, text_field
from lakehold.web.labels import humanize
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router
from lakehold.web.runs import RUNS
from lakehold.web.runs.runnable_page import latest_runs, overview_values
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.lakehouse import integrations
from lakehold.workspaces.lakehouse.pages import destination_pages, integration_page, pipeline_list
from lakehold.workspaces.lakehouse.pages.sources import source_pages
from lakehold.workspaces.lakehouse.pipelines.connections import DestinationPipeline, SourcePipeline
from lakehold.workspaces.lakehouse.pipelines.tables import QueryPipeline

routes = router("/resources")

_LATEST = 5
_BACKFILL_KINDS = frozenset({SourcePipeline.kind, QueryPipeline.kind})
_SETTING_LABELS = {
    "at": "Valid-from field",
    "cursor": "Cursor field",
    "closes_missing": "Close deleted rows",
    "evolution": "Schema changes",
    "last_by": "Deduplicate by latest",
    "mode": "Write mode",
    "table": "New table",
}
_VALUE_LABELS = {
    ("mode", "overwrite"): "Full refresh",
    ("mode", "append"): "Append",
    ("mode", "merge"): "Upsert by key",
    ("mode", "mirror"): "Mirror by key",
    ("evolution", "merge"): "Add new fields",
    ("evolution", "strict"): "Reject",
    ("evolution", "overwrite"): "Replace the fields",
}


@routes.get("/{uid:path}/pipeline")
def pipeline_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str) -> Response:
    """Render the page of a pipeline."""
    found = pipeline_list.need_pipeline(ctx, uid)
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, found.kind).visible, uid)
    visible = VisibleRefs(ctx)
    runs = latest_runs(ctx, found, _LATEST)
    read, written = edge_targets(ctx, uid, "reads"), pipeline_list.written_ids(ctx, visible, uid)
    template, section = _kind_section(request, ctx, visible, found, runs)
    values: dict[str, object] = {
        **overview_values(ctx, found, "pipeline", runs),
        "reads": visible.refs(read),
        "writes": visible.refs(written),
        "more_read": not all(map(visible.sees, read)),
        "more_written": not all(map(visible.sees, written)),
        "sql": str((found.settings or {}).get("sql", "")),
        "settings": None if found.settings is None else describe_settings(found.settings),
    }
    return pages.render(request, template, values | section)


def _kind_section(
    request: Request, ctx: RequestContext, visible: VisibleRefs, found: ResourceView, runs: Sequence[Run]
) -> tuple[str, dict[str, object]]:
    """Return the template of a kind, and the values that it needs beside those of all pipelines."""
    match found.kind:
        case SourcePipeline.kind:
            return source_pages.TEMPLATE, source_pages.source_values(ctx, visible, found, runs)
        case DestinationPipeline.kind:
            return destination_pages.TEMPLATE, destination_pages.destination_values(ctx, visible, found, runs)
        case integrations.INTEGRATION_KIND:
            # It is called by tools, and never run.
            values = integration_page.integration_values(request, ctx, visible, found)
            return integration_page.TEMPLATE, values | {"run_now": []}
    return "lakehouse/pipeline.html", {}


def describe_settings(settings: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return settings as pairs of label and value. Nested values are shown as JSON."""
    return [
        (_SETTING_LABELS.get(name, humanize(name)), _value_label(name, value))
        for name, value in sorted(settings.items())
        if name != "sql" and value not in ("", [], {}, None)
    ]


def _value_label(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, str):
        return _VALUE_LABELS.get((name, value), value)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)


def menu_actions(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    """Return the menu actions that only pipelines have."""
    if found.kind not in pipeline_list.PIPELINE_KINDS:
        return []
    actions = []
    if found.workspace:
        graph = f"{urls.workspace(found.workspace.uid, 'pipelines/graph')}?{urlencode({'focus': found.uid})}"
        actions.append(PageAction("Show in graph", graph, icon="git-branch"))
    if found.kind in _BACKFILL_KINDS:
        past = PageAction("Backfill…", urls.resource(found.uid, "pipeline/backfill"), icon="history")
        actions += resource_header.actions_of(ctx, found.uid, {RUNS.runnables[found.kind].stop: past})
    return [*actions, *integration_page.activation_actions(ctx, found)]


@routes.api_route("/{uid:path}/pipeline/backfill", methods=FORM_METHODS)
def backfill(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Show the form; start the backfill as the caller."""
    found, errors, refusal = pipeline_list.need_pipeline(ctx, uid), FieldErrors(), None
    if found.kind not in _BACKFILL_KINDS:
        raise InvalidInputError("This pipeline has no cursor.", "Run it, or run a full refresh.")
    ctx.need(RUNS.runnables[found.kind].stop, uid)
    span = BackfillSpan(*(text_field(sent, name).strip() for name in ("from", "until")))
    if request.method == "POST":
        try:
            started = RUNS.start(ctx, uid, RunOptions(span=span))
            return pages.redirect(request, urls.run(started.id), f"Backfill of {found.name} started.")
        except InvalidInputError as error:
            errors["from"] = str(error)
        except ConflictError as error:
            refusal = error
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Backfill"),
        "found": found,
        "to": urls.resource(uid, "pipeline/backfill"),
        "back": resource_header.overview_url(ctx, uid),
        "edit": kind_pages.edit_form_url(uid, found.kind),
        "span": span,
        "cursors": _visible_cursors(ctx, found),
    }
    return pages.render_form(request, "lakehouse/backfill.html", values, errors, refusal)


def _visible_cursors(ctx: RequestContext, found: ResourceView) -> list[tuple[str, str]]:
    """Return the streams that the caller may see, each with its cursor field; a query has no stream."""
    if found.kind == QueryPipeline.kind:
        field = str((found.settings or {}).get("cursor", ""))
        return [("", field)] if field else []
    streams = VisibleRefs(ctx).refs(pipeline_list.stream_ids(ctx, found.uid))
    stream_settings = [(each.name, resource_metadata.load(ctx, each.uid).settings) for each in streams]
    return [
        (name, str(settings.get("cursor", "")))
        for name, settings in stream_settings
        if settings.get("mode") == SyncMode.INCREMENTAL
    ]
