"""The page of a destination: where it sends to, without its secret; what goes there, and what went."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.catalog import credentials
from lakehold.catalog.resource_view import ResourceRef, ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.runs.service import Run
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.connections import delivery_form
from lakehold.web.lakehouse import saying
from lakehold.web.lakehouse.doing import RUNS
from lakehold.web.marts import copying
from lakehold.web.marts.destinations import destination, files, live
from lakehold.web.marts.destinations.routes import need_destination
from lakehold.web.routing import router
from lakehold.workspaces.marts import destinations

routes = router("/resources")

_MOST = 8


@dataclass(frozen=True, slots=True)
class Went:
    """A run of a report that goes there."""

    report: ResourceRef
    run: Run
    rows: int


@routes.get("/{uid:path}/destination")
def destination_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str) -> Response:
    """It, as the caller may see it."""
    found = need_destination(ctx, uid)
    resource_usage.record(platform, ctx, "see", uid)
    reports = destinations.visible_reports(ctx, uid)
    values: dict[str, object] = {
        "found": found,
        "crumbs": resource_header.breadcrumbs(ctx, uid),
        "tabs": resource_header.tabs(ctx, uid),
        "tab": kind_pages.resource_overview_url(uid, found.kind),
        "may": resource_header.actions_of(ctx, uid),
        "deleted": destinations.is_deleted(ctx, uid),
        "is_set": found.settings is None or bool(found.settings.get("to")),
        "where": _where(ctx, found),
        "reports": reports,
        "went": _went(ctx, reports),
        "live": live.about(ctx, platform.settings, found, reports),
        "files": files.about(ctx, platform.settings, found),
        "tones": saying.TONES,
        "signs": saying.SIGNS,
        **_actions(ctx, found),
    }
    return pages.render(request, "marts/destination.html", values)


def _where(ctx: RequestContext, found: ResourceView) -> delivery_form.LabelledValues | None:
    """None for those who may not edit it."""
    if found.settings is None:
        return None
    filled = destination.present(found)
    if not filled.to:
        return []
    kept = credentials.list_names(ctx, found.uid)
    secrets = [(name.capitalize(), "Kept, and not shown") for name in kept]
    return [
        ("As", delivery_form.DELIVERY_LABELS[filled.to]),
        *delivery_form.describe_target(filled, found.settings),
        *secrets,
    ]


def _went(ctx: RequestContext, reports: list[ResourceRef]) -> list[Went]:
    """The newest runs of what goes there, of those that the caller may see."""
    refs = {each.uid: each for each in reports}
    newest = RUNS.page(ctx, among=[*refs], limit=_MOST)
    return [Went(refs[run.resource], run, sum(step.rows for step in RUNS.get(ctx, run.id).steps)) for run in newest]


def _actions(ctx: RequestContext, found: ResourceView) -> dict[str, object]:
    here, uid = urls.resource, found.uid
    asked = f"Delete {found.name}? Reports that go there can only be read until it is back."
    wanted = {
        "change": ("edit", PageAction("Edit", here(uid, "destination/edit"), icon="pencil")),
        "trial": ("edit", PageAction("Test", here(uid, "destination/try"), "post", "zap")),
        "restore": ("restore", PageAction("Restore", here(uid, "restore"), "post", "undo-2")),
        "delete": ("delete", PageAction("Delete", here(uid, "delete"), "post", "trash-2", confirm=asked, danger=True)),
    }
    told: dict[str, object] = {
        name: resource_header.actions_of(ctx, uid, {right: act})[0] for name, (right, act) in wanted.items()
    }
    told["menu"] = [told["change"], copying.action(ctx, uid), told["delete"]]
    return told
