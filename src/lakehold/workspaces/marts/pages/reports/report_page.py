"""The pages of a report: query, destination, runs, insights and a preview of its rows; and a project's insights."""

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, read_transaction
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog import kinds, resource_metadata, resources
from lakehold.catalog.resource_view import ResourceView, VisibleRefs, owners_of
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND
from lakehold.lake.sql_expressions import UNARY_OPERATORS
from lakehold.runs import run_table as states
from lakehold.runs.service import Run
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.list_view import ListState
from lakehold.web.routing import router
from lakehold.web.runs import RUNS, labels
from lakehold.web.runs.runnable_page import latest_runs, overview_values, runnable_frame
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.marts import insights, pipelines
from lakehold.workspaces.marts.pages import destination_pages, page_frame
from lakehold.workspaces.marts.pages.reports import form_options, form_pages, report_form
from lakehold.workspaces.marts.pages.reports.form_options import MartColumns
from lakehold.workspaces.marts.pages.reports.report_form import FormRow, ReportForm
from lakehold.workspaces.marts.settings import REPORT_KIND

QueryFacts = list[tuple[str, str]]
_SEND_LABELS = {option[0]: option[1] for option in report_form.DESIGN.options_of("report", "send")}


def describe_query(said: ReportForm, known: MartColumns) -> QueryFacts:
    """Return the query as pairs of label and value."""
    label, sums, limit, zone = known.label_of, said.sums, said.text("limit"), said.text("zone")
    sort = [f"{label(each['column'])} ({'descending' if each['way'] == 'down' else 'ascending'})" for each in said.sort]
    facts = [
        ("Group by" if sums else "Columns", ", ".join(map(label, said.columns)) or ("None (total)" if sums else "All")),
        ("Aggregations", ", ".join(_aggregate_label(each, known) for each in sums)),
        ("Filters", " and ".join(_condition_label(each, known) for each in said.where)),
        ("Sort by", "; ".join(sort)),
        ("Row limit", f"{int(limit):,} rows" if limit else ""),
        ("Parameters", said.text("parameters").replace("\n", "; ")),
        ("Send", _SEND_LABELS.get(said.text("send"), said.text("send"))),
        ("Time zone", zone if zone != "UTC" else ""),
    ]
    return [(name, value) for name, value in facts if value]


def _aggregate_label(each: FormRow, known: MartColumns) -> str:
    how = form_options.AGGREGATES.get(each["how"] or "count", each["how"])
    words = f"{how} of {known.label_of(each['column'])}" if each["column"] else "Number of rows"
    return f"{words}, as {each['name']}" if each["name"] else words


def _condition_label(each: FormRow, known: MartColumns) -> str:
    words = form_options.operator_label(each["is"] or "=", known.type_of(each["column"]))
    value = "" if each["is"] in UNARY_OPERATORS else f" {each['value']}"
    return f"{known.label_of(each['column'])} {words}{value}"


routes = router("/resources")
project_routes = router("/workspaces")

_SORTS = {
    "name": lambda each: each.report.name.casefold(),
    "sent": lambda each: each.delivered.times,
    "failed": lambda each: each.delivered.failed,
    "read": lambda each: each.pulled.times,
    "last": lambda each: each.last_at or 0,
}


@routes.get("/{uid:path}/insights")
def report_insights(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the insights of a report, over ninety days."""
    found = page_frame.need_resource(ctx, uid, REPORT_KIND)
    insight = insights.report_insight(ctx, uid)
    values: dict[str, object] = {
        **runnable_frame(ctx, found, "insights"),
        "usage": insight,
        "took": [labels.format_duration(int(each.seconds * SECOND)) for each in (insight.delivered, insight.pulled)],
    }
    return pages.render(request, "marts/insights.html", values)


@project_routes.get("/{uid:path}/insights")
def project_insights(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the insights of all reports of a project that the caller may see."""
    page_frame.need_project(ctx, uid)
    listing = ListState.from_request(request, ("-last", "name", "sent", "failed", "read"))
    found = listing.select(insights.project_insights(ctx, uid), lambda each: each.report.name, _SORTS)
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Insights"),
        **listing.page_values(found),
        "rows": insights.with_destinations(ctx, listing.slice_page(found)),
    }
    return pages.render(request, "marts/project_insights.html", values)


