"""Endpoints of destinations. The secret of a live one, delivered files, and live reports.

BI tools pull live reports with the secret of a destination and without sign-in.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Annotated, Literal

from fastapi import Query, Request, Response
from pydantic import Field

from lakehold.api.directory.sign_in import CurrentClient
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext, retry_when_busy
from lakehold.api.http.models import IdText, ItemsResponse, PlainText, RecordEnd, RecordId, RecordTime, ResponseModel
from lakehold.api.http.paging import PageParams, PageResponse
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.api.lake.files import DOWNLOAD, FilePath, VolumeFileJson, files_page, send_file
from lakehold.api.lake.queries import CSV, JSON, ROWS, AcceptedType, QueryResultJson, stream_query
from lakehold.directory.caller import ClientInfo
from lakehold.directory.platform import Platform
from lakehold.kit.errors import BusyError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.runs.worker_client import ARROW_MEDIA_TYPE, QueryRows
from lakehold.workspaces.marts import live, live_pages
from lakehold.workspaces.marts.live import LiveAccess, authenticate
from lakehold.workspaces.marts.live_pages import PullPage
from lakehold.workspaces.marts.report_settings import MAX_ROWS
from lakehold.workspaces.marts.storages import FILES

routes = make_router("/api/v1/destinations", "Destinations")


class LiveSecretJson(ResponseModel):
    """The metadata of a live destination's secret."""

    prefix: str = Field(examples=["lhp_4fK0aQx9Zb"], description="The first characters.")
    made_by: str = Field(examples=["tara"])
    made_at: RecordTime
    used_at: RecordEnd = Field(description="When something was last pulled with it; null if never.")


class CreatedLiveSecretJson(ResponseModel):
    """A new secret, which is never shown again."""

    created: LiveSecretJson = Field(serialization_alias="made")
    secret: str = Field(examples=["lhp_4fK0aQx9Zb_…"])


@routes.get("/{destination}/secret")
def get_live_secret(ctx: ReadContext, destination: IdText) -> LiveSecretJson:
    """Get the metadata of a live destination's secret, for those who may edit it."""
    found = live.get_secret(ctx, destination)
    if found is None:
        raise NotFoundError(f"The destination {quote(destination)} has no secret.", "Make one.")
    return LiveSecretJson.model_validate(found)


@routes.post("/{destination}/secret", status_code=201, responses=problem_responses(409))
def make_live_secret(ctx: WriteContext, destination: IdText) -> CreatedLiveSecretJson:
    """Create the secret of a live destination.

    The previous one is invalid at once. It is shown once, and stored as a hash.
    """
    created = live.create_secret(ctx, destination)
    return CreatedLiveSecretJson.model_validate({"created": created, "secret": created.text})


@routes.delete("/{destination}/secret", status_code=204, responses=problem_responses(409))
def revoke_live_secret(ctx: WriteContext, destination: IdText) -> None:
    """Revoke the secret of a live destination. Nothing can be pulled until another one is created."""
    live.revoke_secret(ctx, destination)


@routes.get("/{destination}/files")
def list_delivered_files(
    ctx: ReadContext, platform: CurrentPlatform, paged: PageParams, destination: IdText, folder: PlainText = ""
) -> PageResponse[VolumeFileJson]:
    """List files that reports have delivered to a destination, for those who may use it."""
    return files_page(paged, FILES.list_files(ctx, platform.settings, destination, folder), folder)


@routes.get("/{destination}/files/{path:path}", **DOWNLOAD)
def download_delivered_file(
    ctx: ReadContext, platform: CurrentPlatform, destination: IdText, path: FilePath
) -> Response:
    """Download a file that a report has delivered, for those who may use the destination."""
    return send_file(*FILES.open_file(ctx, platform, destination, path))


live_routes = make_router("/api/v1/live", "Live reports")

_LIVE_SECURITY: dict[str, object] = {"security": [{"live": []}]}
_MEDIA_TYPES = {"json": JSON, "csv": CSV, "arrow": ARROW_MEDIA_TYPE}


class LiveReportJson(ResponseModel):
    """A report that goes to a live destination."""

    id: RecordId
    name: str = Field(examples=["Sales by day"])
    refused: str = Field(examples=[""], description="Why it cannot be pulled now; empty if it can.")


class PulledRowsJson(QueryResultJson):
    """A page of the rows of a report."""

    next: str | None = Field(
        default=None, examples=[None], description="The address of the next page; null after the last."
    )


@live_routes.get("/{destination}", openapi_extra=_LIVE_SECURITY, responses=problem_responses(401, 403, 404, 409))
def list_live_reports(
    request: Request, platform: CurrentPlatform, lake: CurrentLake, client: CurrentClient, destination: IdText
) -> ItemsResponse[LiveReportJson]:
    """List the reports that can be pulled from a live destination."""
    entered = _authenticate(request, platform, destination, client)
    return ItemsResponse[LiveReportJson].from_records(live.pullable_reports(platform, entered, lake))


@live_routes.get(
    "/{destination}/{report}",
    openapi_extra=_LIVE_SECURITY,
    response_model=PulledRowsJson,
    responses=ROWS | problem_responses(401, 403, 404, 409, 503),
)
def pull_live_report(
    request: Request,
    platform: CurrentPlatform,
    lake: CurrentLake,
    client: CurrentClient,
    destination: IdText,
    report: IdText,
    accept: AcceptedType = JSON,
    format: Annotated[  # noqa: A002 - what tools call it
        Literal["json", "csv", "arrow"] | None, Query(description="Instead of Accept, for tools that cannot set it.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_ROWS, description="The rows of a page, up to LAKEHOLD_QUERY_ROWS.")] = (
        MAX_ROWS
    ),
    cursor: Annotated[str, Query(max_length=100, description="The next page of a pull, from its `next`.")] = "",
) -> Response:
    """Pull the rows that a report has now.

    The query runs as the author of the report, with their current rights, and needs those of who created the secret.
    Many rows come in pages, all of the same moment: the address of the next one is in `next`, in the header Link, and
    in the body of CSV and Arrow. The header X-Lakehold-Complete says whether these were the last rows.
    """
    entered = _authenticate(request, platform, destination, client)
    page = retry_when_busy(lambda: live_pages.open_page(platform, entered, lake, report, cursor=cursor, limit=limit))
    query = request.url.include_query_params(cursor=page.next_cursor).query
    later = f"{platform.settings.base_url}{request.url.path}?{query}"
    return stream_query(_recorded_page(platform, entered, page, later), _MEDIA_TYPES.get(format or "", accept))


@contextmanager
def _recorded_page(platform: Platform, entered: LiveAccess, page: PullPage, later: str) -> Iterator[QueryRows]:
    """Open a page of a pull, and record afterwards how many rows were sent."""
    begun, at = time.monotonic(), platform.clock()
    with page.result.open_page(page.start, page.limit) as found:
        try:
            yield replace(found, next_page="" if found.complete else later)
        finally:
            page.record_read(platform, found.batches.count)
            took = round((time.monotonic() - begun) * 1_000)
            # The rows are there already: they are not spoilt for a line that could not be written.
            with suppress(BusyError):
                retry_when_busy(
                    lambda: live.record_pull(
                        platform, entered, page.pull, at, rows=found.batches.count, milliseconds=took
                    )
                )


def _authenticate(request: Request, platform: Platform, destination: str, client: ClientInfo) -> LiveAccess:
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    bearer = secret.strip() if scheme.lower() == "bearer" else ""
    return retry_when_busy(lambda: authenticate(platform, destination, bearer, client))
