"""Endpoints of reports. Previews, and how often reports were delivered and pulled."""

from fastapi import Request, Response
from pydantic import Field

from lakehold.api.catalog.schemas import RefJson, SettingsJson
from lakehold.api.http.dependencies import ReadContext, WriteContext, get_platform, read_transaction
from lakehold.api.http.models import IdText, ItemsResponse, NameText, RecordEnd, RequestModel, ResponseModel
from lakehold.api.http.routing import WORKER_CALL, make_router
from lakehold.api.iceberg_rest import get_lake
from lakehold.api.lake.queries import JSON, QUERY_CALL, AcceptedType, OwnQueryUid, stream_query
from lakehold.directory.request_context import RequestContext
from lakehold.workspaces.marts import insights, live, reports
from lakehold.workspaces.marts.reports import PreparedPreview

routes = make_router("/api/v1/reports", "Reports")


class ReportPreviewBody(RequestModel):
    """A report to preview."""

    mart: IdText = Field(examples=["daily_sales"])
    settings: SettingsJson = Field(examples=[{"columns": ["day", "amount"], "limit": 10}])
    parameters: dict[str, str] = Field(default_factory=dict, examples=[{}])
    id: OwnQueryUid = None


class MessagePreviewBody(ReportPreviewBody):
    """A report whose message to preview."""

    name: NameText = Field(examples=["Sales by day"])


class RenderedMessageJson(ResponseModel):
    """A rendered message."""

    text: str = Field(examples=["4 rows"], description="The plain text of a mail.")
    html: str = Field(examples=["<p>4 rows</p>"], description="The HTML of a mail; values in it are escaped.")
    chat: str = Field(examples=["4 rows"], description="As chat markup.")


@routes.post("/preview-message", **WORKER_CALL)
def preview_message(request: Request, body: MessagePreviewBody) -> RenderedMessageJson:
    """Preview the message of a report with the rows that you may read now.

    A message that refers to fields that the report does not have is refused, with a list of those it has.
    """

    def prepare(ctx: RequestContext) -> PreparedPreview:
        prepared = reports.prepare_preview(ctx, get_lake(request), body.settings, body.mart)
        reports.check_message(ctx, get_lake(request), body.settings, body.mart)
        return prepared

    prepared = read_transaction(request).run(prepare)
    return RenderedMessageJson.model_validate(
        reports.render_preview(get_platform(request), prepared, body.name, body.id or "")
    )


@routes.post("/{report}/take-over", status_code=204)
def take_over_report(ctx: WriteContext, report: IdText) -> None:
    """Let a report be pulled as yourself from now on, as if you had saved it."""
    live.take_over(ctx, report)


@routes.post("/preview", **QUERY_CALL)
def preview_report(request: Request, body: ReportPreviewBody, accept: AcceptedType = JSON) -> Response:
    """Get the first hundred rows that a report would send to you now."""
    prepared = read_transaction(request).run(
        lambda ctx: reports.prepare_preview(ctx, get_lake(request), body.settings, body.mart, body.parameters)
    )
    return stream_query(prepared.run_query(get_platform(request), body.id or ""), accept)


insight_routes = make_router("/api/v1", "Reports")


class DeliveryStatsJson(ResponseModel):
    """Delivery statistics of a report, of ninety days."""

    times: int
    failed: int
    last_at: RecordEnd = Field(description="Null if never.")
    last_rows: int
    places: list[str] = Field(examples=[["ann@x.test"]], description="Where the last one went, if you see that.")
    sure: bool = Field(description="False if the last one may have arrived twice.")
    seconds: float = Field(examples=[1.5], description="How long a run took, on average.")


class PullStatsJson(ResponseModel):
    """Pull statistics of a report, of ninety days."""

    times: int
    last_at: RecordEnd = Field(description="Null if never.")
    rows: int = Field(description="Of all of them.")
    seconds: float = Field(examples=[0.4], description="How long one took, on average.")


class ReportInsightJson(ResponseModel):
    """Delivery and pull statistics of a report."""

    report: RefJson
    destination: RefJson | None = Field(description="Null if it has none, or none that you see.")
    last_at: RecordEnd = Field(description="When it was last sent or pulled; null if never.")
    delivered: DeliveryStatsJson
    pulled: PullStatsJson


@insight_routes.get("/reports/{report}/insights")
def get_report_insights(ctx: ReadContext, report: IdText) -> ReportInsightJson:
    """Get delivery and pull statistics of a report, for those who see it."""
    return ReportInsightJson.model_validate(insights.report_insight(ctx, report))


@insight_routes.get("/projects/{project}/insights")
def list_project_insights(ctx: ReadContext, project: IdText) -> ItemsResponse[ReportInsightJson]:
    """List delivery and pull statistics of all reports of a project that the caller sees."""
    return ItemsResponse[ReportInsightJson].from_records(
        insights.with_destinations(ctx, insights.project_insights(ctx, project))
    )
