"""The query of a chart: groups, aggregates, filters, order and limit from its settings, as one SELECT.

Every name in it is a column of the dataset and every value a literal of its column's type: nothing that somebody wrote
becomes SQL text.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, timedelta

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name, quote
from lakehold.lake.row_formats import quote_identifier
from lakehold.lake.sql_expressions import (
    AGGREGATES,
    NUMERIC_AGGREGATES,
    condition_sql,
    is_numeric_type,
    typed_literal,
)
from lakehold.workspaces.spaces.apps.settings import AppChart, AppFilter, AppSeries

TIME_TYPES = frozenset({"date", "timestamp", "timestamptz"})
MAX_CHOICES = 200
MAX_VALUES, MAX_VALUE_LENGTH = 100, 500
_RANGE_TYPES, _DAY_LENGTH = "a number, date or time", len("2026-11-30")


class MissingColumnError(InvalidInputError):
    """A chart or filter uses a column that its dataset does not have, or not of that type any more."""

    code = "column_missing"


@dataclass(frozen=True, slots=True)
class FilterValue:
    """The values that a viewer has chosen for a filter."""

    filter: AppFilter
    values: Sequence[str] = ()
    """Of a choice: any of them. Of a text: the one that is contained."""
    low: str = ""
    high: str = ""

    def __post_init__(self) -> None:
        texts = [*self.values, self.low, self.high]
        if len(texts) > MAX_VALUES or any(len(each) > MAX_VALUE_LENGTH for each in texts):
            title = quote(self.filter.title)
            hint = f"Use {MAX_VALUES} values of {MAX_VALUE_LENGTH} characters at most."
            raise InvalidInputError(f"The value of the filter {title} is too long.", hint, field="filter")

    @property
    def is_set(self) -> bool:
        """Whether it filters anything."""
        return bool(any(self.values) or self.low or self.high)


@dataclass(frozen=True, slots=True)
class ChartSource:
    """A dataset that a chart reads: its name in SQL, and the Iceberg types of its columns."""

    table: str
    columns: Mapping[str, str]
    _names: Mapping[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_names", {fold_name(name): name for name in self.columns})

    def has(self, column: str) -> bool:
        """Whether it has a column of this name."""
        return fold_name(column) in self._names

    def column(self, name: str) -> tuple[str, str]:
        """Return the quoted name and the type of a column, or raise an error that lists the columns."""
        found = self._names.get(fold_name(name))
        if found is None:
            there = ", ".join(list(self.columns)[:20]) or "none"
            raise MissingColumnError(f"The dataset has no column {quote(name)}.", f"It has: {there}.")
        return quote_identifier(found), self.columns[found]


def chart_sql(chart: AppChart, source: ChartSource, filters: Sequence[FilterValue] = ()) -> str:
    """Return the SELECT of a chart, whose columns are its groups and then its series.

    It returns one row more than the limit, which says that there are more.
    """
    groups = [_group_sql(chart, source, n) for n in range(len(chart.group_by))]
    series = [_series_sql(each, source) for each in chart.series]
    names = [*chart.group_by, *(each.title for each in chart.series)]
    columns = [f"{sql} AS {quote_identifier(name)}" for sql, name in zip([*groups, *series], names, strict=True)]
    conditions = [_condition(each, source) for each in filters if each.is_set and source.has(each.filter.column)]
    parts = {
        "SELECT": ", ".join(columns),
        "FROM": source.table,
        "WHERE": " AND ".join(conditions),
        "GROUP BY": ", ".join(groups) if series else "",
        "ORDER BY": ", ".join(_order_by(chart)),
        "LIMIT": str(chart.limit + 1),
    }
    return "\n".join(f"{word} {part}" for word, part in parts.items() if part)


def choices_sql(each: AppFilter, source: ChartSource) -> str:
    """Return the SELECT of the values that a filter offers."""
    column, kind = source.column(each.column)
    _need_comparable(each, kind)
    return (
        f"SELECT DISTINCT CAST({column} AS STRING) AS choice FROM {source.table}"  # noqa: S608 - quoted names alone
        f" WHERE {column} IS NOT NULL ORDER BY choice LIMIT {MAX_CHOICES + 1}"
    )


def check_filter(each: AppFilter, source: ChartSource) -> None:
    """Refuse a filter whose control does not fit its column."""
    _, kind = source.column(each.column)
    _need_comparable(each, kind)


def _need_comparable(each: AppFilter, kind: str) -> None:
    fits = {
        "text": kind == "string",
        "range": is_numeric_type(kind) or kind in TIME_TYPES,
        "choice": kind in {"string", "boolean"} or is_numeric_type(kind) or kind in TIME_TYPES,
    }
    if not fits[each.control]:
        expected = {"text": "a text", "range": _RANGE_TYPES, "choice": f"a text or {_RANGE_TYPES}"}[each.control]
        message = f"The column {quote(each.column)} has the type {kind}."
        raise MissingColumnError(message, f"A {each.control} filters {expected}.", field="column")


def _group_sql(chart: AppChart, source: ChartSource, place: int) -> str:
    column, kind = source.column(chart.group_by[place])
    if place or not chart.period:
        return column
    if kind not in TIME_TYPES:
        message = f"The column {quote(chart.group_by[0])} is no date or time."
        raise MissingColumnError(message, "Leave period out, or choose another column.", field="period")
    return f"CAST(date_trunc('{chart.period.upper()}', {column}) AS DATE)"


def _series_sql(each: AppSeries, source: ChartSource) -> str:
    if not each.column:
        return AGGREGATES[each.how].format("*")
    column, kind = source.column(each.column)
    if each.how in NUMERIC_AGGREGATES and not is_numeric_type(kind):
        message = f"The {each.how} of {quote(each.column)} cannot be computed: it is not numeric."
        raise MissingColumnError(message, "Count it, or choose another column.", field="series")
    return AGGREGATES[each.how].format(column)


def _order_by(chart: AppChart) -> list[str]:
    """Return the order by columns of the result, in which groups of one value have a fixed order too."""
    way = "DESC" if chart.descending else "ASC"
    groups = [quote_identifier(name) for name in chart.group_by]
    if chart.sort == "value":
        return [f"{quote_identifier(chart.series[0].title)} {way} NULLS LAST", *groups]
    return [f"{name} {way}" for name in groups]


def _condition(chosen: FilterValue, source: ChartSource) -> str:
    each = chosen.filter
    column, kind = source.column(each.column)
    _need_comparable(each, kind)
    try:
        if each.control == "choice":
            return condition_sql(column, "in", [typed_literal(value, kind) for value in chosen.values if value])
        if each.control == "text":
            return condition_sql(column, "contains", [typed_literal(chosen.values[0], "string")])
        low = [condition_sql(column, ">=", [typed_literal(chosen.low, kind)])] if chosen.low else []
        high = [_upper_bound(column, kind, chosen.high)] if chosen.high else []
        return " AND ".join((*low, *high))
    except InvalidInputError as error:
        message = f"The filter {quote(each.title)}: {error.message}"
        raise InvalidInputError(message, error.hint, field="filter") from None


def _upper_bound(column: str, kind: str, value: str) -> str:
    """Return the condition of the end of a range. A day is included up to its last moment."""
    if kind != "date" and kind in TIME_TYPES and len(value.strip()) == _DAY_LENGTH:
        with suppress(ValueError, OverflowError):
            after = date.fromisoformat(value.strip()) + timedelta(days=1)
            return condition_sql(column, "<", [typed_literal(after.isoformat(), kind)])
    return condition_sql(column, "<=", [typed_literal(value, kind)])
