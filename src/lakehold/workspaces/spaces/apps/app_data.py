"""Reads the data of an app for somebody who may view it, with its owner's right to consume the data of its tasks.

The right `view` of the model asks for both. A query runs as the viewer, with one dataset as its only input, so that the
viewer's own rights to data neither help nor hinder. Whoever may not edit the app learns nothing of tasks, datasets and
columns by an error.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from lakehold.catalog import resource_metadata
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError, LimitExceededError, UnavailableError
from lakehold.kit.ids import fold_name, quote
from lakehold.lake import readable_tables, table_views
from lakehold.lake.errors import QueryMemoryError, SourceClosedError, StoppedError
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.row_formats import quote_identifier
from lakehold.runs import worker_client
from lakehold.runs.worker_client import ReadPurpose
from lakehold.workspaces.graph import edge_targets, need_kind
from lakehold.workspaces.spaces import owner_context
from lakehold.workspaces.spaces.apps import chart_query
from lakehold.workspaces.spaces.apps.chart_query import ChartSource, FilterValue, MissingColumnError
from lakehold.workspaces.spaces.apps.settings import AppChart, AppFilter, AppSettings
from lakehold.workspaces.spaces.datasets import list_datasets
from lakehold.workspaces.spaces.settings import APP, APP_KIND, TASK_KIND
from lakehold.workspaces.spaces.tasks.base import DatasetReference

_RANGE_SIGN = ".."


class AppWithoutDataError(ConflictError):
    """The app shows nothing, because its owner may not consume all of its data any more."""

    code = "app_without_data"


class ChartError(LakeholdError):
    """A chart cannot be drawn. Its text is for all who view the app."""

    code = "chart_failed"
    status = 409


@dataclass(frozen=True, slots=True)
class DatasetQuery:
    """A query of one dataset, or the error why there is none."""

    sql: str = ""
    dataset: str = ""
    error: ChartError | None = None


@dataclass(frozen=True, slots=True)
class ChartData:
    """The rows of a chart, or the error why there are none."""

    chart: AppChart
    schema: pa.Schema | None = None
    batches: Sequence[pa.RecordBatch] = ()
    complete: bool = True
    """Whether there are no more groups than the limit."""
    unfiltered: Sequence[str] = ()
    """The titles of filters that are set, but whose column the dataset does not have."""
    error: ChartError | None = None

    def rows(self) -> list[tuple[object, ...]]:
        """Return all rows."""
        return [
            row for batch in self.batches for row in zip(*(each.to_pylist() for each in batch.columns), strict=True)
        ]


@dataclass(frozen=True, slots=True)
class AppReading:
    """An app whose data the caller may read: everything that is needed outside of the transaction."""

    caller: Caller
    uid: str
    settings: AppSettings
    chosen: Sequence[FilterValue]
    may_edit: bool
    charts: Sequence[tuple[AppChart, DatasetQuery, Sequence[str]]]
    choices: Sequence[tuple[AppFilter, DatasetQuery]]
    types: Mapping[str, str]
    """The Iceberg types of the columns of filters, by title."""

    def read_charts(self, platform: Platform) -> list[ChartData]:
        """Read the rows of all charts, one after the other: a person has few queries at once."""
        return [self._read_chart(platform, *each) for each in self.charts]

    def read_choices(self, platform: Platform) -> dict[str, list[str]]:
        """Read the values that filters offer, by the title of the filter; none where they cannot be read."""
        found: dict[str, list[str]] = {}
        for each, query in self.choices:
            data = self._run(platform, query, chart_query.MAX_CHOICES + 1)
            rows = [] if isinstance(data, ChartError) else [row for batch in data[1] for row in batch.columns[0]]
            found[each.title] = [str(row.as_py()) for row in rows][: chart_query.MAX_CHOICES]
        return found

    def _read_chart(
        self, platform: Platform, chart: AppChart, query: DatasetQuery, unfiltered: Sequence[str]
    ) -> ChartData:
        found = self._run(platform, query, chart.limit + 1)
        if isinstance(found, ChartError):
            return ChartData(chart, error=found)
        schema, batches, complete = found
        table = pa.Table.from_batches(batches, schema)
        some = table.slice(0, chart.limit)
        return ChartData(
            chart, schema, some.to_batches(), complete and table.num_rows <= chart.limit, unfiltered=unfiltered
        )

    def _run(
        self, platform: Platform, query: DatasetQuery, rows: int
    ) -> tuple[pa.Schema, list[pa.RecordBatch], bool] | ChartError:
        if query.error is not None:
            return query.error
        caller = replace(self.caller, inputs=frozenset({query.dataset}))
        try:
            with worker_client.run_query(
                platform, caller, text=query.sql, rows=rows, purpose=ReadPurpose("view", self.uid)
            ) as found:
                return found.batches.schema, list(found.batches), found.complete
        except LakeholdError as error:
            return _query_error(error, self.may_edit)


def open_app(
    ctx: RequestContext, lake: IcebergCatalog, uid: str, filters: Iterable[tuple[str, str]] = ()
) -> AppReading:
    """Return an app for reading, or refuse. Filters are pairs of a filter's title and a value."""
    need_view(ctx, uid)
    settings = load_settings(ctx, uid)
    used = frozenset(edge_targets(ctx, uid, "uses"))
    may_edit = ctx.session.check(ctx.principal, "edit", uid)
    find = _Sources(ctx, lake, used, may_edit=may_edit)
    return _plan(find, uid, settings, parse_filters(settings, filters))


