"""The form pages of a report. Every button submits the whole form, so that it works without scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, read_transaction, write_transaction
from lakehold.api.iceberg_rest import get_lake
from lakehold.catalog import kinds, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.runs.worker_client import NoWorkerError
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.cookies import Flash
from lakehold.web.form_values import CORRECTABLE_ERRORS, parse_integer
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.schedules.schedule_form import time_zones
from lakehold.workspaces.marts.mart_kinds import DATA_MART_KIND, REPORT_KIND
from lakehold.workspaces.marts.pages.destination_form import MartDestinationFormPage
from lakehold.workspaces.marts.pages.page_frame import need_project
from lakehold.workspaces.marts.pages.reports import form_options, preview, report_form
from lakehold.workspaces.marts.pages.reports.preview import ReportSample
from lakehold.workspaces.marts.pages.reports.report_form import ReportForm

new = router("/workspaces")
routes = router("/resources")


@new.get("/{uid:path}/reports/new")
def new_form(request: Request, ctx: ReadContext, uid: str, mart: str = "") -> Response:
    """Render the form for a new report. Its data mart is chosen first."""
    ctx.need_visible(uid)
    if kinds.schema_of(ctx.view, uid).id == DATA_MART_KIND:
        return pages.redirect(request, new_report_form_url(ctx, uid))
    need_project(ctx, uid)
    return ReportFormPage(request, uid, _need_usable_mart(ctx, mart)).render(ctx, ReportForm())


@new.post("/{uid:path}/reports/new")
def make(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Create the report, or render the form again after another button."""

    def asked(ctx: RequestContext) -> str:
        need_project(ctx, uid)
        return _need_usable_mart(ctx, str(sent.get("mart", "")))

    return _submit_form(ReportFormPage(request, uid, read_transaction(request).run(asked)), sent)


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
            "mart": self._mart(ctx),
            "errors": errors or {},
            "error": error,
            "seen": seen,
            "no_worker": seen is not None and isinstance(seen.error, NoWorkerError),
        }
        values |= self._options(ctx, said) if self.mart else {"marts": form_options.mart_options(ctx, self.within)}
        status = 422 if errors or error else 200
        return pages.render(self.request, "marts/report_form.html", values, status=status)

    def _mart(self, ctx: RequestContext) -> tuple[str, str] | None:
        if not self.mart:
            return None
        return self.mart, ctx.session.read_view(lambda view: view.names.get(view.resource(self.mart)) or "")

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


def new_report_form_url(ctx: RequestContext, mart: str) -> str:
    """Return the address of the form for a new report on a data mart."""
    project = ctx.session.read_view(lambda view: kinds.workspace_of(view, mart)) or ""
    return f"{urls.workspace(project, 'reports/new')}?{urlencode({'mart': mart})}"


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
        seen = (
            None
            if wrong
            else preview.preview_report(form.request, form.mart, said.settings(before), said.name or "Report")
        )
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
