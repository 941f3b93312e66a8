"""The query of a report: columns, aggregates, conditions, order and limit from its settings, as one SELECT.

Every name in it is a column of the data marts and every value a literal of its column's type, with dates relative to
now (`today - 7`, `month`): nothing that a member wrote becomes SQL text.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name, quote
from lakehold.lake.row_formats import quote_identifier
from lakehold.lake.sql_expressions import (
    AGGREGATES,
    NUMERIC_AGGREGATES,
    TEXT_OPERATORS,
    UNARY_OPERATORS,
    condition_sql,
    is_numeric_type,
    typed_literal,
)
from lakehold.workspaces.marts.report_settings import (
    MAX_ROWS,
    ReportAggregate,
    ReportCondition,
    ReportSettings,
    aggregate_title,
)


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
    if how in NUMERIC_AGGREGATES and not is_numeric_type(column.type):
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
        column, operator = source.column(condition.column), condition.operator
        values = condition.values if operator == "in" else (condition.value,)
        kind = "string" if operator in TEXT_OPERATORS else column.type
        literals = () if operator in UNARY_OPERATORS else [self._literal(each, kind) for each in values]
        return condition_sql(column.sql, operator, literals)

    def _literal(self, value: str, kind: str) -> str:
        return typed_literal(self._resolve_parameter(value), kind, self.at)

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
