"""The page of a pipeline: inputs, outputs, settings and runs; run, reload, activate and deactivate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.catalog import kinds, resources
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.runs import run_table as states
from lakehold.runs.runnable import RunOptions
from lakehold.runs.scheduler.service import ACTIVATE, DEACTIVATE
from lakehold.runs.service import Run
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.cookies import Flash
from lakehold.web.labels import humanize
from lakehold.web.lineage import resource_graph
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.runs import labels
from lakehold.web.runs.run_list import COLUMNS, run_rows
from lakehold.web.runs.services import PIPELINE_KINDS, RUNNABLE_KINDS, RUNS, TRIGGERS
from lakehold.web.schedules import schedule_form
from lakehold.workspaces.lakehouse import connection_access, integrations
from lakehold.workspaces.lakehouse.pages import destination_pages as destination_page
from lakehold.workspaces.lakehouse.pages import integration_page
from lakehold.workspaces.lakehouse.pages.sources import source_pages as source_page

activation_routes = router("/resources")


@activation_routes.post("/{uid:path}/pipeline/activate")
def activate(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Activate the triggers of a pipeline; it runs as the caller."""
    said = _set_active(ctx, uid, active=True)
    flash = Flash(said, undo=urls.resource(uid, "pipeline/deactivate"))
    return pages.redirect(request, resource_header.overview_url(ctx, uid), flash)


