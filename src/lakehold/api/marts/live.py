"""Live reports: BI tools pull what a report has now, with the secret of its destination and no sign-in."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import Annotated, Literal

import pyarrow as pa
from fastapi import Header, Query, Request, Response
from pydantic import Field

from lakehold.api.directory.visiting import Visiting
from lakehold.api.frame.models import Answer, IdText
from lakehold.api.frame.routes import problems, router
from lakehold.api.frame.works import House, retried
from lakehold.api.iceberg.catalog import InLake
from lakehold.api.pipeline import formats
from lakehold.api.pipeline.formats import CSV, JSON
from lakehold.api.pipeline.queries import Found
from lakehold.directory.caller import ClientInfo
from lakehold.directory.platform import Platform
from lakehold.kit.clock import Moment
from lakehold.kit.errors import BusyError
from lakehold.runs import worker_client
from lakehold.runs.worker_client import ARROW_MEDIA_TYPE, QueryRows, RecordBatches
from lakehold.workspaces.marts.live import pulls
from lakehold.workspaces.marts.live import secrets as entering
from lakehold.workspaces.marts.live.pulls import ReportPull
from lakehold.workspaces.marts.live.secrets import LiveAccess

routes = router("/api/v1/live", "Live reports")

_OPENED: dict[str, object] = {"security": [{"live": []}]}
_KINDS = {"json": JSON, "csv": CSV, "arrow": ARROW_MEDIA_TYPE}


class LiveReport(Answer):
    """A report that goes to a live destination."""

    id: IdText
    name: str = Field(examples=["Sales by day"])
    refused: str = Field(examples=[""], description="What stands against pulling it now; empty if nothing does.")


class LiveReports(Answer):
    """By name."""

    items: list[LiveReport]


@routes.get("/{destination}", openapi_extra=_OPENED, responses=problems(401, 403, 404, 409))
def list_live_reports(
    request: Request, platform: House, lake: InLake, visit: Visiting, destination: IdText
) -> LiveReports:
    """The reports that can be pulled from a live destination."""
    entered = _entered(request, platform, destination, visit)
    found = pulls.pullable_reports(platform, entered, lake)
    return LiveReports(items=[LiveReport(id=each.uid, name=each.name, refused=each.refused) for each in found])


@routes.get(
    "/{destination}/{report}",
    openapi_extra=_OPENED,
    response_model=Found,
    responses={
        200: {"description": "The rows", "content": {CSV: {}, ARROW_MEDIA_TYPE: {}}},
        **problems(401, 403, 404, 409, 503),
    },
)
def pull_live_report(
    request: Request,
    platform: House,
    lake: InLake,
    visit: Visiting,
    destination: IdText,
    report: IdText,
    accept: Annotated[str, Header(max_length=200, examples=[JSON])] = JSON,
    format: Annotated[  # noqa: A002 - what tools call it
        Literal["json", "csv", "arrow"] | None, Query(description="Instead of Accept, for tools that cannot set it.")
    ] = None,
) -> Response:
    """The rows that a report has now.

    They are asked for as the person who last saved the report, with what that person may do at this moment. The header
    X-Lakehold-Complete says whether there were no more.
    """
    entered = _entered(request, platform, destination, visit)
    pull = retried(lambda: pulls.begin_pull(platform, entered, lake, report))
    begun, at, stack = time.monotonic(), platform.clock(), ExitStack()
    found = stack.enter_context(_asked(platform, pull))
    counted = _Counted(found.batches)
    stack.callback(lambda: _written(platform, entered, pull, at, counted, begun))
    return formats.streamed(QueryRows(counted, found.complete), _KINDS.get(format or "", accept), stack)


class _Counted:
    """Rows on their way out, counted."""

    def __init__(self, batches: RecordBatches) -> None:
        self._batches = batches
        self.rows = 0

    @property
    def schema(self) -> pa.Schema:
        """Their fields."""
        return self._batches.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Some at a time."""
        for batch in self._batches:
            self.rows += batch.num_rows
            yield batch


def _asked(platform: Platform, pull: ReportPull) -> AbstractContextManager[QueryRows]:
    uid = f"q_{secrets.token_hex(12)}"
    return worker_client.run_query(
        platform, pull.caller, uid=uid, workspace="", text=pull.text, rows=platform.settings.query_rows
    )


def _written(
    platform: Platform, entered: LiveAccess, pull: ReportPull, at: Moment, counted: _Counted, begun: float
) -> None:
    took = round((time.monotonic() - begun) * 1_000)
    # The rows are there already: they are not spoilt for a line that could not be written.
    with suppress(BusyError):
        retried(lambda: pulls.record_pull(platform, entered, pull, at, rows=counted.rows, milliseconds=took))


def _entered(request: Request, platform: Platform, destination: str, visit: ClientInfo) -> LiveAccess:
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    shown = secret.strip() if scheme.lower() == "bearer" else ""
    return retried(lambda: entering.authenticate(platform, destination, shown, visit))
