"""The form pages of a report, and the preview of the rows and the message that it would send.

Every button submits the whole form, so that it works without scripts. A worker runs the query of a preview, outside of
any transaction.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from markupsafe import Markup
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import ReadContext, get_platform, read_transaction, write_transaction
from lakehold.api.iceberg_rest import get_lake
from lakehold.catalog import kinds, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.runs.worker_client import NoWorkerError
from lakehold.web import kind_pages, pages, table_pages, urls
from lakehold.web.access import resource_header
from lakehold.web.connections.form_page import workspace_id
from lakehold.web.cookies import Flash
from lakehold.web.form_values import CORRECTABLE_ERRORS, error_field, parse_integer
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.schedules.schedule_form import time_zones
from lakehold.web.table_pages import Grid
from lakehold.workspaces.marts import reports
from lakehold.workspaces.marts.messages import MAX_BLOCK_ROWS, MessageData, MessageTemplate
from lakehold.workspaces.marts.pages import page_frame
from lakehold.workspaces.marts.pages.destination_pages import MartDestinationFormPage
from lakehold.workspaces.marts.pages.reports import form_options, report_form
from lakehold.workspaces.marts.pages.reports.report_form import ReportForm
from lakehold.workspaces.marts.settings import DATA_MART_KIND, REPORT_KIND

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

    @property
    def no_worker(self) -> bool:
        """Whether only a worker is missing."""
        return isinstance(self.error, NoWorkerError)


def preview_report(request: Request, mart: str, settings: Mapping[str, object], name: str) -> ReportSample:
    """Run the report's query as the caller. Refusals are part of the result."""
    try:
        prepared = read_transaction(request).run(
            lambda ctx: reports.prepare_preview(ctx, get_lake(request), settings, mart)
        )
        with prepared.run_query(get_platform(request)) as found:
            schema, batches, complete = found.batches.schema, list(found.batches), found.complete
    except LakeholdError as error:
        return ReportSample(error=error)
    rows = [row for batch in batches for row in zip(*(each.to_pylist() for each in batch.columns), strict=True)]
    some, labels = rows[: MAX_BLOCK_ROWS + 1], tuple(schema.names)
    first = MessageData(name, prepared.day, prepared.statement.columns, some, len(rows), complete, labels)
    try:
        words = render_message(prepared.report.message, first)
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
    page_frame.need_project(ctx, uid)
    filled = _restored_form(request) or report_form.blank_report_form()
    return ReportFormPage(request, uid, _need_usable_mart(ctx, mart)).render(ctx, filled)


