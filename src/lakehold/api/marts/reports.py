"""Reports: the rows and the words that one would send, and how often they were read."""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from typing import Annotated

from fastapi import Header, Request, Response
from pydantic import Field

from lakehold.api.catalog.shown import Settings
from lakehold.api.frame.callers import shown_by
from lakehold.api.frame.models import Answer, Body, IdText, NameText
from lakehold.api.frame.routes import SIGNED, problems, router
from lakehold.api.frame.works import Asked, Writing, house_of
from lakehold.api.iceberg.catalog import lake_of
from lakehold.api.pipeline import formats
from lakehold.api.pipeline.formats import CSV, JSON
from lakehold.api.pipeline.queries import Found
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.lake import readable_tables
from lakehold.runs import worker_client
from lakehold.runs.worker_client import ARROW_MEDIA_TYPE
from lakehold.workspaces.marts import reports
from lakehold.workspaces.marts.live import pulls
from lakehold.workspaces.settings_reader import SettingsReader

routes = router("/api/v1/reports", "Reports")

_SHOWN = 100


class ReportPreview(Body):
    """A report that is there, or one that would be made on a data mart."""

    mart: IdText = Field(examples=["daily_sales"])
    settings: Settings = Field(examples=[{"columns": ["day", "amount"], "limit": 10}])
    parameters: dict[str, str] = Field(default_factory=dict, examples=[{}])


class MessagePreview(ReportPreview):
    """The same, with its name."""

    name: NameText = Field(examples=["Sales by day"])


class WrittenMessage(Answer):
    """What would be said."""

    text: str = Field(examples=["4 rows"], description="As a mail says it in plain text.")
    html: str = Field(examples=["<p>4 rows</p>"], description="As a mail shows it; values in it are escaped.")
    chat: str = Field(examples=["4 rows"], description="As a chat is told it.")


@routes.post("/preview-message", openapi_extra=SIGNED, responses=problems(400, 401, 403, 404, 409, 503))
def preview_message(request: Request, body: MessagePreview) -> WrittenMessage:
    """What the message of a report would say of the rows that it has for you now.

    A message that speaks of what the report does not have is refused, with all that there is.
    """
    asked = Asked(request, shown_by(request), writes=False).run(
        lambda ctx: reports.prepare_preview(ctx, lake_of(request), body.settings, body.mart, body.name)
    )
    found = reports.render_preview(house_of(request), asked)
    return WrittenMessage(text=found.text, html=found.html, chat=found.chat)


@routes.post("/{report}/take-over", status_code=204)
def take_over_report(ctx: Writing, report: IdText) -> None:
    """Let a report be pulled as yourself from now on, as if you had saved it anew."""
    pulls.take_over(ctx, report)


@routes.post(
    "/preview",
    openapi_extra=SIGNED,
    response_model=Found,
    responses={
        200: {"description": "The rows", "content": {CSV: {}, ARROW_MEDIA_TYPE: {}}},
        **problems(400, 401, 403, 404, 409, 503),
    },
)
def preview_report(
    request: Request,
    body: ReportPreview,
    accept: Annotated[str, Header(max_length=200, examples=[JSON])] = JSON,
) -> Response:
    """The first hundred rows that a report would send to you, as the data marts are now."""

    def asked(ctx: RequestContext) -> tuple[Caller, str]:
        readable_tables.refuse_impersonation(ctx)
        told = SettingsReader(body.settings, reports.REPORT_LABEL)
        return ctx.caller, reports.report_sql(ctx, lake_of(request), told, body.mart, body.parameters)

    caller, text = Asked(request, shown_by(request), writes=False).run(asked)
    stack, uid = ExitStack(), f"q_{secrets.token_hex(12)}"
    found = stack.enter_context(
        worker_client.run_query(house_of(request), caller, uid=uid, workspace="", text=text, rows=_SHOWN)
    )
    return formats.streamed(found, accept, stack)