@activation_routes.post("/{uid:path}/pipeline/deactivate")
def deactivate(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Deactivate the triggers of a pipeline."""
    said = _set_active(ctx, uid, active=False)
    flash = Flash(said, undo=urls.resource(uid, "pipeline/activate"))
    return pages.redirect(request, resource_header.overview_url(ctx, uid), flash)


def activation_actions(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    """Return the actions that activate or deactivate a pipeline; none if the caller may not see its triggers."""
    if found.kind == integrations.INTEGRATION_KIND:
        return _integration_actions(ctx, found)
    if found.kind not in RUNS.runnables or RUNS.runnables[found.kind].see not in found.actions:
        return []
    triggers = TRIGGERS.for_resource(ctx, found.uid)
    here = urls.resource
    on = PageAction("Activate", here(found.uid, "pipeline/activate"), "post", "play")
    off = PageAction("Deactivate", here(found.uid, "pipeline/deactivate"), "post", "pause")
    candidates = {ACTIVATE: on} if any(not each.active for each in triggers) else {}
    candidates |= {DEACTIVATE: off} if any(each.active for each in triggers) else {}
    return resource_header.actions_of(ctx, found.uid, candidates) if candidates else []


def _integration_actions(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    is_on = integrations.is_active(ctx, found.uid)
    word, icon = (DEACTIVATE, "pause") if is_on else (ACTIVATE, "play")
    turn = PageAction(word.capitalize(), urls.resource(found.uid, f"pipeline/{word}"), "post", icon)
    return resource_header.actions_of(ctx, found.uid, {word: turn})


def _set_active(ctx: RequestContext, uid: str, *, active: bool) -> str:
    ctx.need_visible(uid)
    if kinds.schema_of(ctx.view, uid).id == integrations.INTEGRATION_KIND:
        integrations.set_active(ctx, uid, active=active)
        return "Its tokens are let in again." if active else "Its tokens let nobody in any more."
    TRIGGERS.set_all_active(ctx, uid, active=active)
    return "It runs by itself from now on, as you." if active else "It does not run by itself any more."


routes = router("/resources")

FORM_KINDS = frozenset(f"lakehouse.{name}" for name in ("query", "history", "notebook", "integration"))
BACKFILL_KINDS = frozenset({"lakehouse.source", "lakehouse.query"})
"""What a part of can be run anew."""
_STATES = tuple((state, humanize(state)) for state in labels.TONES)
_COLUMNS = [ListColumn("Run"), *COLUMNS[1:]]
_LATEST = 5
_MAX_CHARTED = 30
_EXCLUDED_SETTINGS = frozenset({"sql"})
_SETTING_LABELS = {
    "at": "Time of a row",
    "cursor": "Field of a past span",
    "closes_missing": "Rows that are gone are closed",
    "evolution": "When fields differ",
    "keys": "Keys",
    "last_by": "Of two at once, the last by",
    "mode": "Rows that are there",
    "partitioned_by": "Split by",
    "table": "Name of the new table",
}
_VALUE_LABELS = {
    ("mode", "overwrite"): "are replaced",
    ("mode", "append"): "stay, new ones are added",
    ("mode", "merge"): "stay, those with the same key are replaced",
    ("mode", "mirror"): "follow: changed, added and taken away by key",
    ("evolution", "merge"): "new fields are added",
    ("evolution", "strict"): "it is refused",
    ("evolution", "overwrite"): "the table gets the new fields",
}


@routes.get("/{uid:path}/pipeline")
def pipeline_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str) -> Response:
    """Render the page of a pipeline."""
    found = need_pipeline(ctx, uid)
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, found.kind).visible, uid)
    eyes = VisibleRefs(ctx)
    runs = latest_runs(ctx, found, _LATEST)
    read, written = resource_graph.read_ids(ctx, uid), resource_graph.written_ids(ctx, eyes, uid)
    values: dict[str, object] = {
        **pipeline_frame(ctx, found, "pipeline"),
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
    if found.kind == connection_access.SOURCE_KIND:
        return pages.render(
            request, source_page.TEMPLATE, {**values, **source_page.source_values(ctx, eyes, found, runs)}
        )
    if found.kind == destination_page.DESTINATION_KIND:
        section = destination_page.destination_values(ctx, eyes, found, runs)
        return pages.render(request, destination_page.TEMPLATE, {**values, **section})
    if found.kind == integration_page.INTEGRATION_KIND:
        return pages.render(
            request,
            integration_page.TEMPLATE,
            {**values, **integration_page.integration_values(request, ctx, eyes, found)},
        )
    return pages.render(request, "lakehouse/pipeline.html", values)


@routes.get("/{uid:path}/runs")
def pipeline_runs(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the runs of a pipeline."""
    found = need_pipeline(ctx, uid)
    listing = ListState.from_request(request, ("-made",), (ListFilter("state", "State", _STATES),))
    some: list[Run] = []
    if sees_runs(found):
        state, before = listing.chosen["state"] or None, listing.after or None
        some = RUNS.page(ctx, resource=uid, state=state, before=before, limit=listing.size + 1)
    ended = [run for run in latest_runs(ctx, found, _MAX_CHARTED) if run.started_at and run.ended_at][::-1]
    values: dict[str, object] = {
        **pipeline_frame(ctx, found, "runs"),
        "listing": listing,
        "columns": _COLUMNS,
        "rows": run_rows(ctx, some[: listing.size]),
        "after": some[listing.size - 1].id if len(some) > listing.size else "",
        "spans": [max((run.ended_at or 0) - (run.started_at or 0), 0) / SECOND for run in ended],
        "drawn": [
            "bad" if run.state == states.FAILED else "off" if run.state == states.STOPPED else "" for run in ended
        ],
        "tones": labels.TONES,
        "signs": labels.ICONS,
    }
    return pages.render(request, "lakehouse/pipeline_runs.html", values)


@routes.post("/{uid:path}/pipeline/run")
def run(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Run the pipeline now, or reload all of its data, as the caller."""
    found = need_pipeline(ctx, uid)
    anew = bool(sent.get("reload"))
    try:
        started = RUNS.start(ctx, uid, RunOptions(reload=anew))
    except (ConflictError, InvalidInputError) as error:
        return pages.redirect(request, resource_header.overview_url(ctx, uid), Flash(str(error), tone="bad"))
    return pages.redirect(request, urls.run(started.id), Flash(f"{found.name} was started."))


def need_pipeline(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the pipeline; raise InvalidInputError if the resource is not one."""
    found = resources.get(ctx, uid)
    if found.kind not in PIPELINE_KINDS and found.kind not in RUNNABLE_KINDS:
        title = kinds.catalog_kind(ctx.view.policy, found.kind).title
        raise InvalidInputError(f"A {title.lower()} is no pipeline.", "Look at the list of pipelines.")
    return found


def sees_runs(found: ResourceView) -> bool:
    """Return whether the resource has runs that the caller may see."""
    return found.kind in RUNS.runnables and RUNS.runnables[found.kind].see in found.actions


def latest_runs(ctx: RequestContext, found: ResourceView, limit: int) -> list[Run]:
    """Return the newest runs of a resource."""
    return RUNS.page(ctx, resource=found.uid, limit=limit) if sees_runs(found) else []


def pipeline_frame(ctx: RequestContext, found: ResourceView, part: str) -> dict[str, object]:
    """Return the template values that all views of a pipeline share."""
    uid, title = found.uid, kinds.catalog_kind(ctx.view.policy, found.kind).title.lower()
    last = kind_pages.page_label(found.kind, part)
    return {
        "found": found,
        "crumbs": resource_header.breadcrumbs(ctx, uid, *([last] if last else [])),
        "tabs": resource_header.tabs(ctx, uid),
        "tab": urls.resource(uid, part),
        "run_now": _run_actions(ctx, found, title),
        "menu": _menu(ctx, found),
    }


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


def _run_actions(ctx: RequestContext, found: ResourceView, title: str) -> list[PageAction]:
    here = urls.resource(found.uid, "pipeline/run")
    if found.kind == integration_page.INTEGRATION_KIND:
        return []
    if found.kind not in RUNS.runnables:
        return [PageAction("Run now", icon="play", why_not=f"A {title} cannot be run here yet.")]
    runnable = RUNS.runnables[found.kind]
    now = PageAction("Run now", here, "post", "play")
    sure = "Load all of it anew? What is in its tables is replaced."
    again = PageAction("Reload", here, "post", "refresh-cw", fields=(("reload", "1"),), confirm=sure)
    # What a report has sent cannot be taken back, so it is not loaded anew.
    anew = [] if found.kind == "marts.report" else [(runnable.stop, again)]
    candidates = [*anew, (runnable.trigger, now)]
    return [act for action, each in candidates for act in resource_header.actions_of(ctx, found.uid, {action: each})]


def _menu(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    here = urls.resource
    edit = kind_pages.edit_form_url(found.uid, found.kind) or here(found.uid, "edit")
    drawn = found.kind in PIPELINE_KINDS
    around = urls.workspace(found.workspace.uid, "pipelines/graph") if found.workspace and drawn else ""
    candidates = {
        "edit": PageAction("Edit", edit, icon="pencil"),
        "delete": PageAction(
            "Delete", here(found.uid, "delete"), "post", "trash-2", danger=True, confirm=f"Delete {found.name}?"
        ),
    }
    graph = (
        [PageAction("In the graph", f"{around}?{urlencode({'focus': found.uid})}", icon="git-branch")] if around else []
    )
    return (
        graph
        + _backfill_actions(ctx, found)
        + activation_actions(ctx, found)
        + resource_header.actions_of(ctx, found.uid, candidates)
    )


def _backfill_actions(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    if found.kind not in BACKFILL_KINDS:
        return []
    past = PageAction("Run a past span…", urls.resource(found.uid, "pipeline/backfill"), icon="history")
    return resource_header.actions_of(ctx, found.uid, {RUNS.runnables[found.kind].stop: past})
