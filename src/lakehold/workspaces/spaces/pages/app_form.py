"""The form of an app: its charts and filters as rows of texts, and the settings that are saved."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TypeVar

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceView
from lakehold.lake.sql_expressions import AGGREGATES
from lakehold.web.form_values import list_setting, parse_integer, row_settings
from lakehold.workspaces.spaces.apps.settings import MAX_CHARTS, MAX_FILTERS, MAX_SERIES, AppChart

CHART_TYPES = {
    "bar": "Bars",
    "line": "Line",
    "area": "Area",
    "scatter": "Scatter",
    "number": "Number",
    "table": "Table",
    "treemap": "Tree map",
}
AGGREGATE_LABELS = {
    "count": "Count",
    "count distinct": "Count distinct",
    "sum": "Sum",
    "average": "Average",
    "least": "Minimum",
    "most": "Maximum",
}
CONTROLS = {"choice": "Choice", "range": "Range", "text": "Contains"}
SORTS = {"group": "Groups, ascending", "group-down": "Groups, descending", "value": "Values, ascending",
         "value-down": "Values, descending"}  # fmt: skip
PERIODS = {"": "As it is", "day": "Day", "week": "Week", "month": "Month", "quarter": "Quarter", "year": "Year"}
DEFAULT_LIMIT = AppChart.__dataclass_fields__["limit"].default
_DOWN = "-down"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class SeriesRow:
    """The fields of one aggregate. Without `how` it is none."""

    how: str = ""
    column: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class ChartRow:
    """The fields of one chart."""

    task: str
    dataset: str
    type: str = "bar"
    title: str = ""
    groups: Sequence[str] = ()
    period: str = ""
    series: Sequence[SeriesRow] = ()
    sort: str = "group"
    limit: str = ""

    @property
    def settings(self) -> dict[str, object]:
        """The settings of the chart; a limit that is no number stays, and is refused."""
        groups = list(self.groups if self.type == "table" else self.groups[:1] if self.type != "number" else ())
        series = [
            {name: value for name, value in (("how", each.how), ("column", each.column), ("name", each.name)) if value}
            for each in self.series
            if each.how
        ]
        limit = parse_integer(self.limit)
        settings: dict[str, object] = {
            "title": self.title,
            "type": self.type,
            "source": {"task": self.task, "dataset": self.dataset},
            "group_by": groups,
            "series": series,
            "period": self.period if groups else "",
            "sort": self.sort.removesuffix(_DOWN) if groups else "group",
            "descending": self.sort.endswith(_DOWN) and bool(groups),
            "limit": (self.limit if limit is None else limit) if self.limit else DEFAULT_LIMIT,
        }
        return settings


@dataclass(frozen=True, slots=True)
class FilterRow:
    """The fields of one filter."""

    task: str
    dataset: str
    column: str
    title: str = ""
    control: str = "choice"

    @property
    def settings(self) -> dict[str, object]:
        """The settings of the filter."""
        source = {"task": self.task, "dataset": self.dataset}
        return {"title": self.title, "column": self.column, "control": self.control, "source": source}


@dataclass(frozen=True, slots=True)
class AppForm:
    """The values of the form."""

    name: str = ""
    description: str = ""
    version: str = ""
    charts: Sequence[ChartRow] = field(default=())
    filters: Sequence[FilterRow] = field(default=())

    def settings(self) -> dict[str, object]:
        """Return the settings to save."""
        return {"charts": [each.settings for each in self.charts], "filters": [each.settings for each in self.filters]}

    def after_button(self, do: str, form: FormData) -> "AppForm":
        """Return the form as a button changes it: `chart`, `chart-drop-2`, `chart-up-2`, `filter`, `filter-drop-0`."""
        what, _, rest = do.partition("-")
        way, _, number = rest.partition("-")
        place = parse_integer(number)
        if what == "chart":
            charts = list(self.charts) if way else [*self.charts, *_new_chart(form)]
            return replace(self, charts=_changed(charts, way, place)[:MAX_CHARTS])
        if what == "filter":
            filters = list(self.filters) if way else [*self.filters, *_new_filter(form)]
            return replace(self, filters=_changed(filters, way, place)[:MAX_FILTERS])
        return self


def _changed(rows: list[_T], way: str, place: int | None) -> list[_T]:
    if place is None or place >= len(rows):
        return rows
    row = rows.pop(place)
    if way in {"up", "down"}:
        rows.insert(max(place + (1 if way == "down" else -1), 0), row)
    return rows


def _new_chart(form: FormData) -> list[ChartRow]:
    source = _parts(str(form.get("new_chart", "")), 2)
    kind = str(form.get("new_type", "bar"))
    plain = [] if kind == "table" else [SeriesRow("count")]
    return [ChartRow(source[0], source[1], kind, series=plain)] if source else []


def _new_filter(form: FormData) -> list[FilterRow]:
    parts = _parts(str(form.get("new_filter", "")), 3)
    return [FilterRow(parts[0], parts[1], parts[2], parts[2].replace("_", " ").capitalize())] if parts else []


def _parts(text: str, count: int) -> list[str]:
    """Return the texts that the value of an option is made of; none if it is not valid."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    is_valid = isinstance(found, list) and len(found) == count and all(isinstance(each, str) for each in found)
    return found if is_valid else []


