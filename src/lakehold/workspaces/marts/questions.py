"""What a report asks: columns, sums, conditions, an order and a limit, as its settings say it.

It becomes one SELECT over the data mart and those that are joined to it. Every name in it is one that the marts have,
and every value one of its column's type: what somebody wrote into a report is never a part of the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake.row_formats import quote_identifier
from lakehold.workspaces.marts import values
from lakehold.workspaces.told import SettingsReader

MOST_ROWS = 10_000_000
_COMPARED = {"=": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_ALONE = {"is empty": "{0} IS NULL", "is not empty": "{0} IS NOT NULL"}
_WITHIN = {"contains": "contains({0}, {1})", "starts with": "startswith({0}, {1})"}
OPERATORS = (*_COMPARED, *_WITHIN, "in", *_ALONE)
SUMS = {
    "count": "count({0})",
    "count distinct": "count(DISTINCT {0})",
    "sum": "sum({0})",
    "average": "avg({0})",
    "least": "min({0})",
    "most": "max({0})",
}
_OF_NUMBERS = {"sum", "average"}


@dataclass(frozen=True, slots=True)
class Known:
    """A column that can be asked for: where it stands, and of which type it is."""

    sql: str
    type: str


@dataclass(frozen=True, slots=True)
class Source:
    """A data mart with those that are joined to it."""

    sql: str
    """As it stands behind FROM."""
    columns: Mapping[str, Known]

    def column(self, name: str) -> Known:
        """One of its columns, or a refusal that says which there are."""
        found = self.columns.get(name)
        if found is None:
            there = ", ".join(list(self.columns)[:20]) or "none"
            raise InvalidInputError(f"The data mart has no column {quote(name)}.", f"It has: {there}.")
        return found


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked."""

    told: SettingsReader
    at: datetime
    """When; relative dates start from here."""
    parameters: Mapping[str, str]

    def text(self, source: Source) -> str:
        """It as SQL."""
        selected = self._shown(source)
        parts = [
            f"SELECT {', '.join(f'{sql} AS {quote_identifier(name)}' for name, sql in selected.items())}",
            f"FROM {source.sql}",
        ]
        where = [self._condition(source, each) for each in self.told.each("where")]
        if where:
            parts.append(f"WHERE {' AND '.join(where)}")
        if self.told.each("sums"):
            groups = [source.column(name).sql for name in self.told.texts("columns")]
            parts += [f"GROUP BY {', '.join(groups)}"] if groups else []
        parts += self._order(selected)
        limit = self.told.count("limit", MOST_ROWS, least=1)
        return "\n".join([*parts, f"LIMIT {min(limit, MOST_ROWS)}"])

    def columns(self, source: Source) -> tuple[str, ...]:
        """What the columns of its rows are called."""
        return tuple(self._shown(source))

    def _shown(self, source: Source) -> dict[str, str]:
        """What stands in the result, by its name there."""
        sums, names = self.told.each("sums"), self.told.texts("columns")
        chosen = names if names or sums else tuple(source.columns)
        found = {name: source.column(name).sql for name in chosen}
        for each in sums:
            how, name = each.one_of("how", tuple(SUMS), ""), each.text("column", "")
            if not name and how != "count":
                raise InvalidInputError(f"A {how} is of a column.", "Name one.")
            called = each.text("name", "").strip() or (f"{how} of {name}" if name else how)
            if called in found:
                raise InvalidInputError(f"Two columns of the report are called {quote(called)}.", "Rename one of them.")
            found[called] = SUMS[how].format(_summed(source, how, name) if name else "*")
        if not found:
            raise InvalidInputError("The report has no columns.", "Choose at least one.")
        return found

    def _condition(self, source: Source, told: SettingsReader) -> str:
        column = source.column(told.text("column"))
        operator = told.one_of("is", OPERATORS, "=")
        if operator in _ALONE:
            return _ALONE[operator].format(column.sql)
        if operator == "in":
            among = [self._value(value, column) for value in told.texts("values")]
            if not among:
                raise InvalidInputError("To be in a list, the list needs a value.", "Name one, or leave it out.")
            return f"{column.sql} IN ({', '.join(among)})"
        value = told.text("value")
        if operator in _WITHIN:
            return _WITHIN[operator].format(column.sql, values.text(self._given(value)))
        return f"{column.sql} {_COMPARED[operator]} {self._value(value, column)}"

    def _value(self, value: str, column: Known) -> str:
        return values.of_type(self._given(value), column.type, self.at)

    def _given(self, value: str) -> str:
        """A value that begins with a colon is a parameter's; two colons stand for one."""
        if value.startswith("::"):
            return value[1:]
        if not value.startswith(":"):
            return value
        found = self.parameters.get(value[1:])
        if found is None:
            raise InvalidInputError(f"The parameter {quote(value[1:])} has no value.", "Give it one in the report.")
        return found

    def _order(self, selected: Mapping[str, str]) -> Sequence[str]:
        found = []
        for each in self.told.each("sort"):
            name = each.text("column")
            if name not in selected:
                raise InvalidInputError(
                    f"The report is sorted by {quote(name)}, which it does not show.", "Show it, or sort by another."
                )
            found.append(f"{quote_identifier(name)} {'DESC' if each.flag('descending', default=False) else 'ASC'}")
        return [f"ORDER BY {', '.join(found)}"] if found else []


def _summed(source: Source, how: str, name: str) -> str:
    column = source.column(name)
    if how in _OF_NUMBERS and not values.is_number(column.type):
        raise InvalidInputError(
            f"The {how} of {quote(name)} cannot be told: it has no numbers.", "Count it, or choose another column."
        )
    return column.sql
