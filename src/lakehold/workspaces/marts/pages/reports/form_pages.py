"""The form pages of a report, and the preview of the rows and the message that it would send.

Every button submits the whole form, so that it works without scripts. A worker runs the query of a preview, outside of
any transaction.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from markupsafe import Markup

from lakehold.api.http.dependencies import ReadContext, get_platform, read_transaction, write_transaction
from lakehold.api.iceberg_rest import get_lake
from lakehold.catalog import kinds, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake import readable_tables
from lakehold.runs import worker_client
from lakehold.runs.worker_client import NoWorkerError
from lakehold.web import kind_pages, pages, table_pages, urls
from lakehold.web.access import resource_header
from lakehold.web.cookies import Flash
from lakehold.web.form_values import CORRECTABLE_ERRORS, parse_integer
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.schedules.schedule_form import time_zones
from lakehold.web.table_pages import Grid
from lakehold.workspaces.marts import reports
from lakehold.workspaces.marts.mart_kinds import DATA_MART_KIND, REPORT_KIND
from lakehold.workspaces.marts.messages import MAX_BLOCK_ROWS, MessageData, MessageTemplate
from lakehold.workspaces.marts.pages.destination_form import MartDestinationFormPage
from lakehold.workspaces.marts.pages.page_frame import need_project
from lakehold.workspaces.marts.pages.reports import form_options, report_form
from lakehold.workspaces.marts.pages.reports.report_form import ReportForm
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

    def prepare(ctx: RequestContext) -> tuple[Caller, str, str]:
        readable_tables.refuse_impersonation(ctx)
        report = REPORT.parse(settings)
        return ctx.caller, reports.report_sql(ctx, get_lake(request), report, mart), reports.report_day(ctx, report)

    try:
        caller, text, day = read_transaction(request).run(prepare)
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


new = router("/workspaces")
routes = router("/resources")


@new.get("/{uid:path}/reports/new")
def new_form(request: Request, ctx: ReadContext, uid: str, mart: str = "") -> Response:
    """Render the form for a new report. Its data mart is chosen first."""
    ctx.need_visible(uid)
    if kinds.schema_of(ctx.view, uid).id == DATA_MART_KIND:
        project = ctx.session.read_view(lambda view: kinds.workspace_of(view, uid)) or ""
        form = f"{urls.workspace(project, 'reports/new')}?{urlencode({'mart': uid})}"
        return pages.redirect(request, form)
    need_project(ctx, uid)
    return ReportFormPage(request, uid, _need_usable_mart(ctx, mart)).render(ctx, ReportForm())


@new.post("/{uid:path}/reports/new")
def make(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Create the report, or render the form again after another button."""

    def find_mart(ctx: RequestContext) -> str:
        need_project(ctx, uid)
        return _need_usable_mart(ctx, str(sent.get("mart", "")))

    return _submit_form(ReportFormPage(request, uid, read_transaction(request).run(find_mart)), sent)


@routes.get("/{uid:path}/report/edit")
def edit_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the form of an existing report."""
    found, mart = _need_edit(ctx, uid)
    return ReportFormPage(request, _workspace_id(found), mart, found).render(
        ctx, report_form.report_form_from_resource(found, found.settings or {})
    )


@routes.post("/{uid:path}/report/edit")
def edit(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Save the report, or render the form again after another button."""
    found, mart = read_transaction(request).run(lambda ctx: _need_edit(ctx, uid))
    return _submit_form(ReportFormPage(request, _workspace_id(found), mart, found), sent)


