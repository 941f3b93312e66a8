"""Endpoints of reviews, which compute every member × resource × action in the background."""

from typing import Annotated, Literal

from fastapi import Request, Response
from fastapi.responses import FileResponse
from pydantic import Field

from lakehold.api.http.dependencies import CreateContext, ReadContext, WriteContext, get_platform
from lakehold.api.http.models import IdText, RecordEnd, RecordTime, RequestModel, ResponseModel, Word
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router
from lakehold.api.lake.files import DOWNLOAD
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.runs.jobs import service
from lakehold.runs.jobs.service import ACCESS_REVIEW

routes = make_router("/api/v1/access/reviews", "Reviews")


class NewReview(RequestModel):
    """The scope and file format of a review to start."""

    format: Literal["arrow", "csv", "parquet"] = "parquet"
    kinds: Annotated[list[Word], Field(max_length=200)] | None = Field(
        default=None, examples=[["lakehouse.table"]], description="Only these kinds; default: all."
    )
    inside: IdText | None = Field(default=None, examples=["clean"], description="Only resources inside this one.")


class ReviewJson(ResponseModel):
    """A review, and its progress."""

    id: str = Field(examples=["job_1f0c3f1de1a44d54"])
    state: str = Field(examples=["done"])
    started_by: str = Field(examples=["adam"])
    options: dict[str, object] = Field(serialization_alias="wanted", examples=[{"format": "parquet"}])
    progress: int = Field(description="In percent.")
    activity: str = Field(serialization_alias="doing", examples=[""])
    error: str = Field(examples=[""])
    rows: int = Field(description="Number of rows of the result.")
    made_at: RecordTime
    started_at: RecordEnd = Field(examples=["2031-05-04T10:30:00Z"])
    ended_at: RecordEnd = Field(examples=["2031-05-04T10:30:00Z"])


@routes.post("", status_code=202)
def start_review(ctx: CreateContext, body: NewReview) -> ReviewJson:
    """Start a review.

    Needs the right `ask_about_others`. Poll until its state is `done`, then fetch its result.
    """
    options = body.model_dump(exclude_none=True)
    return ReviewJson.model_validate(service.start_job(ctx, ACCESS_REVIEW, options))


@routes.get("")
def list_reviews(ctx: ReadContext, paged: PageParams) -> PageResponse[ReviewJson]:
    """List reviews, newest first; one's own, or all for those who may see the audit log."""
    before = paged.start_after("reviews", str)
    found = service.list_jobs(ctx, kind=ACCESS_REVIEW, before=before, limit=paged.limit + 1)
    return paged.build_page("reviews", found, lambda job: (job.id,), ReviewJson.model_validate)


@routes.get("/{review}")
def get_review(ctx: ReadContext, review: IdText) -> ReviewJson:
    """Get a review, and its progress."""
    return ReviewJson.model_validate(_get_review(ctx, review))


@routes.get("/{review}/result", **DOWNLOAD)
def get_review_result(ctx: WriteContext, request: Request, review: IdText) -> Response:
    """Download the file of a review. The download is recorded in the audit log."""
    _get_review(ctx, review)
    file = service.get_result(ctx, review, get_platform(request).settings.data)
    return FileResponse(file, media_type=service.MEDIA_TYPES[file.suffix], filename=f"review{file.suffix}")


def _get_review(ctx: RequestContext, review: str) -> service.Job:
    job = service.get_job(ctx, review)
    if job.kind != ACCESS_REVIEW:
        raise NotFoundError(f"There is no review {quote(job.id)}.", "Check the ID in the list of reviews.")
    return job