def option_value(*parts: str) -> str:
    """Return texts as the value of an option."""
    return json.dumps(parts, ensure_ascii=False)


def parse_app_form(form: FormData) -> AppForm:
    """Parse a submitted form."""

    def text(name: str) -> str:
        return str(form.get(name, "")).strip()

    charts = min(parse_integer(text("charts")) or 0, MAX_CHARTS)
    filters = min(parse_integer(text("filters")) or 0, MAX_FILTERS)
    return AppForm(
        *(text("name"), text("description"), text("version")),
        charts=[_parse_chart(form, n) for n in range(charts)],
        filters=[
            FilterRow(*(text(f"f{n}_{name}") for name in ("task", "dataset", "column", "title", "control")))
            for n in range(filters)
        ],
    )


def _parse_chart(form: FormData, n: int) -> ChartRow:
    texts = {
        name: str(form.get(f"c{n}_{name}", "")).strip()
        for name in ("task", "dataset", "type", "title", "period", "sort", "limit")
    }
    parts = [[str(each).strip() for each in form.getlist(f"c{n}_{name}")] for name in ("how", "column", "name")]
    series = [SeriesRow(*each) for each in zip_longest(*parts, fillvalue="")][:MAX_SERIES]
    groups = [str(each) for each in form.getlist(f"c{n}_groups") if each]
    return ChartRow(**texts, groups=groups, series=[each for each in series if each.how])


def app_form_of(found: ResourceView) -> AppForm:
    """Return the form of an existing app."""
    settings = found.settings or {}
    return AppForm(
        found.name,
        found.description,
        str(found.version),
        charts=[_chart_row(each) for each in row_settings(settings, "charts")],
        filters=[
            FilterRow(*_source(each), **{name: str(each.get(name, "")) for name in ("column", "title", "control")})
            for each in row_settings(settings, "filters")
        ],
    )


def _chart_row(chart: Mapping[str, object]) -> ChartRow:
    limit = chart.get("limit", DEFAULT_LIMIT)
    return ChartRow(
        *_source(chart),
        str(chart.get("type", "bar")),
        str(chart.get("title", "")),
        [str(each) for each in list_setting(chart, "group_by")],
        str(chart.get("period", "")),
        [
            SeriesRow(*(str(each.get(name, "")) for name in ("how", "column", "name")))
            for each in row_settings(chart, "series")
        ],
        f"{chart.get('sort', 'group')}{_DOWN if chart.get('descending') is True else ''}",
        "" if limit == DEFAULT_LIMIT else str(limit),
    )


def _source(settings: Mapping[str, object]) -> tuple[str, str]:
    source = settings.get("source")
    found = source if isinstance(source, Mapping) else {}
    return str(found.get("task", "")), str(found.get("dataset", ""))


HOW_OPTIONS = [("", "–"), *((each, AGGREGATE_LABELS[each]) for each in AGGREGATES)]
