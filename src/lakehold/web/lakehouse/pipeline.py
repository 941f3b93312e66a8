"""One pipeline: what it reads and writes, how it is set, its runs; run it, reload it."""

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
from lakehold.runs.service import Run
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.cookies import Flash
from lakehold.web.labels import humanize
from lakehold.web.lakehouse import integrations, saying, schedules, switching, ways
from lakehold.web.lakehouse.destinations import page as destination_page
from lakehold.web.lakehouse.doing import PIPELINES, RUN_AGAIN, RUNS, TRIGGERS
from lakehold.web.lakehouse.runs import COLUMNS, rows
from lakehold.web.lakehouse.sources import page as source_page
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.lakehouse import connection_access

routes = router("/resources")

HAS_FORM = frozenset(f"lakehouse.{name}" for name in ("query", "history", "notebook", "integration"))
SPANNED = frozenset({"lakehouse.source", "lakehouse.query"})
"""What a part of can be run anew."""
_STATES = tuple((state, humanize(state)) for state in saying.TONES)
_COLUMNS = [ListColumn("Run"), *COLUMNS[1:]]
_LATEST = 5
_DRAWN = 30
_SHOWN_APART = frozenset({"sql"})
_WORDS = {
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
_MEANT = {
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
    """It, as the caller may see it."""
    found = need_pipeline(ctx, uid)
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, found.kind).visible, uid)
    eyes = VisibleRefs(ctx)
    runs = latest(ctx, found, _LATEST)
    read, written = ways.reads(ctx, uid), ways.writes(ctx, eyes, uid)
    values: dict[str, object] = {
        **shown(ctx, found, "pipeline"),
        "may": resource_header.actions_of(ctx, uid),
        "reads": eyes.refs(read),
        "writes": eyes.refs(written),
        "more_read": not all(map(eyes.sees, read)),
        "more_written": not all(map(eyes.sees, written)),
        "sql": str((found.settings or {}).get("sql", "")),
        "settings": None if found.settings is None else told(found.settings),
        "runs": rows(ctx, runs),
        "triggers": TRIGGERS.for_resource(ctx, uid) if sees_runs(found) else [],
        "said": schedules.said,
        "followed": lambda trigger: eyes.refs(trigger.when.after),
        "tones": saying.TONES,
        "signs": saying.SIGNS,
    }
    if found.kind == connection_access.SOURCE_KIND:
        return pages.render(request, source_page.TEMPLATE, {**values, **source_page.about(ctx, eyes, found, runs)})
    if found.kind == destination_page.DESTINATION_KIND:
        told_of = destination_page.about(ctx, eyes, found, runs)
        return pages.render(request, destination_page.TEMPLATE, {**values, **told_of})
    if found.kind == integrations.INTEGRATION_KIND:
        return pages.render(request, integrations.TEMPLATE, {**values, **integrations.about(request, ctx, eyes, found)})
    return pages.render(request, "lakehouse/pipeline.html", values)


@routes.get("/{uid:path}/runs")
def pipeline_runs(request: Request, ctx: ReadContext, uid: str) -> Response:
    """The runs of one."""
    found = need_pipeline(ctx, uid)
    listing = ListState.from_request(request, ("-made",), (ListFilter("state", "State", _STATES),))
    some: list[Run] = []
    if sees_runs(found):
        state, before = listing.chosen["state"] or None, listing.after or None
        some = RUNS.page(ctx, resource=uid, state=state, before=before, limit=listing.size + 1)
    ended = [run for run in latest(ctx, found, _DRAWN) if run.started_at and run.ended_at][::-1]
    values: dict[str, object] = {
        **shown(ctx, found, "runs"),
        "listing": listing,
        "columns": _COLUMNS,
        "rows": rows(ctx, some[: listing.size]),
        "after": some[listing.size - 1].id if len(some) > listing.size else "",
        "spans": [max((run.ended_at or 0) - (run.started_at or 0), 0) / SECOND for run in ended],
        "drawn": [
            "bad" if run.state == states.FAILED else "off" if run.state == states.STOPPED else "" for run in ended
        ],
        "tones": saying.TONES,
        "signs": saying.SIGNS,
    }
    return pages.render(request, "lakehouse/pipeline_runs.html", values)


