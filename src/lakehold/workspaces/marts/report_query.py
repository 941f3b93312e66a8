"""The query of a report: columns, aggregates, conditions, order and limit from its settings, as one SELECT.

Every name in it is a column of the data marts and every value a literal of its column's type, with dates relative to
now (`today - 7`, `month`): nothing that a member wrote becomes SQL text.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name, quote
from lakehold.lake.row_formats import quote_identifier, quote_literal
from lakehold.workspaces.marts.report_settings import (
    MAX_ROWS,
    ReportAggregate,
    ReportCondition,
    ReportSettings,
    aggregate_title,
)

_RELATIVE_DATE = re.compile(r"(today|week|month|quarter|year)\s*(?:([+-])\s*(\d{1,4}))?")
_INTEGER_TYPES = {"int", "long"}
_NUMBER_TYPES = {*_INTEGER_TYPES, "float", "double"}
_MONTHS_OF_UNIT = {"month": 1, "quarter": 3, "year": 12}
_MONTHS_IN_YEAR = 12
_MAX_DIGITS = 38
"""The digits of the largest decimal in SQL."""


def is_numeric_type(kind: str) -> bool:
    """Return whether an Iceberg type is numeric."""
    return kind in _NUMBER_TYPES or kind.startswith("decimal(")


def typed_literal(value: str, kind: str, at: datetime) -> str:
    """Return the value as an SQL literal of an Iceberg type, or raise if it is none."""
    if kind == "string":
        return quote_literal(value)
    if kind == "boolean":
        if value.lower() not in {"true", "false"}:
            raise InvalidInputError(f"{quote(value)} is neither true nor false.", "Write one of the two.")
        return value.upper()
    if is_numeric_type(kind):
        return _number_literal(value, whole=kind in _INTEGER_TYPES)
    if kind == "date":
        return f"DATE {_time_literal(value, at, date, 'date', '2026-11-30')}"
    if kind in {"timestamp", "timestamptz"}:
        word = "TIMESTAMP" if kind == "timestamptz" else "TIMESTAMP_NTZ"
        return f"{word} {_time_literal(value, at, datetime, 'timestamp', '2026-11-30 12:00')}"
    raise InvalidInputError(f"Columns of the type {kind} cannot be compared.", "Leave the condition out.")


def _number_literal(value: str, *, whole: bool) -> str:
    try:
        found = Decimal(value.strip())
    except InvalidOperation:
        raise InvalidInputError(f"{quote(value)} is not a number.", "Write one, such as 12.5.") from None
    # Checked before it is written out: a few letters can stand for a number of a million digits.
    small = found.is_finite() and abs(found.adjusted()) < _MAX_DIGITS and len(found.as_tuple().digits) <= _MAX_DIGITS
    if not small or (whole and found != found.to_integral_value()):
        raise InvalidInputError(f"{quote(value)} is out of range for the column.", "Write another one.")
    return f"{found:f}"


def _time_literal(value: str, at: datetime, kind: type[date], noun: str, example: str) -> str:
    """Return a day or a moment as SQL reads it, from ISO 8601 or relative to now."""
    try:
        found = _parse_relative(value, at.date()) or kind.fromisoformat(value.strip())
    except ValueError:
        raise InvalidInputError(f"{quote(value)} is not a {noun}.", f"Write {example}, or today - 7.") from None
    return quote_literal(found.isoformat())


def _parse_relative(value: str, today: date) -> date | None:
    """Return the first day of the unit, so many units away: `month - 1` is the first of the last month."""
    found = _RELATIVE_DATE.fullmatch(value.strip().lower())
    if found is None:
        return None
    unit, away = found[1], int(f"{found[2] or '+'}{found[3] or 0}")
    try:
        if unit == "today":
            return today + timedelta(days=away)
        if unit == "week":
            return today - timedelta(days=today.weekday()) + timedelta(weeks=away)
        months = _MONTHS_OF_UNIT[unit]
        start = today.year * _MONTHS_IN_YEAR + (today.month - 1) // months * months + away * months
        return date(start // _MONTHS_IN_YEAR, start % _MONTHS_IN_YEAR + 1, 1)
    except (OverflowError, ValueError):
        raise InvalidInputError(f"{quote(value)} is not a valid date.", "Choose one nearer to today.") from None


_UNARY_OPERATORS = {"is empty": "{0} IS NULL", "is not empty": "{0} IS NOT NULL"}
_TEXT_OPERATORS = {"contains": "contains({0}, {1})", "starts with": "startswith({0}, {1})"}
AGGREGATES = {
    "count": "count({0})",
    "count distinct": "count(DISTINCT {0})",
    "sum": "sum({0})",
    "average": "avg({0})",
    "least": "min({0})",
    "most": "max({0})",
}
_NUMERIC_AGGREGATES = {"sum", "average"}


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A column of a source: its SQL and its type."""

    sql: str
    type: str
    alias: str = ""
    """What people call it, if not by its name."""
    description: str = ""


