"""The page of a data mart (status, definition, owners, runs; publish and unpublish), and the list of its reports."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog import kinds, resource_metadata
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs, owners_of
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment, to_moment
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.web import kind_pages, pages, urls
from lakehold.web.components import PageAction
from lakehold.web.cookies import Flash
from lakehold.web.form_values import list_setting
from lakehold.web.labels import humanize
from lakehold.web.list_view import ListState
from lakehold.web.routing import router
from lakehold.web.runs import RUNS, labels, runnable_page
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.marts import pipelines
from lakehold.workspaces.marts.checks import BROKEN, KEPT, list_results
from lakehold.workspaces.marts.pages import page_frame
from lakehold.workspaces.marts.pages.data_marts.form_pages import DefinitionFormPage
from lakehold.workspaces.marts.settings import DATA_MART, DATA_MART_KIND, REPORT_KIND

routes = router("/resources")


@routes.get("/{uid:path}/reports")
def reports_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the reports that the caller may see, by name."""
    found, listing = page_frame.need_resource(ctx, uid, DATA_MART_KIND), ListState.from_request(request, ("name",))
    some = listing.select(mart_reports(ctx, uid), lambda ref: ref.name)
    visible, listed = VisibleRefs(ctx), listing.slice_page(some)
    last = RUNS.last_runs(ctx, [ref.uid for ref in listed])
    values: dict[str, object] = {
        **page_frame.resource_frame(ctx, found, "reports"),
        **listing.page_values(some),
        "rows": [
            (ref, _destination(ctx, visible, ref.uid), _owners(ctx, visible, ref.uid), last.get(ref.uid))
            for ref in listed
        ],
        "new": new_report_url(found),
    }
    return pages.render(request, "marts/mart_reports.html", values)


def mart_reports(ctx: RequestContext, uid: str) -> list[ResourceRef]:
    """Return the reports of a data mart that the caller may see, by name."""
    return [ref for ref in page_frame.visible_sources(ctx, uid, "data_mart") if ref.kind == REPORT_KIND]


def new_report_url(found: ResourceView) -> str:
    """Return the address of the form for a new report, or an empty string if the caller may not use the data mart."""
    if "use" not in found.actions or found.workspace is None:
        return ""
    return f"{kind_pages.create_form_url(found.workspace.uid, REPORT_KIND)}?{urlencode({'mart': found.uid})}"


def _destination(ctx: RequestContext, visible: VisibleRefs, report: str) -> ResourceRef | None:
    return visible.ref(next(iter(edge_targets(ctx, report, "destination")), None))


def _owners(ctx: RequestContext, visible: VisibleRefs, report: str) -> list[ResourceRef]:
    held = ctx.session.read_view(lambda view: owners_of(view, report))
    return visible.refs(uid for some in held.values() for uid in some)


_LATEST = 5
_DEFINITION_LABELS = DefinitionFormPage.labels_of("by") | {"connector": "Connector"}
_MODE_LABELS = DefinitionFormPage.labels_of("mode")


@dataclass(frozen=True, slots=True)
class DataMartStatus:
    """The status of a data mart: published, rows, freshness and checks."""

    published: bool
    rows: int | None = None
    size: str = ""
    fresh: Moment | None = None
    """When its rows were written."""
    checks: int = 0
    kept: int = 0
    broken: int = 0


@routes.get("/{uid:path}/mart")
def mart_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, lake: CurrentLake, uid: str) -> Response:
    """Render the page of a data mart."""
    found = page_frame.need_resource(ctx, uid, DATA_MART_KIND)
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, found.kind).visible, uid)
    schema, visible = kinds.catalog_kind(ctx.view.policy, found.kind), VisibleRefs(ctx)
    standing = _load_status(ctx, lake, uid)
    around = runnable_page.overview_values(ctx, found, "mart", runnable_page.latest_runs(ctx, found, _LATEST))
    joined = edge_targets(ctx, uid, "joins")
    drawn = edge_targets(ctx, uid, "storage")
    values: dict[str, object] = {
        **around,
        "run_now": [
            replace(act, label="Refresh now") if act.label == "Run now" else act
            for act in runnable_page.run_actions(ctx, found)
        ],
        "publish": _publish_action(ctx, found, standing),
        "standing": standing,
        "definition": _definition_facts(found),
        "sql": str((found.settings or {}).get("sql", "")),
        "storage": visible.refs(drawn),
        "more_storage": not all(map(visible.sees, drawn)),
        "joins": visible.refs(joined),
        "more_joins": not all(map(visible.sees, joined)),
        "owners": [(schema.roles[role].title, held) for role, held in found.owners.items()],
        "toggles": [(humanize(name), value == "true") for name, value in found.attributes.items()],
        "contexts": list(found.edges.get("contexts", ())),
        "reports": [(ref, _destination(ctx, visible, ref.uid)) for ref in mart_reports(ctx, uid)[: _LATEST + 1]],
        "latest": _LATEST,
        "new_report": new_report_url(found),
    }
    return pages.render(request, "marts/mart.html", values)


