"""Settings of apps: charts of datasets, and filters that act on all charts whose dataset has their column."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from lakehold.kit.ids import fold_name, quote
from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord, Text
from lakehold.lake.sql_expressions import Aggregate
from lakehold.workspaces.spaces.tasks.base import DatasetReference

MAX_CHARTS, MAX_FILTERS, MAX_SERIES, MAX_GROUPS = 24, 12, 8, 12
MAX_LIMIT = 1_000
ChartType = Literal["line", "bar", "area", "scatter", "number", "table", "treemap"]
ChartPeriod = Literal["", "day", "week", "month", "quarter", "year"]
FilterControl = Literal["choice", "range", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AppSeries(SettingsRecord):
    """An aggregate of a chart: a line, the height of bars, a number, or a column of a table."""

    how: Aggregate
    column: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        if not self.column and self.how != "count":
            raise InvalidSettingError(f"A {self.how} needs a column.", "Name one.", field="column")

    @property
    def title(self) -> str:
        """Its name in the chart."""
        return self.name.strip() or (f"{self.how} of {self.column}" if self.column else self.how)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppChart(SettingsRecord):
    """A chart of one dataset, whose rows are grouped and aggregated."""

    title: Text
    type: ChartType
    source: DatasetReference
    group_by: Annotated[tuple[Text, ...], Field(max_length=MAX_GROUPS)] = ()
    """The column of the x-axis, or of the categories; none for numbers, and any number of them for a table."""
    period: ChartPeriod = ""
    """The part of a time to which the values of the first group are truncated."""
    series: Annotated[tuple[AppSeries, ...], Field(max_length=MAX_SERIES)] = ()
    sort: Literal["group", "value"] = "group"
    """By the groups, or by the first series."""
    descending: bool = False
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 100
    """The most groups."""

    def __post_init__(self) -> None:
        groups, series = _EXPECTED[self.type]
        for field, found, (least, most) in (("group_by", self.group_by, groups), ("series", self.series, series)):
            if not least <= len(found) <= most:
                raise InvalidSettingError(
                    f"The {self.type} {quote(self.title)} has {len(found)} of {field}.",
                    f"It takes {least if least == most else f'{least} to {most}'}.",
                    field=field,
                )
        if not self.group_by and not self.series:
            hint = "Choose a column or an aggregate."
            raise InvalidSettingError(f"The table {quote(self.title)} has no columns.", hint, field="group_by")
        if self.period and not self.group_by:
            raise InvalidSettingError("There is no group to truncate.", "Leave period out.", field="period")
        if self.sort == "value" and not self.series:
            raise InvalidSettingError("There is no series to sort by.", "Sort by group.", field="sort")
        _refuse_doubles((*self.group_by, *(each.title for each in self.series)), "series", "columns")


_EXPECTED = {
    "number": ((0, 0), (1, MAX_SERIES)),
    "table": ((0, MAX_GROUPS), (0, MAX_SERIES)),
    "scatter": ((1, 1), (2, 2)),
    "treemap": ((1, 1), (1, 1)),
    **dict.fromkeys(("line", "bar", "area"), ((1, 1), (1, MAX_SERIES))),
}
"""The fewest and the most groups and series of each type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppFilter(SettingsRecord):
    """A control that filters all charts whose dataset has the column."""

    title: Text
    source: DatasetReference
    """The dataset from which choices are taken."""
    column: Text
    control: FilterControl


@dataclass(frozen=True, slots=True, kw_only=True)
class AppSettings(SettingsRecord):
    """An app: its charts, in their order, and its filters."""

    charts: Annotated[tuple[AppChart, ...], Field(max_length=MAX_CHARTS)] = ()
    filters: Annotated[tuple[AppFilter, ...], Field(max_length=MAX_FILTERS)] = ()

    def __post_init__(self) -> None:
        _refuse_doubles((each.title for each in self.charts), "charts", "charts")
        _refuse_doubles((each.title for each in self.filters), "filters", "filters")
        _refuse_doubles((each.column for each in self.filters), "filters", "filters of the column")

    def sources(self) -> Iterator[tuple[str, DatasetReference]]:
        """Yield the datasets that it reads, each with the setting that names it."""
        yield from ((f"charts.{n}.source.task", each.source) for n, each in enumerate(self.charts))
        yield from ((f"filters.{n}.source.task", each.source) for n, each in enumerate(self.filters))


def _refuse_doubles(names: Iterable[str], field: str, noun: str) -> None:
    found = [fold_name(name) for name in names]
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        raise InvalidSettingError(f"Two {noun} are called {quote(twice)}.", "Rename one, or leave it out.", field=field)
