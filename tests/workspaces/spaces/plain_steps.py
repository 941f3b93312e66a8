"""Visual steps evaluated in plain Python, to compare the rows of Spark with: row by row, as the reference says it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from lakehold.workspaces.spaces.tasks.visual_steps.settings import (
    AggregateStep,
    DeduplicateStep,
    DeriveStep,
    FilterStep,
    JoinStep,
    PivotStep,
    RenameStep,
    SelectStep,
    StepCondition,
    StepMeasure,
    UnionStep,
    VisualStep,
)

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns with their types, and rows."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.columns]

    def at(self, name: str) -> int:
        return [each.lower() for each in self.names].index(name.lower())

    def type(self, name: str) -> str:
        return self.columns[self.at(name)][1]

    def has(self, name: str) -> bool:
        return name.lower() in [each.lower() for each in self.names]

    def pick(self, row: Row, names: Iterable[str]) -> Row:
        return tuple(row[self.at(name)] for name in names)


@dataclass(frozen=True, slots=True)
class Formula:
    """An SQL expression over one column, and the same in Python."""

    sql: str
    """With {0} for the column."""
    type: str
    compute: Callable[[Any], Any]
    applies_to: str = ""
    """The type of the column; empty for any."""


FORMULAS = (
    Formula("{0} + 1", "long", lambda x: None if x is None else x + 1, "long"),
    Formula("CASE WHEN {0} IS NULL THEN 'a;b' ELSE 'a--b' END", "string", lambda x: "a;b" if x is None else "a--b"),
    Formula("coalesce({0}, 'it\\'s (')", "string", lambda x: "it's (" if x is None else x, "string"),
    Formula("date_add({0}, 1)", "date", lambda x: None if x is None else date.fromordinal(x.toordinal() + 1), "date"),
    Formula("NOT {0}", "boolean", lambda x: None if x is None else not x, "boolean"),
    Formula("{0}", "decimal(10, 2)", lambda x: x, "decimal(10, 2)"),
)
PARSERS: dict[str, Callable[[str], Any]] = {
    "long": int,
    "string": str,
    "date": date.fromisoformat,
    "boolean": lambda text: text == "true",
    "double": float,
}


def parse(text: str, kind: str) -> Any:  # noqa: ANN401 - a value of the type
    return PARSERS.get(kind, Decimal)(text)


def evaluate(step: VisualStep, table: Table, inputs: dict[str, Table], formula: Formula | None, source: str) -> Table:
    """Return the result of a step; a derived column is that formula of the column `source`."""
    match step:
        case SelectStep():
            return _project(table, step.columns)
        case RenameStep():
            names = {old.lower(): new for old, new in step.columns.items()}
            return Table(tuple((names.get(name.lower(), name), kind) for name, kind in table.columns), table.rows)
        case FilterStep():
            holds = all if step.match == "all" else any
            kept = (row for row in table.rows if holds(fulfils(each, row, table) for each in step.conditions))
            return Table(table.columns, tuple(kept))
        case DeriveStep():
            assert formula
            return _derive(step, table, formula, source)
        case JoinStep():
            return _join(step, table, inputs[step.input])
        case AggregateStep():
            return _aggregate(table, step.group_by, [(each, each.title, lambda _: True) for each in step.measures])
        case UnionStep():
            return _union(step, table, inputs[step.input])
        case PivotStep():
            at, kind = table.at(step.column), table.type(step.column)
            cells = [(step.measure, value, _equals(at, parse(value, kind))) for value in step.values]
            return _aggregate(table, step.group_by, cells)
        case DeduplicateStep():
            return _deduplicate(step, table)


def _project(table: Table, names: Sequence[str]) -> Table:
    columns = tuple(table.columns[table.at(name)] for name in names)
    return Table(columns, tuple(table.pick(row, names) for row in table.rows))


COMPARISONS: dict[str, Callable[[Any, list[Any]], bool]] = {
    "=": lambda value, others: value == others[0],
    "!=": lambda value, others: value != others[0],
    "<": lambda value, others: value < others[0],
    "<=": lambda value, others: value <= others[0],
    ">": lambda value, others: value > others[0],
    ">=": lambda value, others: value >= others[0],
    "contains": lambda value, others: others[0] in value,
    "starts with": lambda value, others: value.startswith(others[0]),
    "in": lambda value, others: value in others,
}


def fulfils(condition: StepCondition, row: Row, table: Table) -> bool:
    value, kind = row[table.at(condition.column)], table.type(condition.column)
    if condition.operator in {"is empty", "is not empty"}:
        return (value is None) == (condition.operator == "is empty")
    return value is not None and COMPARISONS[condition.operator](
        value, [parse(each, kind) for each in condition.operands]
    )


def _derive(step: DeriveStep, table: Table, formula: Formula, source: str) -> Table:
    column = (step.name, formula.type)
    at = table.at(step.name) if table.has(step.name) else len(table.columns)
    columns = (*table.columns[:at], column, *table.columns[at + 1 :])
    computed = ((row, formula.compute(row[table.at(source)])) for row in table.rows)
    return Table(columns, tuple((*row[:at], value, *row[at + 1 :]) for row, value in computed))


def _join(step: JoinStep, table: Table, other: Table) -> Table:
    def matches(ours: Row, theirs: Row) -> bool:
        keys = zip(table.pick(ours, step.keys), other.pick(theirs, step.keys.values()), strict=True)
        return all(one is not None and one == two for one, two in keys)

    if step.kind in {"semi", "anti"}:
        kept = (row for row in table.rows if any(matches(row, each) for each in other.rows) == (step.kind == "semi"))
        return Table(table.columns, tuple(kept))
    merged = {ours.lower(): theirs for ours, theirs in step.keys.items() if ours.lower() == theirs.lower()}
    added = [name for name in other.names if name.lower() not in merged]
    names = [(step.prefix if table.has(name) else "") + name for name in added]
    columns = (*table.columns, *((new, other.type(name)) for new, name in zip(names, added, strict=True)))
    rows: list[Row] = []
    for row in table.rows:
        found = [each for each in other.rows if matches(row, each)]
        rows += [(*row, *other.pick(each, added)) for each in found]
        if not found and step.kind in {"left", "full"}:
            rows.append((*row, *[None] * len(added)))
    if step.kind in {"right", "full"}:
        for each in other.rows:
            if not any(matches(row, each) for row in table.rows):
                keys = (merged.get(name.lower()) for name in table.names)
                ours = (each[other.at(key)] if key else None for key in keys)
                rows.append((*ours, *other.pick(each, added)))
    return Table(columns, tuple(rows))


Cell = tuple[StepMeasure, str, Callable[[Row], bool]]
"""A measure, the name of its column, and the rows that it counts."""


def _equals(at: int, value: object) -> Callable[[Row], bool]:
    return lambda row: bool(row[at] == value)


def _aggregate(table: Table, group_by: Sequence[str], cells: Sequence[Cell]) -> Table:
    groups: dict[Row, list[Row]] = {} if group_by else {(): []}
    for row in table.rows:
        groups.setdefault(table.pick(row, group_by), []).append(row)
    keys = tuple(table.columns[table.at(name)] for name in group_by)
    columns = (*keys, *((name, _measure_type(measure, table)) for measure, name, _ in cells))
    rows = (
        (*key, *(_measure(measure, [row for row in rows if counts(row)], table) for measure, _, counts in cells))
        for key, rows in groups.items()
    )
    return Table(columns, tuple(rows))


def _measure_type(measure: StepMeasure, table: Table) -> str:
    if measure.function in {"least", "most", "sum"}:
        kind = table.type(measure.column)
        return "decimal(20, 2)" if (measure.function, kind) == ("sum", "decimal(10, 2)") else kind
    return "double" if measure.function == "average" else "long"


def _measure(measure: StepMeasure, rows: Sequence[Row], table: Table) -> Any:  # noqa: ANN401 - a value of any type
    if not measure.column:
        return len(rows)
    values = [value for row in rows if (value := row[table.at(measure.column)]) is not None]
    match measure.function:
        case "count":
            return len(values)
        case "count distinct":
            return len(set(values))
    if not values:
        return None
    return {
        "sum": lambda: sum(values),
        "average": lambda: sum(values) / len(values),
        "least": lambda: min(values),
        "most": lambda: max(values),
    }[measure.function]()


def _union(step: UnionStep, table: Table, other: Table) -> Table:
    if not step.by_name:
        return Table(table.columns, table.rows + other.rows)
    columns = (*table.columns, *(column for column in other.columns if not table.has(column[0])))
    rows = [
        tuple(row[part.at(name)] if part.has(name) else None for name, _ in columns)
        for part in (table, other)
        for row in part.rows
    ]
    return Table(columns, tuple(rows))


def _deduplicate(step: DeduplicateStep, table: Table) -> Table:
    def empty_first(row: Row) -> list[Row]:
        return [(False,) if value is None else (True, value) for value in table.pick(row, step.order_by)]

    kept: dict[Row, Row] = {}
    for row in sorted(table.rows, key=empty_first, reverse=step.keep == "last"):
        kept.setdefault(table.pick(row, step.keys or table.names), row)
    return Table(table.columns, tuple(kept.values()))