class ReportFormPage:
    """Renders the form of a new report on a data mart, or of an existing one."""

    def __init__(self, request: Request, within: str, mart: str, found: ResourceView | None = None) -> None:
        self.request, self.within, self.mart, self.found = request, within, mart, found

    def render(
        self,
        ctx: RequestContext,
        said: ReportForm,
        *,
        errors: dict[str, str] | None = None,
        error: LakeholdError | None = None,
        seen: ReportSample | None = None,
    ) -> Response:
        """Render the form with all submitted values."""
        uid = self.found.uid if self.found else ""
        values: dict[str, object] = {
            "crumbs": resource_header.breadcrumbs(ctx, uid or self.within, "Edit" if uid else "New report"),
            "title": f"Edit {self.found.name}" if self.found else "New report",
            "to": urls.resource(uid, "report/edit") if uid else urls.workspace(self.within, "reports/new"),
            "back": resource_header.overview_url(ctx, uid) if uid else urls.workspace(self.within, "report"),
            "is_new": not uid,
            "filled": said,
            "mart": (self.mart, ctx.view.names.get(ctx.view.resource(self.mart)) or "") if self.mart else None,
            "errors": errors or {},
            "error": error,
            "seen": seen,
            "no_worker": seen is not None and isinstance(seen.error, NoWorkerError),
        }
        values |= self._options(ctx, said) if self.mart else {"marts": form_options.mart_options(ctx, self.within)}
        status = 422 if errors or error else 200
        return pages.render(self.request, "marts/report_form.html", values, status=status)

    def _options(self, ctx: RequestContext, said: ReportForm) -> dict[str, object]:
        known = form_options.mart_columns(ctx, get_lake(self.request), self.mart)
        chosen = list(said.columns)
        order = sorted(known.columns, key=lambda each: chosen.index(each.name) if each.name in chosen else len(chosen))
        sorts = said.result_columns or [each.name for each in known.columns]
        return {
            "known": known,
            "columns": order,
            "names": [(each.name, each.label) for each in known.columns],
            "sorts": [("", "–"), *((name, known.label_of(name)) for name in sorts)],
            "operators": form_options.operator_options,
            "sums": form_options.aggregate_options,
            "hint": form_options.value_hint,
            "sends": form_options.SEND_MODES,
            "shapes": [("", "Default of the destination"), *MartDestinationFormPage.design.options_of("files", "kind")],
            "zones": [(each, each) for each in time_zones()],
            "destinations": form_options.destination_options(ctx, self.within, self.found),
        }


def need_report(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the report, if the caller may see it."""
    found = resources.get(ctx, uid)
    if found.kind != REPORT_KIND:
        raise NotFoundError(f"There is no report {quote(uid)}.", "Check the name in the project.")
    return found


def _submit_form(form: ReportFormPage, sent: SubmittedForm) -> Response:
    """Handle a submitted form: add or remove a row, preview, or save."""
    said, do, reading = (
        report_form.parse_report_form(sent),
        str(sent.get("do", "")),
        read_transaction(form.request),
    )
    if not form.mart:
        return reading.run(lambda ctx: form.render(ctx, said))
    if do not in {"save", "preview"}:
        return reading.run(lambda ctx: form.render(ctx, said.with_row(do, sent)))
    before = form.found.settings if form.found else None
    lake = get_lake(form.request)
    wrong = reading.run(
        lambda ctx: report_form.report_errors(ctx, lake, form.mart, said, has_goal=form.found is not None)
    )
    if do == "preview":
        wrong = {name: words for name, words in wrong.items() if name not in {"name", "destination"}}
        seen = None if wrong else preview_report(form.request, form.mart, said.settings(before), said.name or "Report")
        return reading.run(lambda ctx: form.render(ctx, said, errors=wrong, seen=seen))
    if wrong:
        return reading.run(lambda ctx: form.render(ctx, said, errors=wrong))
    try:
        uid = write_transaction(form.request).run(lambda ctx: _save(ctx, form, said, before))
    except CORRECTABLE_ERRORS as refusal:
        error = refusal
        return reading.run(lambda ctx: form.render(ctx, said, error=error))
    words = "Saved. Applies from the next run." if form.found else f"{said.name} was created. Run it, or add a trigger."
    return pages.redirect(form.request, kind_pages.resource_overview_url(uid, REPORT_KIND), Flash(words))


def _save(ctx: RequestContext, form: ReportFormPage, said: ReportForm, before: Mapping[str, object] | None) -> str:
    settings = said.settings(before)
    if form.found is None:
        edges: dict[str, Any] = {"data_mart": form.mart, "destination": said.destination}
        return resources.create(
            ctx, REPORT_KIND, said.name, edges=edges, settings=settings, description=said.description
        )
    goal = {"destination": [said.destination]} if said.destination else None
    edit_request = ResourceEdit(said.name, said.description, settings, edges=goal)
    resource_edit.apply_edit(ctx, form.found.uid, edit_request, expect_version=parse_integer(said.version))
    return form.found.uid


def _need_edit(ctx: RequestContext, uid: str) -> tuple[ResourceView, str]:
    found = need_report(ctx, uid)
    ctx.need("edit", uid)
    return found, ctx.session.read_view(lambda view: kinds.parent_of(view, uid)) or ""


def _need_usable_mart(ctx: RequestContext, mart: str) -> str:
    """Return the data mart if the caller may report on it; empty if none is named."""
    if mart:
        if kinds.schema_of(ctx.view, resources.get(ctx, mart).uid).id != DATA_MART_KIND:
            raise NotFoundError(f"There is no data mart {quote(mart)}.", "Check the name in the project.")
        ctx.need("use", mart)
    return mart


def _workspace_id(found: ResourceView) -> str:
    return found.workspace.uid if found.workspace else ""
