"""What became of reports: sent and read, when, how often and how long."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.kit.clock import SECOND
from lakehold.web import pages
from lakehold.web.access import resource_header
from lakehold.web.lakehouse import saying
from lakehold.web.lakehouse.pipeline import shown
from lakehold.web.list_view import ListColumn, ListState
from lakehold.web.marts.destinations.routes import need_project
from lakehold.web.marts.reports.routes import need_report
from lakehold.web.routing import router
from lakehold.workspaces.marts import insights
from lakehold.workspaces.marts.insights import ReportUsage

routes = router("/resources")
of_project = router("/workspaces")

_COLUMNS = [
    ListColumn("Report", "name"),
    ListColumn("Goes to", wide=True),
    ListColumn("Sent", "sent", number=True),
    ListColumn("Failed", "failed", number=True),
    ListColumn("Read", "read", number=True),
    ListColumn("Last", "last"),
]
_SORTS = {
    "name": lambda each: each.report.name.casefold(),
    "sent": lambda each: each.delivered.times,
    "failed": lambda each: each.delivered.failed,
    "read": lambda each: each.pulled.times,
    "last": lambda each: each.last_at or 0,
}


@routes.get("/{uid:path}/insights")
def report_insights(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Of one report, in ninety days."""
    found = need_report(ctx, uid)
    told = insights.report_insight(ctx, uid)
    values: dict[str, object] = {**shown(ctx, found, "insights"), "told": told, "took": _took(told)}
    return pages.render(request, "marts/insights.html", values)


@of_project.get("/{uid:path}/insights")
def project_insights(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Of all reports of a project that the caller sees."""
    need_project(ctx, uid)
    listing = ListState.from_request(request, ("-last", "name", "sent", "failed", "read"))
    found = [
        each for each in insights.project_insights(ctx, uid) if listing.search.casefold() in each.report.name.casefold()
    ]
    found.sort(key=_SORTS[listing.sort], reverse=listing.descending)
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Insights"),
        "listing": listing,
        "columns": _COLUMNS,
        "rows": insights.with_destinations(ctx, listing.slice_page(found)),
        "total": len(found),
    }
    return pages.render(request, "marts/project_insights.html", values)


def _took(told: ReportUsage) -> tuple[str, str]:
    """How long a delivery and a pull take, in words."""
    return saying.duration(int(told.delivered.seconds * SECOND)), saying.duration(int(told.pulled.seconds * SECOND))
