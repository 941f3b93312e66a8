"""The page of an app: its charts, with filters as a form whose values are in the address; and a chart as CSV."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, get_platform, read_transaction
from lakehold.api.iceberg_rest import get_lake
from lakehold.catalog import resources
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError, LakeholdError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake import row_formats
from lakehold.web import kind_pages, pages, table_pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.routing import router
from lakehold.web.table_pages import Grid
from lakehold.workspaces.spaces.apps import app_data
from lakehold.workspaces.spaces.apps.app_data import AppReading, ChartData
from lakehold.workspaces.spaces.apps.chart_query import TIME_TYPES, FilterValue
from lakehold.workspaces.spaces.apps.settings import AppFilter
from lakehold.workspaces.spaces.pages import chart_layout
from lakehold.workspaces.spaces.pages.chart_layout import ChartPicture
from lakehold.workspaces.spaces.settings import APP_KIND

routes = router("/resources")
VALUE, LOW, HIGH = "f.", "from.", "to."
"""What the names of a filter's fields begin with, before its title."""


@dataclass(frozen=True, slots=True)
class ChartCard:
    """A chart as the page shows it."""

    data: ChartData
    picture: ChartPicture | None = None
    grid: Grid | None = None
    csv: str = ""
    """The address of its rows as CSV."""

    @property
    def numbers(self) -> list[tuple[str, str]]:
        """The labels and texts of a chart of numbers."""
        row = next(iter(self.data.rows()), ())
        numbers = [(value, chart_layout.to_number(value)) for value in row]
        texts = [str(value) if number is None else f"{number:,.12g}" for value, number in numbers]
        texts = ["–" if value is None else text for (value, _), text in zip(numbers, texts, strict=True)]
        return list(zip((each.title for each in self.data.chart.series), texts, strict=False))


@dataclass(frozen=True, slots=True)
class FilterField:
    """A filter with its chosen values, as fields of the form."""

    filter: AppFilter
    number: int
    chosen: FilterValue
    options: Sequence[tuple[str, str]] = ()
    type: str = "text"
    """The type of the inputs of a range."""

    @property
    def selected(self) -> str:
        """The value of the control; of several choices the first."""
        return next(iter(self.chosen.values), "")


def chart_cards(charts: Sequence[ChartData], csv: str = "") -> list[ChartCard]:
    """Return the charts with their pictures and rows. The number of a chart is added to the address of the CSV."""
    cards = []
    for n, data in enumerate(charts):
        if data.schema is None or not data.rows():
            cards.append(ChartCard(data))
            continue
        is_drawn = data.chart.type not in {"number", "table"}
        grid = None if data.chart.type == "number" else table_pages.build_grid(data.schema, data.batches)
        picture = chart_layout.draw_chart(data) if is_drawn else None
        cards.append(ChartCard(data, picture, grid, f"{csv}{n}" if csv else ""))
    return cards


def given_filters(request: Request) -> list[tuple[str, str]]:
    """Return what the address says of filters, as pairs of title and value."""
    found, ranges = [], dict[str, dict[str, str]]()
    for name, value in request.query_params.multi_items():
        prefix = next((each for each in (VALUE, LOW, HIGH) if name.startswith(each)), "")
        if prefix == VALUE and value.strip():
            found.append((name.removeprefix(VALUE), value))
        elif prefix and value.strip():
            ranges.setdefault(name.removeprefix(prefix), {})[prefix] = value
    ends = [(title, f"{each.get(LOW, '')}..{each.get(HIGH, '')}") for title, each in ranges.items()]
    return [*found, *ends]


def need_app(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the app, if the caller may see it."""
    found = resources.get(ctx, uid)
    if found.kind != APP_KIND:
        raise NotFoundError(f"There is no app {quote(uid)}.", "Check the name in the data space.")
    return found


@routes.get("/{uid:path}/app")
def app_page(request: Request, platform: CurrentPlatform, uid: str) -> Response:
    """Render the app with the data that its viewers may see now, or why it shows none."""

    def prepare(ctx: RequestContext) -> tuple[dict[str, object], AppReading | None, LakeholdError | None]:
        frame = _frame(ctx, need_app(ctx, uid))
        resource_usage.record(platform, ctx, "see", uid)
        try:
            return frame, app_data.open_app(ctx, get_lake(request), uid, given_filters(request)), None
        except (ConflictError, InvalidInputError, ForbiddenError) as error:
            return frame, None, error

    frame, reading, error = read_transaction(request).run(prepare)
    values = {**frame, "error": error, "cards": [], "filters": [], "is_filtered": bool(given_filters(request))}
    if reading is not None:
        query = urlencode([(name, value) for name, value in request.query_params.multi_items() if name != "chart"])
        csv = f"{urls.resource(uid, 'app/csv')}?{query}{'&' if query else ''}chart="
        values["cards"] = chart_cards(reading.read_charts(platform), csv)
        values["filters"] = _filter_fields(reading, platform)
    return pages.render(request, "spaces/app.html", values, status=422 if isinstance(error, InvalidInputError) else 200)


@routes.get("/{uid:path}/app/csv")
def app_csv(request: Request, uid: str, chart: int = 0) -> Response:
    """Return the rows of a chart as CSV."""

    def prepare(ctx: RequestContext) -> AppReading:
        need_app(ctx, uid)
        return app_data.open_app(ctx, get_lake(request), uid, given_filters(request))

    reading = read_transaction(request).run(prepare)
    if not 0 <= chart < len(reading.charts):
        raise NotFoundError("There is no such chart.", "Open the app again.")
    (data,) = replace(reading, charts=[reading.charts[chart]]).read_charts(get_platform(request))
    if data.error is not None or data.schema is None:
        raise data.error or NotFoundError("There is no such chart.", "Open the app again.")
    headers = {"content-disposition": f'attachment; filename="chart-{chart + 1}.csv"'}
    return StreamingResponse(row_formats.as_csv(data.schema, data.batches), media_type="text/csv", headers=headers)


def _frame(ctx: RequestContext, found: ResourceView) -> dict[str, object]:
    uid = found.uid
    edit = PageAction("Edit", kind_pages.edit_form_url(uid, found.kind), icon="pencil")
    share = PageAction("Share", urls.resource(uid, "access"), icon="users")
    delete = PageAction(
        *("Delete", urls.resource(uid, "delete"), "post", "trash-2"), danger=True, confirm=f"Delete {found.name}?"
    )
    offered: Mapping[str, PageAction] = {"share": share, "edit": edit, "delete": delete}
    # Who only views it is not asked to request the rights of its owner.
    allowed = {name: action for name, action in offered.items() if name in found.actions}
    return {
        "found": found,
        "crumbs": resource_header.breadcrumbs(ctx, uid),
        "tabs": resource_header.tabs(ctx, uid),
        "tab": urls.resource(uid, "app"),
        "acts": allowed,
        "size": chart_layout.DRAWING,
    }


def _filter_fields(reading: AppReading, platform: Platform) -> list[FilterField]:
    chosen = {each.filter.title: each for each in reading.chosen}
    choices = reading.read_choices(platform)
    fields = []
    for n, each in enumerate(reading.settings.filters):
        value = chosen.get(each.title) or FilterValue(each)
        some = [*choices.get(each.title, ()), *(one for one in value.values if one not in choices.get(each.title, ()))]
        kind = reading.types.get(each.title, "")
        fields.append(
            FilterField(each, n, value, [("", "All"), *((one, one) for one in some)], _input_type(each, kind))
        )
    return fields


def _input_type(each: AppFilter, kind: str) -> str:
    return "date" if each.control == "range" and kind in TIME_TYPES else "text"