@routes.post("/{uid:path}/pipeline/run")
def run(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Run it now, or load all of it anew, as the caller."""
    found = need_pipeline(ctx, uid)
    anew = bool(sent.get("reload"))
    try:
        started = RUNS.start(ctx, uid, RunOptions(reload=anew))
    except (ConflictError, InvalidInputError) as error:
        return pages.redirect(request, resource_header.overview_url(ctx, uid), Flash(str(error), tone="bad"))
    return pages.redirect(request, urls.run(started.id), Flash(f"{found.name} was started."))


def need_pipeline(ctx: RequestContext, uid: str) -> ResourceView:
    """The pipeline, or a refusal if it is none."""
    found = resources.get(ctx, uid)
    if found.kind not in PIPELINES and found.kind not in RUN_AGAIN:
        title = kinds.catalog_kind(ctx.view.policy, found.kind).title
        raise InvalidInputError(f"A {title.lower()} is no pipeline.", "Look at the list of pipelines.")
    return found


def sees_runs(found: ResourceView) -> bool:
    """Whether it has runs that the caller may see."""
    return found.kind in RUNS.runnables and RUNS.runnables[found.kind].see in found.actions


def latest(ctx: RequestContext, found: ResourceView, limit: int) -> list[Run]:
    """Its newest runs."""
    return RUNS.page(ctx, resource=found.uid, limit=limit) if sees_runs(found) else []


def shown(ctx: RequestContext, found: ResourceView, part: str) -> dict[str, object]:
    """What is around every view of a pipeline."""
    uid, title = found.uid, kinds.catalog_kind(ctx.view.policy, found.kind).title.lower()
    last = kind_pages.page_label(found.kind, part)
    return {
        "found": found,
        "crumbs": resource_header.breadcrumbs(ctx, uid, *([last] if last else [])),
        "tabs": resource_header.tabs(ctx, uid),
        "tab": urls.resource(uid, part),
        "run_now": _running(ctx, found, title),
        "menu": _menu(ctx, found),
    }


def told(settings: Mapping[str, object]) -> list[tuple[str, str]]:
    """Settings in words; what is inside of others is left as it is written."""
    return [
        (_WORDS.get(name, humanize(name)), _meant(name, value))
        for name, value in sorted(settings.items())
        if name not in _SHOWN_APART and value not in ("", [], {}, None)
    ]


def _meant(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, str):
        return _MEANT.get((name, value), value)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)


def _running(ctx: RequestContext, found: ResourceView, title: str) -> list[PageAction]:
    here = urls.resource(found.uid, "pipeline/run")
    if found.kind == integrations.INTEGRATION_KIND:
        return []
    if found.kind not in RUNS.runnables:
        return [PageAction("Run now", icon="play", why_not=f"A {title} cannot be run here yet.")]
    runnable = RUNS.runnables[found.kind]
    now = PageAction("Run now", here, "post", "play")
    sure = "Load all of it anew? What is in its tables is replaced."
    again = PageAction("Reload", here, "post", "refresh-cw", fields=(("reload", "1"),), confirm=sure)
    # What a report has sent cannot be taken back, so it is not loaded anew.
    anew = [] if found.kind == "marts.report" else [(runnable.stop, again)]
    wanted = [*anew, (runnable.trigger, now)]
    return [act for action, each in wanted for act in resource_header.actions_of(ctx, found.uid, {action: each})]


def _menu(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    here = urls.resource
    edit = kind_pages.edit_form_url(found.uid, found.kind) or here(found.uid, "edit")
    drawn = found.kind in PIPELINES
    around = urls.workspace(found.workspace.uid, "pipelines/graph") if found.workspace and drawn else ""
    wanted = {
        "edit": PageAction("Edit", edit, icon="pencil"),
        "delete": PageAction(
            "Delete", here(found.uid, "delete"), "post", "trash-2", danger=True, confirm=f"Delete {found.name}?"
        ),
    }
    graph = (
        [PageAction("In the graph", f"{around}?{urlencode({'focus': found.uid})}", icon="git-branch")] if around else []
    )
    return (
        graph + _past(ctx, found) + switching.switches(ctx, found) + resource_header.actions_of(ctx, found.uid, wanted)
    )


def _past(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    if found.kind not in SPANNED:
        return []
    past = PageAction("Run a past span…", urls.resource(found.uid, "pipeline/backfill"), icon="history")
    return resource_header.actions_of(ctx, found.uid, {RUNS.runnables[found.kind].stop: past})
