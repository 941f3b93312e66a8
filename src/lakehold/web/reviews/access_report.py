"""The report of everybody's effective access in a workspace, computed by Spark in a background job."""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import FileResponse

from lakehold.api.http.dependencies import ReadContext, WriteContext, get_platform
from lakehold.catalog import campaigns, change_preview
from lakehold.catalog.campaigns import CampaignView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.runs.jobs import service, table
from lakehold.runs.jobs.registry import ACCESS_REVIEW, FORMATS
from lakehold.runs.jobs.service import Job
from lakehold.web import pages, urls
from lakehold.web.components import PageAction
from lakehold.web.cookies import Flash
from lakehold.web.navigation import Breadcrumb
from lakehold.web.reviews.campaign_list import review_breadcrumbs
from lakehold.web.routing import SubmittedForm, router

routes = router("/reviews")

_MAX_LISTED = 3
_MAX_SEARCHED = 50
_FORMAT_LABELS = {"csv": "CSV", "parquet": "Parquet", "arrow": "Arrow"}


@routes.post("/{uid}/work-out")
def start_report(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Start the job that computes the report."""
    detail = campaigns.get(ctx, uid)
    service.start_job(ctx, ACCESS_REVIEW, {"format": str(sent.get("format", "csv")), "inside": detail.workspace.uid})
    return pages.redirect(request, f"/reviews/{uid}", Flash("It has been handed to a worker."))


@routes.get("/{uid}/worked-out")
def report_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Show the progress of the job. The campaign's page polls this fragment while the job runs."""
    detail = campaigns.get(ctx, uid)
    breadcrumbs = review_breadcrumbs(ctx, Breadcrumb(detail.campaign.name, f"/reviews/{uid}"), Breadcrumb("Worked out"))
    return pages.render(
        request, "reviews/worked_out.html", {"told": detail, "crumbs": breadcrumbs, **report_values(ctx, detail)}
    )


@routes.get("/{uid}/worked-out/{job}")
def download_report(request: Request, ctx: WriteContext, uid: str, job: str) -> Response:
    """Download the report. Every download is recorded in the audit log."""
    detail = campaigns.get(ctx, uid)
    found = service.get_job(ctx, job)
    if not _is_report_of(found, detail):
        raise NotFoundError("There is no such file.", "Look at the review again.")
    result = service.get_result(ctx, job, get_platform(request).settings.data)
    name = f"who-could-do-what{result.file.suffix}"
    return FileResponse(result.file, media_type=result.media_type, filename=name, headers={"cache-control": "no-store"})


def report_values(ctx: RequestContext, detail: CampaignView) -> dict[str, object]:
    """Return the template values of the report's part of the page."""
    found = [
        job for job in service.list_jobs(ctx, kind=ACCESS_REVIEW, limit=_MAX_SEARCHED) if _is_report_of(job, detail)
    ][:_MAX_LISTED]
    may = change_preview.may_ask_about_others(ctx)
    return {
        "jobs": found,
        "running": any(job.state not in table.ENDED for job in found),
        "may_work_out": may,
        "work_out": PageAction("Work it out") if may else _refused_action(ctx),
        "formats": [(each, _FORMAT_LABELS.get(each, each)) for each in sorted(FORMATS, key=lambda each: each != "csv")],
    }


def _is_report_of(job: Job, detail: CampaignView) -> bool:
    return job.kind == ACCESS_REVIEW and job.wanted.get("inside") == detail.workspace.uid


def _refused_action(ctx: RequestContext) -> PageAction:
    return PageAction(
        "Work it out",
        why_not="It tells what everybody may do, which only those learn who may ask about others.",
        request=urls.request(ctx.caller.tenant, change_preview.ASK),
    )
