"""Reports before they are sent: the rows that one would have."""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from typing import Annotated, Any

from fastapi import Header, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from lakehold.api.frame.callers import shown_by
from lakehold.api.frame.models import Body, IdText
from lakehold.api.frame.routes import SIGNED, problems, router
from lakehold.api.frame.works import Asked, house_of
from lakehold.api.iceberg.catalog import lake_of
from lakehold.api.pipeline import formats
from lakehold.api.pipeline.formats import CSV, JSON
from lakehold.api.pipeline.queries import Found, closing
from lakehold.directory.caller import Caller
from lakehold.directory.work import Work
from lakehold.pipeline import reading
from lakehold.runs import asking
from lakehold.runs.asking import ARROW
from lakehold.workspaces.lakehouse.pipelines.told import Told
from lakehold.workspaces.marts import reporting

routes = router("/api/v1/reports", "Reports")

_SHOWN = 100


class ReportPreview(Body):
    """A report that is there, or one that would be made on a data mart."""

    mart: IdText = Field(examples=["daily_sales"])
    settings: dict[str, Any] = Field(examples=[{"columns": ["day", "amount"], "limit": 10}])
    parameters: dict[str, str] = Field(default_factory=dict, examples=[{}])


@routes.post(
    "/preview",
    openapi_extra=SIGNED,
    response_model=Found,
    responses={
        200: {"description": "The rows", "content": {CSV: {}, ARROW: {}}},
        **problems(400, 401, 403, 404, 409, 503),
    },
)
def preview_report(
    request: Request,
    body: ReportPreview,
    accept: Annotated[str, Header(max_length=200, examples=[JSON])] = JSON,
) -> Response:
    """The first hundred rows that a report would send to you, as the data marts are now."""

    def asked(work: Work) -> tuple[Caller, str]:
        reading.refuse_viewer(work)
        told = Told(body.settings, reporting.WORD)
        return work.caller, reporting.text(work, lake_of(request), told, body.mart, body.parameters)

    caller, text = Asked(request, shown_by(request), writes=False).run(asked)
    stack, uid = ExitStack(), f"q_{secrets.token_hex(12)}"
    found = stack.enter_context(asking.ask(house_of(request), caller, uid=uid, workspace="", text=text, rows=_SHOWN))
    kind, parts = formats.written(found.batches, accept, complete=found.complete)
    headers = {"X-Lakehold-Complete": str(found.complete).lower()}
    return StreamingResponse(closing(stack, parts), media_type=kind, headers=headers)
