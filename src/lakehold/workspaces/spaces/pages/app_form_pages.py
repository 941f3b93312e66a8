"""The form pages of an app: its charts and filters, with a preview of the charts as they would be.

Every button submits the whole form, so that it works without scripts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import ReadContext, get_platform, read_transaction, write_transaction
from lakehold.api.iceberg_rest import get_lake
from lakehold.catalog import kinds, resource_edit, resources, workspaces
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.kit.ids import fold_name
from lakehold.lake import readable_tables, table_views
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.connections.form_page import workspace_id
from lakehold.web.form_values import CORRECTABLE_ERRORS, error_field, parse_integer
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.spaces.apps import app_data, chart_query
from lakehold.workspaces.spaces.apps.chart_query import ChartSource
from lakehold.workspaces.spaces.datasets import list_datasets
from lakehold.workspaces.spaces.pages import app_form, app_pages, chart_layout
from lakehold.workspaces.spaces.pages.app_form import AppForm
from lakehold.workspaces.spaces.pages.app_pages import ChartCard
from lakehold.workspaces.spaces.settings import APP, APP_KIND, DATASET_KIND, SPACE_KIND
from lakehold.workspaces.spaces.tasks.base import DatasetReference

new = router("/workspaces")
routes = router("/resources")
_MAX_DATASETS = 300
_PLACES = {"charts": "chart-{}", "filters": "filter-{}"}


@dataclass(frozen=True, slots=True)
class DatasetOption:
    """A dataset whose data the caller may consume."""

    uid: str
    task: str
    name: str
    label: str

    @property
    def value(self) -> str:
        """The value of its option."""
        return app_form.option_value(self.task, self.name)


class DatasetOptions:
    """The datasets that the caller may use in an app, and the columns of those that the form uses."""

    def __init__(self, ctx: RequestContext, lake: IcebergCatalog, filled: AppForm) -> None:
        self._ctx, self._lake = ctx, lake
        found = ctx.session.list(ctx.principal, "consume_data", DATASET_KIND, limit=_MAX_DATASETS).items
        self.options = sorted((self._option(each.uid) for each in found), key=lambda each: each.label.casefold())
        by_place = {(each.task, fold_name(each.name)): each for each in self.options}
        used = {(each.task, each.dataset) for each in filled.charts}
        used |= {(each.task, each.dataset) for each in filled.filters}
        self._used = {place: by_place.get((place[0], fold_name(place[1]))) or self._find(*place) for place in used}
        self._sources = {place: self._load(each) for place, each in self._used.items()}

    def _find(self, task: str, dataset: str) -> DatasetOption | None:
        """Return a dataset that is not among the first ones, if the caller may consume its data."""
        known = self._ctx.view.ids.get(task) is not None
        uid = list_datasets(self._ctx, task).get(fold_name(dataset)) if known else None
        return self._option(uid) if uid and self._ctx.session.check(self._ctx.principal, "consume_data", uid) else None

    def _option(self, uid: str) -> DatasetOption:
        task = kinds.parent_of(self._ctx.view, uid) or ""
        *place, name = readable_tables.name_path(self._ctx.view, uid)
        return DatasetOption(uid, task, name, f"{' / '.join(place)} / {name}")

    def _load(self, option: DatasetOption | None) -> ChartSource | None:
        if option is None:
            return None
        found = table_views.view_of(self._ctx, option.uid).current_metadata(self._lake)
        return None if found is None else ChartSource("", {each.name: each.type for each in found.fields})

    def label(self, task: str, dataset: str) -> str:
        """Return what a dataset is called; empty if the caller may not use it."""
        option = self._used.get((task, dataset))
        return option.label if option else ""

    def source(self, task: str, dataset: str) -> ChartSource | None:
        """Return the columns of a dataset; None if they are not known."""
        return self._sources.get((task, dataset))

    def columns(self, task: str, dataset: str, *chosen: str) -> list[tuple[str, str]]:
        """Return the columns of a dataset as options, with those that are chosen and gone."""
        source = self.source(task, dataset)
        there = [(name, f"{name} ({kind})") for name, kind in source.columns.items()] if source else []
        return [*there, *((name, f"{name} (gone)") for name in chosen if name and not (source and source.has(name)))]

    def filter_options(self) -> list[tuple[str, str]]:
        """Return all columns of the used datasets, as options of a new filter."""
        return [
            (app_form.option_value(*place, name), f"{name}, of {place[1]}")
            for place, source in sorted(self._sources.items())
            if source
            for name in source.columns
        ]


@new.get("/{uid:path}/apps/new")
def new_app_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the form of a new app."""
    workspaces.need_workspace(ctx, uid, SPACE_KIND)
    return AppFormPage(request, uid).render(ctx, _restored(request) or AppForm())