_LATEST = 5
_MAX_SCANNED = 20
_NOT_SENT = "Nothing was sent: "


@routes.get("/{uid:path}/report")
def report_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, lake: CurrentLake, uid: str) -> Response:
    """Render the page of a report."""
    found = page_frame.need_resource(ctx, uid, REPORT_KIND)
    resource_usage.record(platform, ctx, "see", uid)
    last, mart = _last_deliveries(ctx, found), kinds.parent_of(ctx.view, uid)
    edit = PageAction("Edit", urls.resource(uid, "report/edit"), icon="pencil")
    values: dict[str, object] = {
        **overview_values(ctx, found, "report", latest_runs(ctx, found, _LATEST)),
        "asks": describe_query(
            report_form.report_form_from_resource(found, resource_metadata.load(ctx, uid).settings),
            form_options.mart_columns(ctx, lake, mart) if mart else MartColumns(),
        )
        if _may_see_query(ctx, found)
        else None,
        "goal": _report_destination(ctx, uid),
        "left": destination_pages.last_delivered_file(ctx, platform.settings, uid) if last else None,
        "change": page_frame.action_of(ctx, uid, "edit", edit),
        "mart": VisibleRefs(ctx).parent(uid),
        "last": last,
    }
    return pages.render(request, "marts/report.html", values)


@routes.get("/{uid:path}/rows")
def report_rows(request: Request, uid: str) -> Response:
    """Render the rows that the report would send to the caller now."""

    def prepare(ctx: RequestContext) -> tuple[ResourceView, str, dict[str, object]]:
        found = page_frame.need_resource(ctx, uid, REPORT_KIND)
        mart = ctx.session.read_view(lambda view: kinds.parent_of(view, uid)) or ""
        return found, mart, dict(resource_metadata.load(ctx, uid).settings)

    found, mart, settings = read_transaction(request).run(prepare)
    seen = form_pages.preview_report(request, mart, settings, found.name)
    frame = read_transaction(request).run(lambda ctx: runnable_frame(ctx, found, "rows"))
    return pages.render(request, "marts/report_rows.html", {**frame, "seen": seen})


def _may_see_query(ctx: RequestContext, found: ResourceView) -> bool:
    """Return whether the caller may see the query: editors, runners, and owners even if they may not run it."""
    mine = any(who.uid == ctx.caller.member for held in found.owners.values() for who in held)
    return found.settings is not None or "run" in found.actions or mine


def _report_destination(ctx: RequestContext, uid: str) -> dict[str, object]:
    """Return the destination as far as the caller may see it; if it is deleted, its owners and how to restore it."""
    found: dict[str, object] = {"there": None, "gone": True, "owners": [], "restore": None}
    there = next(iter(edge_targets(ctx, uid, "destination")), "")
    if not there:
        return found
    visible, gone = VisibleRefs(ctx), pipelines.is_deleted(ctx, there)
    seen = visible.ref(there)
    if not gone:
        return {**found, "there": seen, "gone": False}
    # Who sees the report may be who brings it back, though they do not see where it goes.
    back = (("back", urls.resource(uid)),)
    restore = PageAction("Restore", urls.resource(there, "restore"), "post", "undo-2", back)
    may = resources.may_restore(ctx, there)
    held = ctx.session.read_view(lambda view: owners_of(view, there)) if seen else {}
    owners = visible.refs(each for some in held.values() for each in some)
    return {**found, "there": seen, "owners": owners, "restore": restore if may else None}


def _last_deliveries(ctx: RequestContext, found: ResourceView) -> list[tuple[str, Run, str]]:
    """Return the last delivery; and the newest run, if it is another one, with why nothing was sent."""
    deliveries: list[tuple[str, Run, str]] = []
    for run in latest_runs(ctx, found, _MAX_SCANNED):
        if run.state != states.SUCCEEDED:
            if not deliveries and run.state == states.FAILED:
                deliveries.append(("It failed", run, run.error))
            continue
        lines = RUNS.last_log_lines(ctx, run.id)
        reason = next((line.text.removeprefix(_NOT_SENT) for line in lines if line.text.startswith(_NOT_SENT)), "")
        if not reason:
            return [*deliveries, ("Last sent", run, "")]
        if not deliveries:
            deliveries.append(("Not sent", run, reason))
    return deliveries
