"""The reports on a data mart, of those that one sees: where each goes, and when it went there last."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs, owners_of
from lakehold.directory.request_context import RequestContext
from lakehold.runs.service import Run
from lakehold.web import kind_pages, pages
from lakehold.web.lakehouse import saying
from lakehold.web.lakehouse.doing import RUNS
from lakehold.web.list_view import ListColumn, ListState
from lakehold.web.marts import framing
from lakehold.web.marts.data_marts.routes import need_mart
from lakehold.web.routing import router
from lakehold.workspaces.graph import edge_sources, edge_targets
from lakehold.workspaces.marts.mart_kinds import REPORT_KIND

routes = router("/resources")

_COLUMNS = [
    ListColumn("Report", "name"),
    ListColumn("To", wide=True),
    ListColumn("Owner", wide=True),
    ListColumn("Last run"),
]


@dataclass(frozen=True, slots=True)
class On:
    """A report on a mart."""

    report: ResourceRef
    to: ResourceRef | None
    owners: list[ResourceRef]


@routes.get("/{uid:path}/reports")
def reports_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """All that the caller sees, by name."""
    found, listing = need_mart(ctx, uid), ListState.from_request(request, ("name",))
    some = [each for each in of_mart(ctx, uid) if listing.search.casefold() in each.report.name.casefold()]
    if listing.descending:
        some.reverse()
    values: dict[str, object] = {
        **framing.frame(ctx, found, "reports"),
        "listing": listing,
        "columns": _COLUMNS,
        "rows": [(each, last_of(ctx, each.report)) for each in listing.slice_page(some)],
        "total": len(some),
        "new": new(found),
        "tones": saying.TONES,
        "signs": saying.SIGNS,
    }
    return pages.render(request, "marts/mart_reports.html", values)


def of_mart(ctx: RequestContext, uid: str) -> list[On]:
    """Those that the caller sees."""
    eyes = VisibleRefs(ctx)
    seen = sorted(eyes.refs(edge_sources(ctx, uid, "data_mart")), key=lambda ref: ref.name.casefold())
    return [_on(ctx, eyes, ref) for ref in seen if ref.kind == REPORT_KIND]


def last_of(ctx: RequestContext, report: ResourceRef) -> Run | None:
    """Its newest run."""
    return next(iter(RUNS.page(ctx, resource=report.uid, limit=1)), None)


def new(found: ResourceView) -> str:
    """Where a report on it is made; empty for who may not use it."""
    if "use" not in found.actions or found.workspace is None:
        return ""
    at = kind_pages.create_form_url(found.workspace.uid, REPORT_KIND) or "/resources/new"
    asked = {"mart": found.uid} if at != "/resources/new" else {"kind": REPORT_KIND, "in": found.workspace.uid}
    return f"{at}?{urlencode(asked)}"


def _on(ctx: RequestContext, eyes: VisibleRefs, ref: ResourceRef) -> On:
    to = next(iter(edge_targets(ctx, ref.uid, "destination")), None)
    held = ctx.session.read_view(lambda view: owners_of(view, ref.uid))
    owners = eyes.refs(uid for some in held.values() for uid in some)
    return On(ref, eyes.ref(to), owners)