@new.post("/{uid:path}/apps/new")
def create_app(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Create the app, or render the form again after another button."""
    read_transaction(request).run(lambda ctx: workspaces.need_workspace(ctx, uid, SPACE_KIND))
    return AppFormPage(request, uid).submit(sent)


@routes.get("/{uid:path}/app/edit")
def edit_app_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the form of an existing app."""
    found = _need_edit(ctx, uid)
    filled = _restored(request) or app_form.app_form_of(found)
    return AppFormPage(request, workspace_id(found), found).render(ctx, filled)


@routes.post("/{uid:path}/app/edit")
def edit_app(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Save the app, or render the form again after another button."""
    found = read_transaction(request).run(lambda ctx: _need_edit(ctx, uid))
    return AppFormPage(request, workspace_id(found), found).submit(sent)


def _restored(request: Request) -> AppForm | None:
    sent = pages.restored_form(request)
    return app_form.parse_app_form(sent) if sent else None


def _need_edit(ctx: RequestContext, uid: str) -> ResourceView:
    found = app_pages.need_app(ctx, uid)
    kinds.need_right(ctx, uid, "edit")
    return found


class AppFormPage:
    """Renders and saves the form of a new app in a space, or of an existing one."""

    def __init__(self, request: Request, within: str, found: ResourceView | None = None) -> None:
        self.request, self.within, self.found = request, within, found

    def render(
        self,
        ctx: RequestContext,
        filled: AppForm,
        *,
        errors: dict[str, str] | None = None,
        error: LakeholdError | None = None,
        cards: list[ChartCard] | None = None,
    ) -> Response:
        """Render the form with all submitted values."""
        uid = self.found.uid if self.found else ""
        values: dict[str, object] = {
            "crumbs": resource_header.breadcrumbs(ctx, uid or self.within, "Edit" if uid else "New app"),
            "title": f"Edit {self.found.name}" if self.found else "New app",
            "to": urls.resource(uid, "app/edit") if uid else urls.workspace(self.within, "apps/new"),
            "back": resource_header.overview_url(ctx, uid) if uid else urls.workspace(self.within, "app"),
            "is_new": not uid,
            "filled": filled,
            "datasets": (datasets := DatasetOptions(ctx, get_lake(self.request), filled)),
            "dataset_options": [(each.value, each.label) for each in datasets.options],
            "labels": app_form,
            "cards": cards,
            "size": chart_layout.DRAWING,
        }
        return pages.render_form(self.request, "spaces/app_form.html", values, errors, error)

    def submit(self, sent: FormData) -> Response:
        """Handle a submitted form: change its rows, preview, or save."""
        filled, do = app_form.parse_app_form(sent), str(sent.get("do", ""))
        reading = read_transaction(self.request)

        def again(filled: AppForm = filled, **outcome: Any) -> Response:  # noqa: ANN401 - as `render` has them
            return reading.run(lambda ctx: self.render(ctx, filled, **outcome))

        if do not in {"save", "preview"}:
            return again(filled.after_button(do, sent))
        errors = reading.run(lambda ctx: self._errors(ctx, filled))
        if not filled.charts:
            errors["new_chart"] = "Add at least one chart."
        if errors:
            return again(errors=errors)
        try:
            if do == "preview":
                return again(cards=self._preview(filled))
            uid = write_transaction(self.request).run(lambda ctx: self._save(ctx, filled))
        except CORRECTABLE_ERRORS as refusal:
            place = error_field(refusal, _PLACES)
            return again(errors={place: str(refusal)}) if place else again(error=refusal)
        message = "Saved." if self.found else f"{filled.name} was created. Share it with those who should see it."
        return pages.redirect(self.request, urls.resource(uid, "app"), message)

    def _errors(self, ctx: RequestContext, filled: AppForm) -> dict[str, str]:
        """Return all errors of the form by field, those of columns that its datasets do not have among them."""
        found: dict[str, str] = {}
        for problem in APP.problems(filled.settings()):
            found.setdefault(error_field(problem, _PLACES) or "new_chart", str(problem))
        if found:
            return found
        parsed, known = APP.parse(filled.settings()), DatasetOptions(ctx, get_lake(self.request), filled)
        checks: list[tuple[str, DatasetReference, Callable[[ChartSource], object]]] = [
            *(
                (f"chart-{n}", each.source, partial(chart_query.chart_sql, each))
                for n, each in enumerate(parsed.charts)
            ),
            *(
                (f"filter-{n}", each.source, partial(chart_query.check_filter, each))
                for n, each in enumerate(parsed.filters)
            ),
        ]
        for place, reference, check in checks:
            source = known.source(reference.task, reference.dataset)
            try:
                if source is not None:
                    check(source)
            except InvalidInputError as error:
                found[place] = str(error)
        return found

    def _preview(self, filled: AppForm) -> list[ChartCard]:
        about = self.found.uid if self.found else self.within
        reading = read_transaction(self.request).run(
            lambda ctx: app_data.preview_app(ctx, get_lake(self.request), filled.settings(), about)
        )
        return app_pages.chart_cards(reading.read_charts(get_platform(self.request)))

    def _save(self, ctx: RequestContext, filled: AppForm) -> str:
        settings = filled.settings()
        if self.found is None:
            edges = {"space": self.within}
            return resources.create(
                ctx, APP_KIND, filled.name, edges=edges, settings=settings, description=filled.description
            )
        changes = ResourceEdit(filled.name, filled.description, settings)
        resource_edit.apply_edit(ctx, self.found.uid, changes, expect_version=parse_integer(filled.version))
        return self.found.uid
