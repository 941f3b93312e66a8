"""New reports, and changing them. Every button sends the whole form, so that nothing is lost without scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.api.iceberg_rest import get_lake
from lakehold.catalog import kinds, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.connections import delivery_form
from lakehold.web.cookies import Flash
from lakehold.web.lakehouse import forms
from lakehold.web.lakehouse.sources import looking
from lakehold.web.lakehouse.sources.troubles import is_no_worker
from lakehold.web.lakehouse.zones import zones
from lakehold.web.marts.destinations.routes import need_project
from lakehold.web.marts.reports import asking, checking, choosing, filled
from lakehold.web.marts.reports import kinds as types
from lakehold.web.marts.reports.asking import Preview
from lakehold.web.marts.reports.filled import Report
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.marts.mart_kinds import DATA_MART_KIND, REPORT_KIND

new = router("/workspaces")
routes = router("/resources")


@new.get("/{uid:path}/reports/new")
def new_form(request: Request, ctx: ReadContext, uid: str, mart: str = "") -> Response:
    """What it is about is chosen first; then the form for that."""
    ctx.need_visible(uid)
    if kinds.schema_of(ctx.view, uid).id == DATA_MART_KIND:
        return pages.redirect(request, new_address(ctx, uid))
    need_project(ctx, uid)
    return Form(request, uid, _usable(ctx, mart)).page(ctx, Report())


@new.post("/{uid:path}/reports/new")
def make(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Make it, or show the form again with what a button did."""

    def asked(ctx: RequestContext) -> str:
        need_project(ctx, uid)
        return _usable(ctx, str(sent.get("mart", "")))

    return _sent(Form(request, uid, looking.reading(request).run(asked)), sent)


@routes.get("/{uid:path}/report/edit")
def edit_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """The form with what it says now."""
    found, mart = _need_edit(ctx, uid)
    return Form(request, _within(found), mart, found).page(ctx, filled.present(found, found.settings or {}))


@routes.post("/{uid:path}/report/edit")
def edit(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Change it, or show the form again with what a button did."""
    found, mart = looking.reading(request).run(lambda ctx: _need_edit(ctx, uid))
    return _sent(Form(request, _within(found), mart, found), sent)


class Form:
    """The form as it is shown: for a new one on a mart, or for one that is there."""

    def __init__(self, request: Request, within: str, mart: str, found: ResourceView | None = None) -> None:
        self.request, self.within, self.mart, self.found = request, within, mart, found

    def page(
        self,
        ctx: RequestContext,
        said: Report,
        *,
        errors: dict[str, str] | None = None,
        error: LakeholdError | None = None,
        seen: Preview | None = None,
    ) -> Response:
        """Show it, with all that was filled in."""
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
            "no_worker": seen is not None and seen.error is not None and is_no_worker(seen.error),
        }
        values |= self._options(ctx, said) if self.mart else {"marts": choosing.marts(ctx, self.within)}
        status = 422 if errors or error else 200
        return pages.render(self.request, "marts/report_form.html", values, status=status)

    def _mart(self, ctx: RequestContext) -> tuple[str, str] | None:
        if not self.mart:
            return None
        return self.mart, ctx.session.read_view(lambda view: view.names.get(view.resource(self.mart)) or "")

    def _options(self, ctx: RequestContext, said: Report) -> dict[str, object]:
        known = choosing.columns(ctx, get_lake(self.request), self.mart)
        chosen = list(said.columns)
        order = sorted(known.columns, key=lambda each: chosen.index(each.name) if each.name in chosen else len(chosen))
        sorts = said.shown or [each.name for each in known.columns]
        return {
            "known": known,
            "columns": order,
            "names": [(each.name, each.label) for each in known.columns],
            "sorts": [("", "–"), *((name, known.label_of(name)) for name in sorts)],
            "operators": types.operators,
            "sums": types.sums,
            "hint": types.hint,
            "sends": types.SENDS,
            "shapes": [("", "As its destination says"), *delivery_form.FILE_FORMATS],
            "zones": [(each, each) for each in zones()],
            "destinations": choosing.goals(ctx, self.within, self.found),
        }


def new_address(ctx: RequestContext, mart: str) -> str:
    """Where a report on a mart is made."""
    project = ctx.session.read_view(lambda view: kinds.workspace_of(view, mart)) or ""
    return f"{urls.workspace(project, 'reports/new')}?{urlencode({'mart': mart})}"


def need_report(ctx: RequestContext, uid: str) -> ResourceView:
    """The report, as the caller may see it."""
    found = resources.get(ctx, uid)
    if found.kind != REPORT_KIND:
        raise NotFoundError(f"There is no report {quote(uid)}.", "Look its name up in the project.")
    return found


def _sent(form: Form, sent: SubmittedForm) -> Response:
    """What becomes of a form: a row more or less, a preview, or kept."""
    said, do, reading = filled.sent(sent), str(sent.get("do", "")), looking.reading(form.request)
    if not form.mart:
        return reading.run(lambda ctx: form.page(ctx, said))
    if do not in {"save", "preview"}:
        return reading.run(lambda ctx: form.page(ctx, said.added(do, sent)))
    before = form.found.settings if form.found else None
    lake = get_lake(form.request)
    wrong = reading.run(lambda ctx: checking.wrong(ctx, lake, form.mart, said, has_goal=form.found is not None))
    if do == "preview":
        wrong = {name: words for name, words in wrong.items() if name not in {"name", "destination"}}
        seen = None if wrong else asking.preview(form.request, form.mart, said.settings(before), said.name or "Report")
        return reading.run(lambda ctx: form.page(ctx, said, errors=wrong, seen=seen))
    if wrong:
        return reading.run(lambda ctx: form.page(ctx, said, errors=wrong))
    try:
        uid = looking.writing(form.request).run(lambda ctx: _kept(ctx, form, said, before))
    except forms.MENDED as refusal:
        error = refusal
        return reading.run(lambda ctx: form.page(ctx, said, error=error))
    words = (
        "Saved. It is so from the next run on."
        if form.found
        else f"{said.name} was made. Run it, or give it a trigger."
    )
    return pages.redirect(form.request, kind_pages.resource_overview_url(uid, REPORT_KIND), Flash(words))


def _kept(ctx: RequestContext, form: Form, said: Report, before: Mapping[str, object] | None) -> str:
    settings = said.settings(before)
    if form.found is None:
        edges: dict[str, Any] = {"data_mart": form.mart, "destination": said.destination}
        return resources.create(
            ctx, REPORT_KIND, said.name, edges=edges, settings=settings, description=said.description
        )
    goal = {"destination": [said.destination]} if said.destination else None
    wanted = ResourceEdit(said.name, said.description, settings, edges=goal)
    resource_edit.apply_edit(ctx, form.found.uid, wanted, expect_version=forms.whole(said.version))
    return form.found.uid


def _need_edit(ctx: RequestContext, uid: str) -> tuple[ResourceView, str]:
    found = need_report(ctx, uid)
    ctx.need("edit", uid)
    return found, ctx.session.read_view(lambda view: kinds.parent_of(view, uid)) or ""


def _usable(ctx: RequestContext, mart: str) -> str:
    """The mart, if it is one that the caller may report on; empty where none is named."""
    if mart:
        if kinds.schema_of(ctx.view, resources.get(ctx, mart).uid).id != DATA_MART_KIND:
            raise NotFoundError(f"There is no data mart {quote(mart)}.", "Look its name up in the project.")
        ctx.need("use", mart)
    return mart


def _within(found: ResourceView) -> str:
    return found.workspace.uid if found.workspace else ""
