"""The overview page of a pipeline: inputs, outputs, settings, latest runs and triggers, and the section of its kind."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.catalog import kinds
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.runs.service import Run
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.labels import humanize
from lakehold.web.routing import router
from lakehold.web.runs import labels
from lakehold.web.runs.run_list import run_rows
from lakehold.web.runs.runnable_page import latest_runs, runnable_frame, sees_runs
from lakehold.web.runs.services import RUNS, TRIGGERS
from lakehold.web.schedules import schedule_form
from lakehold.workspaces.lakehouse import connection_access, integrations
from lakehold.workspaces.lakehouse.pages import destination_pages, integration_page, pipeline_graph
from lakehold.workspaces.lakehouse.pages.pipeline_kinds import BACKFILL_KINDS, PIPELINE_KINDS, need_pipeline
from lakehold.workspaces.lakehouse.pages.sources import source_pages

routes = router("/resources")

_LATEST = 5
_EXCLUDED_SETTINGS = frozenset({"sql"})
_SETTING_LABELS = {
    "at": "Valid-from field",
    "cursor": "Cursor field",
    "closes_missing": "Close deleted rows",
    "evolution": "Schema changes",
    "keys": "Keys",
    "last_by": "Deduplicate by latest",
    "mode": "Write mode",
    "partitioned_by": "Partitioned by",
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
    found = need_pipeline(ctx, uid)
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, found.kind).visible, uid)
    eyes = VisibleRefs(ctx)
    runs = latest_runs(ctx, found, _LATEST)
    read, written = pipeline_graph.read_ids(ctx, uid), pipeline_graph.written_ids(ctx, eyes, uid)
    template, section = _kind_section(request, ctx, eyes, found, runs)
    values: dict[str, object] = {
        **runnable_frame(ctx, found, "pipeline"),
        "may": resource_header.actions_of(ctx, uid),
        "reads": eyes.refs(read),
        "writes": eyes.refs(written),
        "more_read": not all(map(eyes.sees, read)),
        "more_written": not all(map(eyes.sees, written)),
        "sql": str((found.settings or {}).get("sql", "")),
        "settings": None if found.settings is None else describe_settings(found.settings),
        "runs": run_rows(ctx, runs),
        "triggers": TRIGGERS.for_resource(ctx, uid) if sees_runs(found) else [],
        "said": schedule_form.describe_cron,
        "followed": lambda trigger: eyes.refs(trigger.when.after),
        "tones": labels.TONES,
        "signs": labels.ICONS,
    }
    return pages.render(request, template, values | section)


def _kind_section(
    request: Request, ctx: RequestContext, eyes: VisibleRefs, found: ResourceView, runs: Sequence[Run]
) -> tuple[str, dict[str, object]]:
    """Return the template of a kind, and the values that it needs beside those of all pipelines."""
    if found.kind == connection_access.SOURCE_KIND:
        return source_pages.TEMPLATE, source_pages.source_values(ctx, eyes, found, runs)
    if found.kind == connection_access.DESTINATION_KIND:
        return destination_pages.TEMPLATE, destination_pages.destination_values(ctx, eyes, found, runs)
    if found.kind == integrations.INTEGRATION_KIND:
        # It is called by tools, and never run.
        return integration_page.TEMPLATE, {
            **integration_page.integration_values(request, ctx, eyes, found),
            "run_now": [],
        }
    return "lakehouse/pipeline.html", {}


def describe_settings(settings: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return settings as pairs of label and value. Nested values are shown as JSON."""
    return [
        (_SETTING_LABELS.get(name, humanize(name)), _value_label(name, value))
        for name, value in sorted(settings.items())
        if name not in _EXCLUDED_SETTINGS and value not in ("", [], {}, None)
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
    """Return what the menu of a pipeline offers beside what all resources that are run have."""
    if found.kind not in PIPELINE_KINDS:
        return []
    graph = urls.workspace(found.workspace.uid, "pipelines/graph") if found.workspace else ""
    graph_action = PageAction("Show in graph", f"{graph}?{urlencode({'focus': found.uid})}", icon="git-branch")
    return [
        *([graph_action] if graph else []),
        *_backfill_actions(ctx, found),
        *integration_page.activation_actions(ctx, found),
    ]


def _backfill_actions(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    if found.kind not in BACKFILL_KINDS:
        return []
    past = PageAction("Backfill…", urls.resource(found.uid, "pipeline/backfill"), icon="history")
    return resource_header.actions_of(ctx, found.uid, {RUNS.runnables[found.kind].stop: past})
