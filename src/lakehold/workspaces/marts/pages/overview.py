"""The overview page of a project, and the section of the home page for members who only report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Draft
from lakehold.access.model.schema import KindSchema
from lakehold.access.query.listing import ListedResource
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import kinds, resource_metadata, resources, workspaces
from lakehold.catalog.resource_view import ResourceRef, ResourceSummary, VisibleRefs, make_ref, owners_of
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.runs.run_table import FAILED
from lakehold.runs.service import Run, Runs
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.labels import pluralize
from lakehold.web.resources import workspace_page
from lakehold.web.routing import router
from lakehold.web.runs import labels
from lakehold.web.runs.services import RUNS
from lakehold.workspaces.descriptor import HomeSection
from lakehold.workspaces.marts.mart_kinds import (
    DATA_MART_KIND,
    DESTINATION_KIND,
    PROJECT_KIND,
    REPORT_KIND,
    STORAGE_KIND,
)

routes = router("/workspaces")

_KINDS = (DATA_MART_KIND, REPORT_KIND, DESTINATION_KIND, STORAGE_KIND)
_MAX_ITEMS, _MAX_COUNT, _MOST_FAILED = 6, 500, 4


@dataclass(frozen=True, slots=True)
class ProjectSection:
    """A kind of resource: its number, and the first of them."""

    kind: KindSchema
    label: str
    href: str
    count: int
    more: bool
    """Whether there are more than were counted."""
    items: list[ResourceSummary]
    new: PageAction


@routes.get("/{uid:path}/overview")
def overview(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the overview."""
    workspaces.need_workspace(ctx, uid)
    found = resources.get(ctx, uid)
    if found.kind != PROJECT_KIND:
        raise NotFoundError(f"There is no project {quote(uid)}.", "Open the list of workspaces.")
    shelves = {kind.rpartition(".")[2]: _kind_section(ctx, uid, kind) for kind in _KINDS}
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid),
        "found": found,
        **kind_pages.workspace_tab_values(uid, found.kind),
        "places": kind_pages.workspace_links(uid, found.kind),
        "shelves": shelves,
        "makes": [shelf.new for shelf in shelves.values() if not shelf.new.why_not],
        "published": _published_ids(ctx, shelves["data_mart"].items),
        "failed": _failed_runs(ctx, uid),
    }
    return pages.render(request, "marts/overview.html", values)


def _kind_section(ctx: RequestContext, uid: str, kind: str) -> ProjectSection:
    schema = kinds.catalog_kind(ctx.view.policy, kind)
    listed = ctx.session.list(ctx.principal, schema.visible, kind, within=uid, limit=_MAX_COUNT)
    items = resources.page(ctx, kind, within=uid, limit=_MAX_ITEMS).items
    return ProjectSection(
        schema,
        pluralize(schema.title),
        urls.workspace(uid, schema.name),
        len(listed.items),
        listed.after is not None,
        items,
        _create_action(ctx, schema, uid),
    )


def _create_action(ctx: RequestContext, schema: KindSchema, uid: str) -> PageAction:
    """Return the action that creates a resource of a kind, with the reason if the caller may not."""
    new = workspace_page.create_action(ctx, schema, uid)
    if schema.id == DATA_MART_KIND:
        may = ctx.session.check(ctx.principal, "create_data_mart", uid)
    elif schema.id == REPORT_KIND:
        may = bool(ctx.session.list(ctx.principal, "use", DATA_MART_KIND, within=uid, limit=1).items)
    else:
        may = ctx.session.check(ctx.principal, "create", Draft(schema.id, {"project": uid}))
    return new if may else replace(new, why_not="You do not have permission to create one.")


def _published_ids(ctx: RequestContext, marts: list[ResourceSummary]) -> frozenset[str]:
    """Return the ids of the published data marts."""
    numbers = {ctx.view.resource(mart.uid): mart.uid for mart in marts}
    details_by_id = resource_metadata.load_many(ctx, numbers)
    return frozenset(numbers[n] for n, detail in details_by_id.items() if detail.settings.get("published") is True)


def _failed_runs(ctx: RequestContext, uid: str) -> list[tuple[ResourceRef, Run]]:
    found = RUNS.page(ctx, within=uid, state=FAILED, limit=_MOST_FAILED)
    return [(make_ref(ctx.view, run.resource), run) for run in found]


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