@routes.post("/{uid:path}/mart/publish")
def publish(request: Request, ctx: WriteContext, lake: CurrentLake, uid: str) -> Response:
    """Publish the data mart, so that it can be reported on."""
    found, here = page_frame.need_resource(ctx, uid, DATA_MART_KIND), urls.resource(uid, "mart")
    try:
        pipelines.publish(ctx, lake, uid)
    except (ConflictError, InvalidInputError) as error:
        return pages.redirect(request, here, Flash(str(error), tone="bad"))
    return pages.redirect(request, here, Flash(f"{found.name} was published.", undo=f"{here}/unpublish"))


@routes.post("/{uid:path}/mart/unpublish")
def unpublish(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Make the data mart a draft again."""
    found, here = page_frame.need_resource(ctx, uid, DATA_MART_KIND), urls.resource(uid, "mart")
    pipelines.unpublish(ctx, uid)
    return pages.redirect(request, here, Flash(f"{found.name} was unpublished.", undo=f"{here}/publish"))


def _load_status(ctx: RequestContext, lake: IcebergCatalog, uid: str) -> DataMartStatus:
    settings = resource_metadata.load(ctx, uid).settings
    try:
        names = {check.name for check in DATA_MART.parse(settings).checks}
    except InvalidInputError:
        names = set()
    # The newest is the last of each name.
    last = {each.name: each.state for each in reversed(list_results(ctx, uid)) if each.name in names}
    said = list(last.values())
    standing = DataMartStatus(
        settings.get("published") is True, checks=len(names), kept=said.count(KEPT), broken=said.count(BROKEN)
    )
    try:
        now = lake.current_metadata(readable_tables.identifier_of(ctx, uid))
    except OSError:
        return standing
    if now is None or now.current is None:
        return standing
    total, size = now.current.count("total-records"), now.current.count("total-files-size")
    return replace(standing, rows=total, size=labels.format_size(size), fresh=to_moment(now.current.at))


def _definition_facts(found: ResourceView) -> list[tuple[str, str]] | None:
    """Return the definition as pairs of label and value; None if the caller may not see it."""
    settings = found.settings
    if settings is None:
        return None
    by, mode = str(settings.get("by", "")), str(settings.get("mode", "full"))
    if by not in _DEFINITION_LABELS:
        return []
    facts = [
        ("Definition", _DEFINITION_LABELS[by]),
        (by.capitalize(), "" if by == "sql" else str(settings.get(by, ""))),
        ("Stream", str(settings.get("stream", "")) if by == "connector" else ""),
        ("Sync mode", _MODE_LABELS.get(mode, mode)),
        ("Primary key", ", ".join(map(str, list_setting(settings, "keys")))),
        ("Cursor", str(settings.get("cursor", ""))),
        ("Copy in the storage", str(settings.get("kept_as", ""))),
    ]
    return [(name, value) for name, value in facts if value]


def _publish_action(ctx: RequestContext, found: ResourceView, standing: DataMartStatus) -> PageAction:
    here = urls.resource(found.uid, "mart")
    if standing.published:
        asks = f"Unpublish {found.name}? Its reports cannot run until it is published again."
        act = PageAction("Unpublish", f"{here}/unpublish", "post", "undo-2", confirm=asks)
    else:
        act = PageAction("Publish", f"{here}/publish", "post", "circle-check")
    action = page_frame.action_of(ctx, found.uid, "edit", act)
    if not action.why_not and not standing.published and standing.rows is None:
        return replace(action, why_not="No rows yet. Refresh it before publishing.")
    return action