def preview_app(ctx: RequestContext, lake: IcebergCatalog, settings: Mapping[str, object], uid: str) -> AppReading:
    """Return an app with these settings for a preview by its maker, who may consume its data."""
    readable_tables.refuse_impersonation(ctx)
    parsed = APP.parse(settings)
    used = frozenset(source.task for _, source in parsed.sources())
    for task in used:
        need_kind(ctx, task, "consume_data", (TASK_KIND,))
    return _plan(_Sources(ctx, lake, used, may_edit=True), uid, parsed, ())


def need_view(ctx: RequestContext, uid: str) -> None:
    """Refuse unless the caller may see the data of the app now."""
    readable_tables.refuse_impersonation(ctx)
    ctx.need_visible(uid, "view")
    if ctx.view.kind(ctx.view.resource(uid)) == APP_KIND and not ctx.session.holds(ctx.caller.member, "fed", uid):
        if not edge_targets(ctx, uid, "uses"):
            raise AppWithoutDataError("The app has no charts yet.", "Its owner can add them.")
        owner = VisibleRefs(ctx).ref(owner_context.owner_of(ctx, uid))
        raise AppWithoutDataError(
            "The app shows no data: its owner may not consume all of the data behind it.",
            f"Ask {owner.name}, who owns it." if owner else "It needs another owner.",
        )
    need_kind(ctx, uid, "view", (APP_KIND,))


def load_settings(ctx: RequestContext, uid: str) -> AppSettings:
    """Return the settings of an app, which has no charts as long as it is a draft."""
    stored = resource_metadata.load(ctx, uid).settings
    if APP.is_draft(stored):
        return AppSettings()
    if APP.problems(stored):
        raise ConflictError("The settings of the app cannot be used.", "Its owner can correct them.")
    return APP.parse(stored)


def parse_filters(settings: AppSettings, given: Iterable[tuple[str, str]]) -> list[FilterValue]:
    """Return what is chosen of each filter. Several values of a choice are any of them; a range is `low..high`."""
    known = {fold_name(each.title): each for each in settings.filters}
    values: dict[str, list[str]] = {}
    for title, value in given:
        if fold_name(title) not in known:
            there = ", ".join(each.title for each in settings.filters) or "none"
            raise InvalidInputError(f"The app has no filter {quote(title)}.", f"It has: {there}.", field="filter")
        values.setdefault(fold_name(title), []).append(value.strip())
    return [_filter_value(known[name], [value for value in some if value]) for name, some in values.items()]


def _filter_value(each: AppFilter, values: list[str]) -> FilterValue:
    if each.control != "choice" and len(values) > 1:
        raise InvalidInputError(f"The filter {quote(each.title)} takes one value.", "Give one.", field="value")
    if each.control != "range" or not values:
        return FilterValue(each, tuple(values))
    low, sign, high = values[0].partition(_RANGE_SIGN)
    if not sign:
        hint = f"Write low{_RANGE_SIGN}high, of which one may be left out."
        raise InvalidInputError(f"{quote(values[0])} is no range.", hint, field="value")
    return FilterValue(each, low=low.strip(), high=high.strip())


