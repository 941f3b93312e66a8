"""The queries of the visual steps that read another input: join and union."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from lakehold.access.model.errors import did_you_mean
from lakehold.kit.ids import quote
from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.workspaces.spaces.tasks.visual_steps.columns import (
    StepColumn,
    StepQuery,
    StepSource,
    aliased,
    are_comparable,
    common_type,
    find_column,
    refuse_clashes,
)
from lakehold.workspaces.spaces.tasks.visual_steps.settings import JoinStep, UnionStep

_JOINS = {
    "inner": "INNER JOIN",
    "left": "LEFT JOIN",
    "right": "RIGHT JOIN",
    "full": "FULL JOIN",
    "anti": "LEFT ANTI JOIN",
    "semi": "LEFT SEMI JOIN",
}


def find_input(inputs: Mapping[str, StepSource], name: str, field: str) -> StepSource:
    """Return an input by its name, in any case, or raise."""
    alike = [each for each in inputs if each.lower() == name.lower()]
    if not alike:
        message = f"The task has no input {quote(name)}."
        raise InvalidSettingError(message, did_you_mean(name, inputs), field=field)
    return inputs[name if name in alike else alike[0]]


def join_input(step: JoinStep, source: StepSource, other: StepSource) -> StepQuery:
    """Return the query of a join."""
    pairs = [(source.column(ours, "keys"), other.column(theirs, "keys")) for ours, theirs in step.keys.items()]
    for ours, theirs in pairs:
        _refuse_types(ours, theirs, "keys")
    condition = " AND ".join(f"ours.{ours.sql} = theirs.{theirs.sql}" for ours, theirs in pairs)
    clauses = (f"FROM {source.sql} AS ours", f"{_JOINS[step.kind]} {other.sql} AS theirs ON {condition}")
    if step.kind in {"anti", "semi"}:
        return StepQuery(("SELECT *", *clauses), source.columns)
    # What is equal and has one name is one column, as with USING.
    merged = {ours: theirs for ours, theirs in pairs if ours.name.lower() == theirs.name.lower()}
    added = [(each, _joined_column(step, each, source)) for each in other.columns if each not in merged.values()]
    kept = [_kept_column(step, each, merged.get(each)) for each in source.columns]
    columns = (*(column for _, column in kept), *(column for _, column in added))
    refuse_clashes(columns, "prefix", "Choose another prefix.")
    listed = [sql for sql, _ in kept] + [aliased(f"theirs.{old.sql}", old, new) for old, new in added]
    return StepQuery((f"SELECT {', '.join(listed)}", *clauses), columns)


def _joined_column(step: JoinStep, column: StepColumn, source: StepSource) -> StepColumn:
    """Return a column of the other input as the join has it."""
    if find_column(source.columns, column.name) is None:
        return column
    if not step.prefix:
        message, hint = f"Both sides have a column {quote(column.name)}.", "Set a prefix for those of the input."
        raise InvalidSettingError(message, hint, field="prefix")
    return replace(column, name=step.prefix + column.name)


def _kept_column(step: JoinStep, ours: StepColumn, theirs: StepColumn | None) -> tuple[str, StepColumn]:
    """Return our column in a join, in SQL and as a column; rows that only the other side has take it from there."""
    if theirs is None or step.kind in {"inner", "left"}:
        return f"ours.{ours.sql}", ours
    if step.kind == "right":
        return aliased(f"theirs.{theirs.sql}", theirs, ours), replace(ours, type=theirs.type)
    merged = replace(ours, type=common_type(ours, theirs))
    return f"coalesce(ours.{ours.sql}, theirs.{theirs.sql}) AS {ours.sql}", merged


def union_input(step: UnionStep, source: StepSource, other: StepSource) -> StepQuery:
    """Return the query of a union."""
    rows = list(_united_by_name(step, source, other) if step.by_name else _united_by_order(source, other))
    ours = ", ".join(_united_cell(column, result) for column, _, result in rows)
    theirs = ", ".join(_united_cell(column, result) for _, column, result in rows)
    clauses = (f"SELECT {ours}", f"FROM {source.sql}", "UNION ALL", f"SELECT {theirs}", f"FROM {other.sql}")
    return StepQuery(clauses, tuple(result for *_, result in rows))


UnionColumn = tuple[StepColumn | None, StepColumn | None, StepColumn]
"""Our column and theirs, one of which may be missing, and that of the result."""


def _united_by_order(source: StepSource, other: StepSource) -> Iterator[UnionColumn]:
    count = len(source.columns)
    if count != len(other.columns):
        message = f"The input has {len(other.columns)} columns, and there are {count}."
        raise InvalidSettingError(message, "Set by_name, or select columns before.", field="by_name")
    for ours, theirs in zip(source.columns, other.columns, strict=True):
        yield ours, theirs, _united_column(ours, theirs)


def _united_by_name(step: UnionStep, source: StepSource, other: StepSource) -> Iterator[UnionColumn]:
    for ours in source.columns:
        theirs = find_column(other.columns, ours.name)
        if theirs is None:
            _refuse_missing(step, f"The input {quote(step.input)} has", ours)
        yield ours, theirs, _united_column(ours, theirs) if theirs else ours
    for theirs in other.columns:
        if find_column(source.columns, theirs.name) is None:
            _refuse_missing(step, "Before the union there is", theirs)
            yield None, theirs, theirs


def _refuse_missing(step: UnionStep, where: str, column: StepColumn) -> None:
    if not step.fill_missing:
        message, hint = f"{where} no column {quote(column.name)}.", "Set fill_missing, or rename or select columns."
        raise InvalidSettingError(message, hint, field="fill_missing")


def _united_column(ours: StepColumn, theirs: StepColumn) -> StepColumn:
    _refuse_types(ours, theirs, "input")
    return replace(ours, type=common_type(ours, theirs))


def _united_cell(column: StepColumn | None, result: StepColumn) -> str:
    return f"NULL AS {result.sql}" if column is None else aliased(column.sql, column, result)


def _refuse_types(ours: StepColumn, theirs: StepColumn, field: str) -> None:
    if not are_comparable(ours, theirs):
        message = f"{quote(ours.name)} is {ours.type}, and {quote(theirs.name)} of the input is {theirs.type}."
        raise InvalidSettingError(message, "Derive a column of the same type before.", field=field)
