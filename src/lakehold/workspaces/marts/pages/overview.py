"""The overview page of a project, and the section of the home page for members who only report."""

from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Draft
from lakehold.access.model.schema import KindSchema
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import kinds, resource_metadata, resources, workspaces
from lakehold.catalog.resource_view import ResourceRef, ResourceSummary, VisibleRefs, make_ref, owners_of
from lakehold.directory.request_context import RequestContext
from lakehold.runs.run_table import FAILED
from lakehold.runs.service import Run
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.labels import pluralize
from lakehold.web.resources import workspace_page
from lakehold.web.routing import router
from lakehold.web.runs import RUNS
from lakehold.workspaces.descriptor import HomeSection
from lakehold.workspaces.marts.pages.page_frame import need_project
from lakehold.workspaces.marts.pages.reports.form_options import mart_options
from lakehold.workspaces.marts.settings import DATA_MART_KIND, DESTINATION_KIND, PROJECT_KIND, REPORT_KIND, STORAGE_KIND

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
    need_project(ctx, uid)
    found = resources.get(ctx, uid)
    shelves = {kind.rpartition(".")[2]: _kind_section(ctx, uid, kind) for kind in _KINDS}
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid),
        "found": found,
        **kind_pages.workspace_tab_values(uid, found.kind),
        "places": kind_pages.workspace_links(uid, found.kind),
        "shelves": shelves,
        "makes": [shelf.new for shelf in shelves.values() if not shelf.new.why_not],
        "published": _published_ids(ctx, shelves["data_mart"].items),
        "failed": [
            (make_ref(ctx.view, run.resource), run)
            for run in RUNS.page(ctx, within=uid, state=FAILED, limit=_MOST_FAILED)
        ],
    }
    return pages.render(request, "marts/overview.html", values)


def _kind_section(ctx: RequestContext, uid: str, kind: str) -> ProjectSection:
    schema = kinds.catalog_kind(ctx.view.policy, kind)
    listed = ctx.session.list(ctx.principal, schema.visible, kind, within=uid, limit=_MAX_COUNT)
    items = resources.find(ctx, among=[kind], within=uid, limit=_MAX_ITEMS).items
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


_MAX_LISTED, _MAX_PROJECTS, _MAX_SCANNED = 8, 20, 300


def load_home_section(ctx: RequestContext) -> HomeSection | None:
    """Load the section for a caller who reports in a project but creates no data marts; None for others."""
    may = partial(ctx.session.check, ctx.principal)
    projects = [
        each
        for each in workspaces.page(ctx, limit=_MAX_PROJECTS).items
        if each.kind == PROJECT_KIND and may("create_destination", each.uid) and not may("create_data_mart", each.uid)
    ]
    if not projects:
        return None
    forms = {each.uid: kind_pages.create_form_url(each.uid, REPORT_KIND) for each in projects}
    # Published ones before drafts, each by name.
    usable = {each.uid: sorted(mart_options(ctx, each.uid), key=lambda mart: not mart.published) for each in projects}
    values: dict[str, object] = {
        "marts": [
            (mart, project, f"{forms[project.uid]}?{urlencode({'mart': mart.uid})}")
            for project in projects
            for mart in usable[project.uid]
        ][:_MAX_LISTED],
        "reports": [row for each in projects for row in _own_reports(ctx, each.uid)][:_MAX_LISTED],
        "more": next((urls.workspace(uid, "data_mart") for uid in usable if len(usable[uid]) > _MAX_LISTED), ""),
        "new": forms[projects[0].uid],
    }
    return HomeSection("marts/home_section.html", values)


def _own_reports(ctx: RequestContext, project: str) -> list[tuple[ResourceRef, ResourceRef | None, Run | None]]:
    """Return the reports that the caller owns by name, each with its data mart and its last run."""
    seen = ctx.session.list(ctx.principal, "see", REPORT_KIND, within=project, limit=_MAX_SCANNED).items
    me, visible = ctx.caller.member, VisibleRefs(ctx)
    mine = ctx.session.read_view(
        lambda view: [make_ref(view, item.uid) for item in seen if me in owners_of(view, item.uid)["owner"]]
    )[:_MAX_LISTED]
    last = RUNS.last_runs(ctx, [each.uid for each in mine])
    return [(each, visible.parent(each.uid), last.get(each.uid)) for each in mine]
