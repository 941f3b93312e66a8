"""Endpoints of live reports, which BI tools pull with the secret of a destination and without sign-in."""

from __future__ import annotations

import time
from contextlib import ExitStack, suppress
from typing import Annotated, Literal

from fastapi import Header, Query, Request, Response
from pydantic import Field

from lakehold.api.directory.sign_in import CurrentClient
from lakehold.api.http.dependencies import CurrentPlatform, retry_when_busy
from lakehold.api.http.models import IdText, ResponseModel
from lakehold.api.http.routing import make_router, problem_responses
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.api.lake import queries
from lakehold.api.lake.queries import CSV, JSON, QueryResultJson
from lakehold.directory.caller import ClientInfo
from lakehold.directory.platform import Platform
from lakehold.kit.clock import Moment
from lakehold.kit.errors import BusyError
from lakehold.runs import worker_client
from lakehold.runs.queries import CountedBatches
from lakehold.runs.worker_client import ARROW_MEDIA_TYPE, QueryRows
from lakehold.workspaces.marts.live import pulls
from lakehold.workspaces.marts.live.pulls import ReportPull
from lakehold.workspaces.marts.live.secrets import LiveAccess, authenticate

routes = make_router("/api/v1/live", "Live reports")

_LIVE_SECURITY: dict[str, object] = {"security": [{"live": []}]}
_MEDIA_TYPES = {"json": JSON, "csv": CSV, "arrow": ARROW_MEDIA_TYPE}


class LiveReportJson(ResponseModel):
    """A report that goes to a live destination."""

    id: IdText
    name: str = Field(examples=["Sales by day"])
    refused: str = Field(examples=[""], description="What stands against pulling it now; empty if nothing does.")


class LiveReportListJson(ResponseModel):
    """Live reports, by name."""

    items: list[LiveReportJson]


@routes.get("/{destination}", openapi_extra=_LIVE_SECURITY, responses=problem_responses(401, 403, 404, 409))
def list_live_reports(
    request: Request, platform: CurrentPlatform, lake: CurrentLake, client: CurrentClient, destination: IdText
) -> LiveReportListJson:
    """List the reports that can be pulled from a live destination."""
    entered = _authenticate(request, platform, destination, client)
    found = pulls.pullable_reports(platform, entered, lake)
    return LiveReportListJson(
        items=[LiveReportJson(id=each.uid, name=each.name, refused=each.refused) for each in found]
    )


@routes.get(
    "/{destination}/{report}",
    openapi_extra=_LIVE_SECURITY,
    response_model=QueryResultJson,
    responses={
        200: {"description": "The rows", "content": {CSV: {}, ARROW_MEDIA_TYPE: {}}},
        **problem_responses(401, 403, 404, 409, 503),
    },
)
def pull_live_report(
    request: Request,
    platform: CurrentPlatform,
    lake: CurrentLake,
    client: CurrentClient,
    destination: IdText,
    report: IdText,
    accept: Annotated[str, Header(max_length=200, examples=[JSON])] = JSON,
    format: Annotated[  # noqa: A002 - what tools call it
        Literal["json", "csv", "arrow"] | None, Query(description="Instead of Accept, for tools that cannot set it.")
    ] = None,
) -> Response:
    """Pull the rows that a report has now.

    The query runs as the person who last saved the report, with their current rights. The header X-Lakehold-Complete
    says whether these are all rows.
    """
    entered = _authenticate(request, platform, destination, client)
    pull = retry_when_busy(lambda: pulls.begin_pull(platform, entered, lake, report))
    begun, at, stack = time.monotonic(), platform.clock(), ExitStack()
    rows = platform.settings.query_rows
    found = stack.enter_context(worker_client.run_query(platform, pull.caller, text=pull.text, rows=rows))
    counting = CountedBatches(found.batches)
    stack.callback(lambda: _record_pull(platform, entered, pull, at, counting, begun))
    return queries.stream_rows(QueryRows(counting, found.complete), _MEDIA_TYPES.get(format or "", accept), stack)


def _record_pull(
    platform: Platform, entered: LiveAccess, pull: ReportPull, at: Moment, counting: CountedBatches, begun: float
) -> None:
    took = round((time.monotonic() - begun) * 1_000)
    # The rows are there already: they are not spoilt for a line that could not be written.
    with suppress(BusyError):
        retry_when_busy(lambda: pulls.record_pull(platform, entered, pull, at, rows=counting.count, milliseconds=took))


def _authenticate(request: Request, platform: Platform, destination: str, client: ClientInfo) -> LiveAccess:
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    bearer = secret.strip() if scheme.lower() == "bearer" else ""
    return retry_when_busy(lambda: authenticate(platform, destination, bearer, client))
