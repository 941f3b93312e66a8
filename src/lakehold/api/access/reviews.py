"""Reviews: every member × resource × action, worked out in the background and fetched as a file."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Request, Response
from fastapi.responses import FileResponse
from pydantic import Field

from lakehold.api.frame.models import Answer, Body, IdText, Time, Word, time_of, told
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Creating, Reading, Writing, house_of
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.runs.jobs import service
from lakehold.runs.jobs.registry import ACCESS_REVIEW

routes = router("/api/v1/access/reviews", "Reviews")


class NewReview(Body):
    """What is to be reviewed, and how it is to be handed over."""

    format: Literal["arrow", "csv", "parquet"] = "parquet"
    kinds: Annotated[list[Word], Field(max_length=200)] | None = Field(
        default=None, examples=[["lakehouse.table"]], description="Only these kinds; all without it."
    )
    inside: IdText | None = Field(default=None, examples=["clean"], description="Only what lies in this resource.")


class Review(Answer):
    """A review, and how far it is."""

    id: str = Field(examples=["job_1f0c3f1de1a44d54"])
    state: str = Field(examples=["done"])
    started_by: str = Field(examples=["adam"])
    wanted: dict[str, object] = Field(examples=[{"format": "parquet"}])
    progress: int = Field(description="In percent.")
    doing: str = Field(examples=[""])
    error: str = Field(examples=[""])
    rows: int = Field(description="How many rows the result has.")
    made_at: Time
    started_at: Time | None = Field(examples=["2031-05-04T10:30:00Z"])
    ended_at: Time | None = Field(examples=["2031-05-04T10:30:00Z"])


@routes.post("", status_code=202)
def start_review(ctx: Creating, body: NewReview) -> Review:
    """Let a review be made.

    Needs the right `ask_about_others`. Ask for it again until its state is `done`, then fetch its result.
    """
    wanted = body.model_dump(exclude_none=True)
    return _told(service.start_job(ctx, ACCESS_REVIEW, wanted))


@routes.get("")
def list_reviews(ctx: Reading, paged: Paged) -> Page[Review]:
    """Reviews, the newest first: one's own, or all for those who may see the audit log."""
    behind = paged.start("reviews", str)
    before = None if behind is None else str(behind[0])
    found = service.list_jobs(ctx, kind=ACCESS_REVIEW, before=before, limit=paged.limit + 1)
    return paged.page("reviews", found, lambda job: (job.id,), _told)


@routes.get("/{review}")
def get_review(ctx: Reading, review: IdText) -> Review:
    """A review, and how far it is."""
    return _told(_job(service.get_job(ctx, review)))


@routes.get(
    "/{review}/result",
    response_class=FileResponse,
    responses={200: {"description": "The file", "content": {"application/octet-stream": {}}}},
)
def get_review_result(ctx: Writing, request: Request, review: IdText) -> Response:
    """The file that a review made. Fetching it is written down."""
    _job(service.get_job(ctx, review))
    found = service.get_result(ctx, review, house_of(request).settings.data)
    return FileResponse(found.file, media_type=found.media_type, filename=f"review{found.file.suffix}")


def _job(job: service.Job) -> service.Job:
    if job.kind != ACCESS_REVIEW:
        raise NotFoundError(f"There is no review {quote(job.id)}.", "Look the id up in the list of reviews.")
    return job


def _told(job: service.Job) -> Review:
    return Review(
        id=job.id,
        state=job.state,
        started_by=job.started_by,
        wanted=dict(job.wanted),
        progress=job.progress,
        doing=job.doing,
        error=job.error,
        rows=job.rows,
        made_at=time_of(job.made_at),
        started_at=told(job.started_at),
        ended_at=told(job.ended_at),
    )
