"""Who could do what in a workspace, by whatever path: worked out by Spark in the background."""

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
from lakehold.web.reviews.lists import crumbs
from lakehold.web.routing import SubmittedForm, router

routes = router("/reviews")

_MOST_SHOWN = 3
_LOOKED_THROUGH = 50
_WORDS = {"csv": "CSV", "parquet": "Parquet", "arrow": "Arrow"}


@routes.post("/{uid}/work-out")
def work_out(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Let it be worked out."""
    told = campaigns.get(ctx, uid)
    service.start_job(ctx, ACCESS_REVIEW, {"format": str(sent.get("format", "csv")), "inside": told.workspace.uid})
    return pages.redirect(request, f"/reviews/{uid}", Flash("It has been handed to a worker."))


@routes.get("/{uid}/worked-out")
def worked_out_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """How far it is: the part of the campaign's page that is asked for anew while it lasts."""
    told = campaigns.get(ctx, uid)
    way = crumbs(ctx, Breadcrumb(told.campaign.name, f"/reviews/{uid}"), Breadcrumb("Worked out"))
    return pages.render(request, "reviews/worked_out.html", {"told": told, "crumbs": way, **values(ctx, told)})


@routes.get("/{uid}/worked-out/{job}")
def take(request: Request, ctx: WriteContext, uid: str, job: str) -> Response:
    """The file. Taking it is written down."""
    told = campaigns.get(ctx, uid)
    found = service.get_job(ctx, job)
    if not _is_about(found, told):
        raise NotFoundError("There is no such file.", "Look at the review again.")
    result = service.get_result(ctx, job, get_platform(request).settings.data)
    name = f"who-could-do-what{result.file.suffix}"
    return FileResponse(result.file, media_type=result.media_type, filename=name, headers={"cache-control": "no-store"})


def values(ctx: RequestContext, told: CampaignView) -> dict[str, object]:
    """What the part of the page needs."""
    found = [job for job in service.list_jobs(ctx, kind=ACCESS_REVIEW, limit=_LOOKED_THROUGH) if _is_about(job, told)][
        :_MOST_SHOWN
    ]
    may = change_preview.may_ask_about_others(ctx)
    return {
        "jobs": found,
        "running": any(job.state not in table.ENDED for job in found),
        "may_work_out": may,
        "work_out": PageAction("Work it out") if may else _refused(ctx),
        "formats": [(each, _WORDS.get(each, each)) for each in sorted(FORMATS, key=lambda each: each != "csv")],
    }


def _is_about(job: Job, told: CampaignView) -> bool:
    return job.kind == ACCESS_REVIEW and job.wanted.get("inside") == told.workspace.uid


def _refused(ctx: RequestContext) -> PageAction:
    return PageAction(
        "Work it out",
        why_not="It tells what everybody may do, which only those learn who may ask about others.",
        request=urls.request(ctx.caller.tenant, change_preview.ASK),
    )
