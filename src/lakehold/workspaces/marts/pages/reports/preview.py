"""The preview of a report: the rows and the message that it would send now. A worker runs the query, outside of any
transaction.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Request
from markupsafe import Markup

from lakehold.api.http.dependencies import get_platform, read_transaction
from lakehold.api.iceberg_rest import get_lake
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.lake import readable_tables
from lakehold.runs import worker_client
from lakehold.web import table_pages
from lakehold.web.table_pages import Grid
from lakehold.workspaces.marts import reports
from lakehold.workspaces.marts.message_blocks import MAX_BLOCK_ROWS, MessageData
from lakehold.workspaces.marts.message_template import MessageTemplate
from lakehold.workspaces.marts.settings import REPORT

_MAX_ROWS = 100
_STYLE = re.compile(r' style="[^"]*"')
_BAR = re.compile(r'<div style="[^"]*width:(\d+)%"></div>')
_HEADING = re.compile(r"<(/?)h([1-6])>")
_BODY = re.compile(r"<body>(.*)</body>", re.DOTALL)
_TOP_HEADING = 3
"""Headings of the page stand above those of a message."""


@dataclass(frozen=True, slots=True)
class ReportSample:
    """The rows and the message that would be sent, or the error."""

    grid: Grid | None = None
    complete: bool = True
    words: Markup = Markup("")  # noqa: RUF009 - never changed
    wrong_words: LakeholdError | None = None
    """What is wrong with the message."""
    error: LakeholdError | None = None


def preview_report(request: Request, mart: str, settings: Mapping[str, object], name: str) -> ReportSample:
    """Run the report's query as the caller. Refusals are part of the result."""

    def asked(ctx: RequestContext) -> tuple[Caller, str, str]:
        readable_tables.refuse_impersonation(ctx)
        report = REPORT.parse(settings)
        return ctx.caller, reports.report_sql(ctx, get_lake(request), report, mart), reports.report_day(ctx, report)

    try:
        caller, text, day = read_transaction(request).run(asked)
        with worker_client.run_query(get_platform(request), caller, text=text, rows=_MAX_ROWS) as found:
            schema, batches, complete = found.batches.schema, list(found.batches), found.complete
    except LakeholdError as error:
        return ReportSample(error=error)
    rows = [row for batch in batches for row in zip(*(each.to_pylist() for each in batch.columns), strict=True)]
    first = MessageData(name, day, tuple(schema.names), rows[: MAX_BLOCK_ROWS + 1], len(rows), complete)
    try:
        words = render_message(REPORT.parse(settings).message, first)
    except InvalidInputError as error:
        return ReportSample(table_pages.build_grid(schema, batches), complete, wrong_words=error)
    return ReportSample(table_pages.build_grid(schema, batches), complete, words)


def render_message(template: str, first: MessageData) -> Markup:
    """Render a message as part of a page: inline styles of mails are replaced."""
    if not template:
        return Markup("")
    found = _BODY.search(MessageTemplate(template).render(first).html)
    plain = found[1].strip() if found else ""
    drawn = _BAR.sub(r'<progress class="message-bar" max="100" value="\1" aria-hidden="true"></progress>', plain)
    lower = _HEADING.sub(lambda tag: f"<{tag[1]}h{min(int(tag[2]) + _TOP_HEADING - 1, 6)}>", _STYLE.sub("", drawn))
    # Values were escaped when they were put in, and the template when it became HTML.
    return Markup(lower)  # noqa: S704
