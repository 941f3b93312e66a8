"""The home page: workspaces, recent resources, failed runs, requests, and data marts to report on."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold import workspaces as workspace_kinds
from lakehold.access.query.listing import ListedResource
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import approvals, discovery, requests, resource_metadata, usage, workspaces
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs, make_ref, owners_of
from lakehold.catalog.usage import LastUse
from lakehold.directory.request_context import RequestContext
from lakehold.runs.run_table import FAILED
from lakehold.runs.service import Run, Runs
from lakehold.web import kind_pages, pages, urls
from lakehold.web.routing import router
from lakehold.web.runs import labels
from lakehold.workspaces.marts.mart_kinds import DATA_MART_KIND, PROJECT_KIND, REPORT_KIND

_MAX_LISTED = 8
_MAX_PROJECTS = 20
_MAX_SCANNED = 300


@dataclass(frozen=True, slots=True)
class ReportableMart:
    """A data mart, and the URL that creates a report on it."""

    mart: ResourceRef
    project: ResourceRef
    new: str


@dataclass(frozen=True, slots=True)
class OwnReport:
    """A report that the caller owns, with its last run."""

    report: ResourceRef
    mart: ResourceRef | None
    last: Run | None


@dataclass(frozen=True, slots=True)
class ReportingHome:
    """The part of the home page for members who only report: data marts and their own reports."""

    marts: list[ReportableMart]
    reports: list[OwnReport]
    more: str
    """Where all marts are listed; empty if these are all."""
    new: str


def load_reporting_home(ctx: RequestContext, runs: Runs) -> ReportingHome | None:
    """Load the reporting part for a caller who reports in a project but creates no data marts; None for others."""
    projects = [
        each for each in _reporting_projects(ctx) if not ctx.session.check(ctx.principal, "create_data_mart", each.uid)
    ]
    if not projects:
        return None
    marts: list[ReportableMart] = []
    reports: list[OwnReport] = []
    more = ""
    for each in projects:
        form = kind_pages.create_form_url(each.uid, REPORT_KIND)
        found = _usable_marts(ctx, each.uid)
        more = more or (urls.workspace(each.uid, "data_mart") if len(found) > _MAX_LISTED else "")
        marts += [
            ReportableMart(
                ResourceRef(item.uid, DATA_MART_KIND, item.name), each, f"{form}?{urlencode({'mart': item.uid})}"
            )
            for item in found[:_MAX_LISTED]
        ]
        reports += _own_reports(ctx, runs, each.uid)
    return ReportingHome(
        marts[:_MAX_LISTED], reports[:_MAX_LISTED], more, kind_pages.create_form_url(projects[0].uid, REPORT_KIND)
    )


def _usable_marts(ctx: RequestContext, project: str) -> list[ListedResource]:
    """Return the data marts that can be reported on, published ones before drafts, each by name."""
    found = ctx.session.list(ctx.principal, "use", DATA_MART_KIND, within=project, limit=_MAX_SCANNED).items
    metadata = resource_metadata.load_many(ctx, [item.id for item in found])
    published = {number for number, each in metadata.items() if each.settings.get("published") is True}
    return sorted(found, key=lambda item: item.id not in published)


def _reporting_projects(ctx: RequestContext) -> list[ResourceRef]:
    found = workspaces.page(ctx, limit=_MAX_PROJECTS).items
    return [
        ResourceRef(each.uid, each.kind, each.name)
        for each in found
        if each.kind == PROJECT_KIND and ctx.session.check(ctx.principal, "create_destination", each.uid)
    ]


def _own_reports(ctx: RequestContext, runs: Runs, project: str) -> list[OwnReport]:
    """Return the reports that the caller owns, by name."""
    seen = ctx.session.list(ctx.principal, "see", REPORT_KIND, within=project, limit=_MAX_SCANNED).items
    me = ctx.caller.member
    mine = ctx.session.read_view(
        lambda view: [make_ref(view, item.uid) for item in seen if me in owners_of(view, item.uid)["owner"]]
    )
    eyes = VisibleRefs(ctx)
    return [OwnReport(each, eyes.parent(each.uid), _last_run(ctx, runs, each.uid)) for each in mine[:_MAX_LISTED]]


def _last_run(ctx: RequestContext, runs: Runs, uid: str) -> Run | None:
    return next(iter(runs.page(ctx, resource=uid, limit=1)), None)


routes = router()

_MAX_RECENT = 8
_MAX_WAITING, _MAX_REQUESTS = 5, 50
_MAX_DISCOVERIES = 6
_MAX_FAILED = 5

_runs = Runs(workspace_kinds.runnables())


@routes.get("/")
def home(request: Request, ctx: ReadContext) -> Response:
    """Render the home page."""
    spaces = workspaces.page(ctx, limit=50)
    pending = [
        access_request
        for access_request in requests.list_own(ctx, limit=_MAX_REQUESTS)
        if access_request.request.state == "pending"
    ]
    values: dict[str, object] = {
        "name": _first_name(ctx),
        "reporting": load_reporting_home(ctx, _runs),
        "tones": labels.TONES,
        "signs": labels.ICONS,
        "workspaces": spaces.items,
        "more_workspaces": spaces.after is not None,
        "recent": _recently_used(ctx),
        "failed": _failed_runs(ctx),
        "waiting": approvals.list_answerable(ctx, limit=_MAX_WAITING),
        "asked": pending[:_MAX_WAITING],
        "asked_for": frozenset(access_request.request.resource for access_request in pending),
        "discoveries": discovery.find(ctx, limit=_MAX_DISCOVERIES).items,
        "may_create": ctx.session.check(ctx.principal, "create_workspace", ctx.caller.tenant),
    }
    return pages.render(request, "home/home.html", values)


def _first_name(ctx: RequestContext) -> str:
    name = ctx.view.names.get(ctx.view.member(ctx.caller.member)) or ""
    return name.partition(",")[0]


def _recently_used(ctx: RequestContext) -> list[tuple[ResourceRef, LastUse]]:
    """Return the resources that the caller used last, each once."""
    found: dict[str, tuple[ResourceRef, LastUse]] = {}
    for use in usage.list_for_member(ctx, ctx.caller.member):
        found.setdefault(use.resource.uid, (use.resource, use))
        if len(found) == _MAX_RECENT:
            break
    return list(found.values())


def _failed_runs(ctx: RequestContext) -> list[tuple[ResourceRef, Run]]:
    """Return the last failed runs of resources that the caller may see."""
    found = _runs.page(ctx, state=FAILED, limit=_MAX_FAILED)
    return [(make_ref(ctx.view, run.resource), run) for run in found]
