"""What became of reports: delivered and pulled, when, how often and how long."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from lakehold.api.catalog.shown import RefJson, ref
from lakehold.api.frame.models import Answer, IdText, Time, time_of
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Reading
from lakehold.kit.clock import Moment
from lakehold.workspaces.marts import insights
from lakehold.workspaces.marts.insights import ReportUsage

routes = router("/api/v1", "Reports")


class Deliveries(Answer):
    """How often a report was sent, in ninety days."""

    times: int
    failed: int
    last_at: Time | None = Field(description="Null if never.")
    last_rows: int
    places: list[str] = Field(examples=[["ann@x.test"]], description="Where the last one went, if you see that.")
    sure: bool = Field(description="False if the last one may have arrived twice.")
    seconds: float = Field(examples=[1.5], description="How long a run took, on average.")


class Pulls(Answer):
    """How often a report was pulled, in ninety days."""

    times: int
    last_at: Time | None = Field(description="Null if never.")
    rows: int = Field(description="Of all of them.")
    seconds: float = Field(examples=[0.4], description="How long one took, on average.")


class ReportInsight(Answer):
    """What became of a report."""

    report: RefJson
    destination: RefJson | None = Field(description="Null if it has none, or none that you see.")
    last_at: Time | None = Field(description="When it was last sent or pulled; null if never.")
    delivered: Deliveries
    pulled: Pulls


class ReportInsights(Answer):
    """Those that were sent or read last come first."""

    items: list[ReportInsight]


@routes.get("/reports/{report}/insights")
def get_report_insights(ctx: Reading, report: IdText) -> ReportInsight:
    """Where a report was last delivered or pulled, how often and how long, for those who see it."""
    return _told(insights.report_insight(ctx, report))


@routes.get("/projects/{project}/insights")
def list_project_insights(ctx: Reading, project: IdText) -> ReportInsights:
    """The same of all reports of a project that the caller sees."""
    found = insights.with_destinations(ctx, insights.project_insights(ctx, project))
    return ReportInsights(items=[_told(each) for each in found])


def _told(found: ReportUsage) -> ReportInsight:
    sent, pulled = found.delivered, found.pulled
    return ReportInsight(
        report=ref(found.report),
        destination=ref(found.destination) if found.destination else None,
        last_at=_time(found.last_at),
        delivered=Deliveries(
            times=sent.times,
            failed=sent.failed,
            last_at=_time(sent.last_at),
            last_rows=sent.last_rows,
            places=list(sent.places),
            sure=sent.sure,
            seconds=sent.seconds,
        ),
        pulled=Pulls(times=pulled.times, last_at=_time(pulled.last_at), rows=pulled.rows, seconds=pulled.seconds),
    )


def _time(at: Moment | None) -> datetime | None:
    return None if at is None else time_of(at)