@dataclass(frozen=True, slots=True)
class QuerySource:
    """A data mart with those that are joined to it."""

    sql: str
    """As it stands behind FROM."""
    columns: Mapping[str, SourceColumn]

    def column(self, name: str) -> SourceColumn:
        """Return a column, or raise an error that lists the columns."""
        found = self.columns.get(name)
        if found is None:
            there = ", ".join(list(self.columns)[:20]) or "none"
            raise InvalidInputError(f"The data mart has no column {quote(name)}.", f"It has: {there}.")
        return found


def selected_columns(report: ReportSettings, source: QuerySource) -> dict[str, str]:
    """Return the SQL of each column of the result by its name."""
    chosen = report.columns if report.columns or report.sums else tuple(source.columns)
    found = {name: source.column(name).sql for name in chosen}
    for each in report.sums:
        if each.title in found:
            raise InvalidInputError(f"Two columns of the report are called {quote(each.title)}.", "Rename one of them.")
        found[each.title] = AGGREGATES[each.how].format(_aggregated_column(source, each))
    if not found:
        raise InvalidInputError("The report has no columns.", "Choose at least one.")
    return found


def result_labels(report: ReportSettings, source: QuerySource) -> dict[str, str]:
    """Return what people call each column of the result: by its alias, unless another column could be meant."""
    names = selected_columns(report, source)
    labels = {name: source.columns[name].alias for name in names if name in source.columns}
    for each in report.sums:
        alias = source.column(each.column).alias if each.column else ""
        labels[each.title] = aggregate_title(each.how, alias, "") if alias and not each.name.strip() else ""
    used = Counter(fold_name(label) for label in labels.values())
    used.update(fold_name(name) for name in names if fold_name(name) != fold_name(labels[name]))
    return {name: label if label and used[fold_name(label)] == 1 else name for name, label in labels.items()}


def _aggregated_column(source: QuerySource, aggregate: ReportAggregate) -> str:
    if not aggregate.column:
        return "*"
    column, how = source.column(aggregate.column), aggregate.how
    if how in _NUMERIC_AGGREGATES and not is_numeric_type(column.type):
        raise InvalidInputError(
            f"The {how} of {quote(aggregate.column)} cannot be computed: it is not numeric.",
            "Count it, or choose another column.",
        )
    return column.sql


@dataclass(frozen=True, slots=True)
class ReportQuery:
    """The query of a report."""

    report: ReportSettings
    at: datetime
    """When; relative dates start from here."""
    parameters: Mapping[str, str]

    def to_sql(self, source: QuerySource, *, labels: Mapping[str, str]) -> str:
        """Return the SELECT, whose columns have these labels, or their names where they have none."""
        selected = {labels.get(name, name): sql for name, sql in selected_columns(self.report, source).items()}
        columns = [f"{sql} AS {quote_identifier(name)}" for name, sql in selected.items()]
        where = [self._condition(source, each) for each in self.report.where]
        groups = [source.column(name).sql for name in self.report.columns] if self.report.sums else []
        parts = {
            "SELECT": ", ".join(columns),
            "FROM": source.sql,
            "WHERE": " AND ".join(where),
            "GROUP BY": ", ".join(groups),
            "ORDER BY": ", ".join(self._order_by(selected, labels)),
            "LIMIT": str(min(self.report.limit, MAX_ROWS)),
        }
        return "\n".join(f"{word} {part}" for word, part in parts.items() if part)

    def _condition(self, source: QuerySource, condition: ReportCondition) -> str:
        column, operator, value = source.column(condition.column), condition.operator, condition.value
        if operator in _UNARY_OPERATORS:
            return _UNARY_OPERATORS[operator].format(column.sql)
        if operator == "in":
            among = [self._literal(each, column) for each in condition.values]
            return f"{column.sql} IN ({', '.join(among)})"
        if operator in _TEXT_OPERATORS:
            return _TEXT_OPERATORS[operator].format(column.sql, quote_literal(self._resolve_parameter(value)))
        comparison = "<>" if operator == "!=" else operator
        return f"{column.sql} {comparison} {self._literal(value, column)}"

    def _literal(self, value: str, column: SourceColumn) -> str:
        return typed_literal(self._resolve_parameter(value), column.type, self.at)

    def _resolve_parameter(self, value: str) -> str:
        """Return the value; one that begins with a colon is a parameter, two colons stand for one."""
        if value.startswith("::"):
            return value[1:]
        if not value.startswith(":"):
            return value
        found = self.parameters.get(value[1:])
        if found is None:
            raise InvalidInputError(f"The parameter {quote(value[1:])} has no value.", "Set it in the report.")
        return found

    def _order_by(self, selected: Mapping[str, str], labels: Mapping[str, str]) -> Sequence[str]:
        sort = [(each, labels.get(each.column, each.column)) for each in self.report.sort]
        for name in (each.column for each, label in sort if label not in selected):
            raise InvalidInputError(
                f"The report is sorted by {quote(name)}, which it does not show.", "Show it, or sort by another."
            )
        return [f"{quote_identifier(label)} {'DESC' if each.descending else 'ASC'}" for each, label in sort]