@new.post("/{uid:path}/reports/new")
def make(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Create the report, or render the form again after another button."""

    def find_mart(ctx: RequestContext) -> str:
        page_frame.need_project(ctx, uid)
        return _need_usable_mart(ctx, str(sent.get("mart", "")))

    return ReportFormPage(request, uid, read_transaction(request).run(find_mart)).submit(sent)


@routes.get("/{uid:path}/report/edit")
def edit_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the form of an existing report."""
    found, mart = _need_edit(ctx, uid)
    filled = _restored_form(request, found.settings) or report_form.report_form_from_resource(
        found, found.settings or {}
    )
    return ReportFormPage(request, workspace_id(found), mart, found).render(ctx, filled)


@routes.post("/{uid:path}/report/edit")
def edit(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Save the report, or render the form again after another button."""
    found, mart = read_transaction(request).run(lambda ctx: _need_edit(ctx, uid))
    return ReportFormPage(request, workspace_id(found), mart, found).submit(sent)


def _restored_form(request: Request, settings: Mapping[str, object] | None = None) -> ReportForm | None:
    sent = pages.restored_form(request)
    return report_form.parse_report_form(sent, settings) if sent else None


def _need_edit(ctx: RequestContext, uid: str) -> tuple[ResourceView, str]:
    found = page_frame.need_edit(ctx, uid, REPORT_KIND)
    return found, ctx.session.read_view(lambda view: kinds.parent_of(view, uid)) or ""


def _need_usable_mart(ctx: RequestContext, mart: str) -> str:
    """Return the data mart if the caller may report on it; empty if none is named."""
    if mart:
        page_frame.need_resource(ctx, mart, DATA_MART_KIND)
        ctx.need("use", mart)
    return mart


class ReportFormPage:
    """Renders and saves the form of a new report on a data mart, or of an existing one."""

    def __init__(self, request: Request, within: str, mart: str, found: ResourceView | None = None) -> None:
        self.request, self.within, self.mart, self.found = request, within, mart, found

    def render(
        self,
        ctx: RequestContext,
        filled: ReportForm,
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
            "filled": filled,
            "mart": (self.mart, ctx.view.names.get(ctx.view.resource(self.mart)) or "") if self.mart else None,
            "errors": errors or {},
            "error": error,
            "seen": seen,
        }
        values |= self._options(ctx, filled) if self.mart else {"marts": form_options.mart_options(ctx, self.within)}
        status = 422 if errors or error else 200
        return pages.render(self.request, "marts/report_form.html", values, status=status)

    def _options(self, ctx: RequestContext, filled: ReportForm) -> dict[str, object]:
        known = form_options.mart_columns(ctx, get_lake(self.request), self.mart)
        chosen = list(filled.columns)
        order = sorted(known.columns, key=lambda each: chosen.index(each.name) if each.name in chosen else len(chosen))
        sorts = filled.result_columns or [each.name for each in known.columns]
        return {
            "known": known,
            "columns": order,
            "names": [(each.name, each.label) for each in known.columns],
            "sorts": [("", "–"), *((name, known.label_of(name)) for name in sorts)],
            "operators": form_options.operator_options,
            "sums": form_options.aggregate_options,
            "hint": form_options.value_hint,
            "sends": report_form.DESIGN.options_of("report", "send"),
            "shapes": [("", "Default of the destination"), *MartDestinationFormPage.design.options_of("files", "kind")],
            "zones": [(each, each) for each in time_zones()],
            "destinations": form_options.destination_options(ctx, self.within, self.found),
        }

    def submit(self, sent: FormData) -> Response:
        """Handle a submitted form: add or remove a row, preview, or save."""
        filled = report_form.parse_report_form(sent, self.found.settings if self.found else None)
        do, reading = str(sent.get("do", "")), read_transaction(self.request)

        def again(filled: ReportForm = filled, **outcome: Any) -> Response:  # noqa: ANN401 - as `render` has them
            return reading.run(lambda ctx: self.render(ctx, filled, **outcome))

        if not self.mart:
            return again()
        if do not in {"save", "preview"}:
            return again(filled.with_row(do, sent))
        errors = reading.run(lambda ctx: self._errors(ctx, filled))
        if do == "preview":
            errors = {name: text for name, text in errors.items() if name not in {"name", "destination"}}
        if errors:
            return again(errors=errors)
        if do == "preview":
            name = filled.text("name") or "Report"
            return again(seen=preview_report(self.request, self.mart, filled.settings(), name))
        try:
            uid = write_transaction(self.request).run(lambda ctx: self._save(ctx, filled))
        except CORRECTABLE_ERRORS as refusal:
            place = error_field(refusal, {})
            return again(errors={place: str(refusal)}) if place else again(error=refusal)
        created = f"{filled.text('name')} was created. Run it, or add a trigger."
        flash = Flash("Saved. Applies from the next run." if self.found else created)
        return pages.redirect(self.request, kind_pages.resource_overview_url(uid, REPORT_KIND), flash)

    def _errors(self, ctx: RequestContext, filled: ReportForm) -> dict[str, str]:
        lake = get_lake(self.request)
        return report_form.report_errors(ctx, lake, self.mart, filled, has_goal=self.found is not None)

    def _save(self, ctx: RequestContext, filled: ReportForm) -> str:
        name, description, settings = filled.text("name"), filled.text("description"), filled.settings()
        destination = filled.text("destination")
        if self.found is None:
            edges = {"data_mart": self.mart, "destination": destination}
            return resources.create(ctx, REPORT_KIND, name, edges=edges, settings=settings, description=description)
        changes = ResourceEdit(
            name, description, settings, edges={"destination": [destination]} if destination else None
        )
        version = parse_integer(filled.text("version"))
        resource_edit.apply_edit(ctx, self.found.uid, changes, expect_version=version)
        return self.found.uid
