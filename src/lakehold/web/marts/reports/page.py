"""The page of a report: what it asks, where it goes, how that went; and the rows that it would send now."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog import kinds, resource_metadata, resources
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs, owners_of
from lakehold.directory.request_context import RequestContext
from lakehold.runs import run_table as states
from lakehold.runs.service import Run
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.lakehouse import saying, schedules
from lakehold.web.lakehouse.doing import RUNS, TRIGGERS
from lakehold.web.lakehouse.pipeline import latest, shown
from lakehold.web.lakehouse.runs import rows
from lakehold.web.lakehouse.sources import looking
from lakehold.web.lakehouse.sources.troubles import is_no_worker
from lakehold.web.marts.destinations import files
from lakehold.web.marts.reports import asking, choosing, filled, telling
from lakehold.web.marts.reports.routes import need_report
from lakehold.web.routing import router
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.marts import destinations

routes = router("/resources")

_LATEST = 5
_LOOKED_AT = 20
_NOT_SENT = "Nothing was sent: "


@dataclass(frozen=True, slots=True)
class Goal:
    """Where it goes, as far as the caller may know."""

    there: ResourceRef | None
    gone: bool
    owners: list[ResourceRef]
    restore: PageAction | None
    """To bring it back, for who may."""


@routes.get("/{uid:path}/report")
def report_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, lake: CurrentLake, uid: str) -> Response:
    """It, as the caller may see it."""
    found = need_report(ctx, uid)
    resource_usage.record(platform, ctx, "see", uid)
    last = _last(ctx, found)
    values: dict[str, object] = {
        **shown(ctx, found, "report"),
        "may": resource_header.actions_of(ctx, uid),
        "asks": telling.asked(
            filled.present(found, resource_metadata.load(ctx, uid).settings), _columns(ctx, lake, found)
        )
        if _reads(ctx, found)
        else None,
        "goal": _goal(ctx, uid),
        "left": files.last(ctx, platform.settings, uid) if last else None,
        "change": resource_header.actions_of(
            ctx, uid, {"edit": PageAction("Edit", urls.resource(uid, "report/edit"), icon="pencil")}
        )[0],
        "mart": VisibleRefs(ctx).parent(uid),
        "last": last,
        "runs": rows(ctx, latest(ctx, found, _LATEST)),
        "triggers": TRIGGERS.for_resource(ctx, uid),
        "said": schedules.said,
        "followed": lambda trigger: VisibleRefs(ctx).refs(trigger.when.after),
        "tones": saying.TONES,
        "signs": saying.SIGNS,
    }
    return pages.render(request, "marts/report.html", values)


@routes.get("/{uid:path}/rows")
def report_rows(request: Request, uid: str) -> Response:
    """What it would send to the caller now."""

    def asked(ctx: RequestContext) -> tuple[ResourceView, str, dict[str, object]]:
        found = need_report(ctx, uid)
        mart = ctx.session.read_view(lambda view: kinds.parent_of(view, uid)) or ""
        return found, mart, dict(resource_metadata.load(ctx, uid).settings)

    found, mart, settings = looking.reading(request).run(asked)
    seen = asking.preview(request, mart, settings, found.name)

    def page(ctx: RequestContext) -> Response:
        no_worker = seen.error is not None and is_no_worker(seen.error)
        values = {**shown(ctx, found, "rows"), "seen": seen, "no_worker": no_worker}
        return pages.render(request, "marts/report_rows.html", values)

    return looking.reading(request).run(page)


def _reads(ctx: RequestContext, found: ResourceView) -> bool:
    """Whether the caller may know what it asks: whoever edits or runs it, and its owners even while they cannot."""
    mine = any(who.uid == ctx.caller.member for held in found.owners.values() for who in held)
    return found.settings is not None or "run" in found.actions or mine


def _columns(ctx: RequestContext, lake: CurrentLake, found: ResourceView) -> choosing.Columns:
    mart = ctx.session.read_view(lambda view: kinds.parent_of(view, found.uid))
    return choosing.columns(ctx, lake, mart) if mart else choosing.Columns()


def _goal(ctx: RequestContext, uid: str) -> Goal:
    there = edge_targets(ctx, uid, "destination")
    if not there:
        return Goal(None, True, [], None)
    eyes, gone = VisibleRefs(ctx), destinations.is_deleted(ctx, there[0])
    seen = eyes.ref(there[0])
    if not gone:
        return Goal(seen, gone, [], None)
    here = (("back", urls.resource(uid)),)
    # Who sees the report may be who brings it back, though they do not see where it goes.
    restore = PageAction("Restore it", urls.resource(there[0], "restore"), "post", "undo-2", here)
    may = resources.may_restore(ctx, there[0])
    return Goal(seen, gone, _owners(ctx, seen.uid) if seen else [], restore if may else None)


def _owners(ctx: RequestContext, uid: str) -> list[ResourceRef]:
    held = ctx.session.read_view(lambda view: owners_of(view, uid))
    return VisibleRefs(ctx).refs(each for some in held.values() for each in some)


def _last(ctx: RequestContext, found: ResourceView) -> list[tuple[str, Run, str]]:
    """When it was last sent; and the newest run, if that is another one, with why nothing was sent."""
    told: list[tuple[str, Run, str]] = []
    for run in latest(ctx, found, _LOOKED_AT):
        if run.state != states.SUCCEEDED:
            if not told and run.state == states.FAILED:
                told.append(("It failed", run, run.error))
            continue
        lines = RUNS.last_log_lines(ctx, run.id)
        reason = next((line.text.removeprefix(_NOT_SENT) for line in lines if line.text.startswith(_NOT_SENT)), "")
        if not reason:
            return [*told, ("Last sent", run, "")]
        if not told:
            told.append(("Not sent", run, reason))
    return told
