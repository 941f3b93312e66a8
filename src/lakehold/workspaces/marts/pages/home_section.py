"""The section of the home page for members who only report: data marts that they may use, and their own reports."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from lakehold.access.query.listing import ListedResource
from lakehold.catalog import resource_metadata, workspaces
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs, make_ref, owners_of
from lakehold.directory.request_context import RequestContext
from lakehold.runs.service import Run, Runs
from lakehold.web import kind_pages, urls
from lakehold.web.runs import labels
from lakehold.web.runs.services import RUNS
from lakehold.workspaces.descriptor import HomeSection
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


def load_home_section(ctx: RequestContext) -> HomeSection | None:
    """Load the section for a caller who reports in a project but creates no data marts; None for others."""
    found = _load_reporting_home(ctx, RUNS)
    if found is None:
        return None
    return HomeSection("marts/home_section.html", {"reporting": found, "tones": labels.TONES, "signs": labels.ICONS})


def _load_reporting_home(ctx: RequestContext, runs: Runs) -> ReportingHome | None:
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