def _plan(find: "_Sources", uid: str, settings: AppSettings, chosen: Sequence[FilterValue]) -> AppReading:
    charts = []
    for chart in settings.charts:
        query = find.query(chart.source, partial(chart_query.chart_sql, chart, filters=chosen))
        charts.append((chart, query, find.unfiltered(chart.source, chosen)))
    choices = [
        (each, find.query(each.source, partial(chart_query.choices_sql, each)))
        for each in settings.filters
        if each.control == "choice"
    ]
    types = {each.title: find.type_of(each.source, each.column) for each in settings.filters}
    return AppReading(find.ctx.caller, uid, settings, chosen, find.may_edit, charts, choices, types)


class _Sources:
    """The datasets of an app, each looked up once."""

    def __init__(self, ctx: RequestContext, lake: IcebergCatalog, used: frozenset[str], *, may_edit: bool) -> None:
        self.ctx, self.may_edit, self._lake, self._used = ctx, may_edit, lake, used
        self._known: dict[DatasetReference, tuple[str, ChartSource] | ChartError] = {}

    def query(self, reference: DatasetReference, build: "partial[str]") -> DatasetQuery:
        """Return the query of a dataset, or why there is none. A wrong value of a filter is raised."""
        found = self._find(reference)
        if isinstance(found, ChartError):
            return DatasetQuery(error=found)
        dataset, source = found
        try:
            return DatasetQuery(build(source=source), dataset)
        except MissingColumnError as error:
            return DatasetQuery(error=_chart_error("A column that it needs is gone.", error, self.may_edit))

    def unfiltered(self, reference: DatasetReference, chosen: Sequence[FilterValue]) -> list[str]:
        """Return the titles of filters that are set, and do not act on charts of a dataset."""
        found = self._find(reference)
        if isinstance(found, ChartError):
            return []
        return [each.filter.title for each in chosen if each.is_set and not found[1].has(each.filter.column)]

    def type_of(self, reference: DatasetReference, column: str) -> str:
        """Return the Iceberg type of a column; empty if it is not there."""
        found = self._find(reference)
        return "" if isinstance(found, ChartError) or not found[1].has(column) else found[1].column(column)[1]

    def _find(self, reference: DatasetReference) -> tuple[str, ChartSource] | ChartError:
        if reference not in self._known:
            self._known[reference] = self._load(reference)
        return self._known[reference]

    def _load(self, reference: DatasetReference) -> tuple[str, ChartSource] | ChartError:
        # What the app does not use by an edge, its owner's right was not asked for.
        known = reference.task in self._used and self.ctx.view.ids.get(reference.task) is not None
        uid = list_datasets(self.ctx, reference.task).get(fold_name(reference.dataset)) if known else None
        try:
            found = table_views.view_of(self.ctx, uid).current_metadata(self._lake) if uid else None
        except SourceClosedError as error:
            return _chart_error("Its data cannot be read.", error, self.may_edit)
        if uid is None or found is None:
            detail = ConflictError(f"There is no dataset {quote(reference.dataset)}.", "Prepare and run its task.")
            return _chart_error("Its data is not prepared.", detail, self.may_edit)
        path = readable_tables.name_path(self.ctx.view, uid)
        name = ".".join(map(quote_identifier, (readable_tables.LAKE_CATALOG, *path)))
        return uid, ChartSource(name, {each.name: each.type for each in found.fields})


def _chart_error(message: str, detail: LakeholdError, may_edit: bool) -> ChartError:  # noqa: FBT001 - who asks
    """Return an error for a chart, with details for those who may edit the app."""
    return ChartError(message, str(detail) if may_edit else "Ask the owner of the app.", code=detail.code)


def _query_error(error: LakeholdError, may_edit: bool) -> ChartError:  # noqa: FBT001 - as above
    """Return the error of a query as those who view the app may read it."""
    match error:
        case QueryMemoryError():
            return ChartError("It needs too much data.", "Filter it, or ask the owner of the app.", code=error.code)
        case LimitExceededError() | UnavailableError() | StoppedError():
            # Of queries, not of their data.
            return ChartError(error.message, "Try again in a moment.", code=error.code)
        case _:
            return _chart_error("Its data cannot be read.", error, may_edit)
