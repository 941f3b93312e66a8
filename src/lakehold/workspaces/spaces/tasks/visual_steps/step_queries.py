"""The query of one visual step over the one before it, and the columns that it returns.

Errors name the setting within the step; `compiler` adds which step it is.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.lake.row_formats import quote_identifier
from lakehold.lake.sql_expressions import (
    AGGREGATES,
    NUMERIC_AGGREGATES,
    TEXT_OPERATORS,
    condition_sql,
    is_numeric_type,
    typed_literal,
)
from lakehold.workspaces.spaces.tasks.visual_steps.columns import (
    StepColumn,
    StepQuery,
    StepSource,
    aggregate_type,
    aliased,
    find_column,
    refuse_clashes,
    sql_type,
)
from lakehold.workspaces.spaces.tasks.visual_steps.derived_expressions import check_expression
from lakehold.workspaces.spaces.tasks.visual_steps.input_queries import find_input, join_input, union_input
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


def build_query(step: VisualStep, source: StepSource, inputs: Mapping[str, StepSource]) -> StepQuery:
    """Return the query of a step, or raise an `InvalidSettingError` that names the setting."""
    match step:
        case SelectStep():
            return _select(step, source)
        case RenameStep():
            return _rename(step, source)
        case FilterStep():
            return _filter(step, source)
        case DeriveStep():
            return _derive(step, source)
        case JoinStep():
            return join_input(step, source, find_input(inputs, step.input, "input"))
        case AggregateStep():
            return _aggregate(step, source)
        case UnionStep():
            return union_input(step, source, find_input(inputs, step.input, "input"))
        case PivotStep():
            return _pivot(step, source)
        case DeduplicateStep():
            return _deduplicate(step, source)


def _select(step: SelectStep, source: StepSource) -> StepQuery:
    columns = _columns(source, step.columns, "columns")
    return StepQuery((f"SELECT {_names(columns)}", f"FROM {source.sql}"), columns)


def _rename(step: RenameStep, source: StepSource) -> StepQuery:
    new_names = {source.column(name, "columns").name: new for name, new in step.columns.items()}
    if len(new_names) < len(step.columns):
        raise InvalidSettingError("A column gets two names.", "Name it once.", field="columns")
    columns = tuple(replace(each, name=new_names.get(each.name, each.name)) for each in source.columns)
    refuse_clashes(columns, "columns")
    listed = (aliased(old.sql, old, new) for old, new in zip(source.columns, columns, strict=True))
    return StepQuery((f"SELECT {', '.join(listed)}", f"FROM {source.sql}"), columns)


def _filter(step: FilterStep, source: StepSource) -> StepQuery:
    word = " AND " if step.match == "all" else " OR "
    conditions = [_condition(each, source, f"conditions.{n}") for n, each in enumerate(step.conditions)]
    return StepQuery(("SELECT *", f"FROM {source.sql}", f"WHERE {word.join(conditions)}"), source.columns)


def _condition(condition: StepCondition, source: StepSource, field: str) -> str:
    column = source.column(condition.column, f"{field}.column")
    if condition.operator in TEXT_OPERATORS and column.type not in {None, "string"}:
        message = f"{quote(column.name)} is {column.type}, so that `{condition.operator}` does not apply."
        raise InvalidSettingError(message, "Compare it with a value.", field=f"{field}.operator")
    where = f"{field}.{'values' if condition.values else 'value'}"
    literals = [_literal(each, column, where) for each in condition.operands]
    return condition_sql(column.sql, condition.operator, literals)


def _literal(value: str, column: StepColumn, field: str) -> str:
    """Return a value as the column has it. Compared with a text, a column of unknown type makes its type of it."""
    try:
        return typed_literal(value, column.type or "string")
    except InvalidInputError as error:
        raise InvalidSettingError(error.message, error.hint, field=field) from None


def _derive(step: DeriveStep, source: StepSource) -> StepQuery:
    check_expression(step.expression, source)
    expression = f"({step.expression.strip()})"
    if step.type:
        expression = f"CAST({expression} AS {sql_type(step.type)})"
    derived = StepColumn(step.name, step.type or None)
    listed, before = f"{expression} AS {derived.sql}", find_column(source.columns, step.name)
    if before is None:
        return StepQuery((f"SELECT *, {listed}", f"FROM {source.sql}"), (*source.columns, derived))
    columns = tuple(derived if each is before else each for each in source.columns)
    every = ", ".join(listed if each is derived else each.sql for each in columns)
    return StepQuery((f"SELECT {every}", f"FROM {source.sql}"), columns)


def _aggregate(step: AggregateStep, source: StepSource) -> StepQuery:
    groups = _columns(source, step.group_by, "group_by")
    measures = [_measure(each, source, f"measures.{n}") for n, each in enumerate(step.measures)]
    columns = (*groups, *(column for _, column in measures))
    refuse_clashes(columns, "measures")
    listed = [*(each.sql for each in groups), *(f"{sql} AS {column.sql}" for sql, column in measures)]
    return StepQuery((f"SELECT {', '.join(listed)}", f"FROM {source.sql}", *_group_by(groups)), columns)


def _measure(measure: StepMeasure, source: StepSource, field: str) -> tuple[str, StepColumn]:
    """Return an aggregate as SQL, and as the column of the result."""
    if not measure.column:
        return "count(*)", StepColumn(measure.title, "long")
    column = source.column(measure.column, f"{field}.column")
    if measure.function in NUMERIC_AGGREGATES and column.type is not None and not is_numeric_type(column.type):
        message = f"The {measure.function} of {quote(column.name)} cannot be computed: it is {column.type}."
        raise InvalidSettingError(message, "Count it, or choose another column.", field=f"{field}.column")
    result = StepColumn(measure.title, aggregate_type(measure.function, column.type))
    return AGGREGATES[measure.function].format(column.sql), result


def _pivot(step: PivotStep, source: StepSource) -> StepQuery:
    groups = _columns(source, step.group_by, "group_by")
    column = source.column(step.column, "column")
    measure, measured = _measure(step.measure, source, "measure")
    results = [replace(measured, name=value) for value in step.values]
    columns = (*groups, *results)
    refuse_clashes(columns, "values", "Name each value once, and rename the column that is called like it.")
    listed = [each.sql for each in groups]
    for value, result in zip(step.values, results, strict=True):
        where = f"{column.sql} = {_literal(value, column, 'values')}"
        listed.append(f"{measure} FILTER (WHERE {where}) AS {result.sql}")
    return StepQuery((f"SELECT {', '.join(listed)}", f"FROM {source.sql}", *_group_by(groups)), columns)


def _deduplicate(step: DeduplicateStep, source: StepSource) -> StepQuery:
    if not step.keys:
        return StepQuery(("SELECT DISTINCT *", f"FROM {source.sql}"), source.columns)
    keys = _names(_columns(source, step.keys, "keys"))
    # An order is needed; by the keys, rows of the same keys have none.
    order = [each.sql for each in _columns(source, step.order_by or step.keys, "order_by")]
    direction = "ASC NULLS FIRST" if step.keep == "first" else "DESC NULLS LAST"
    window = f"PARTITION BY {keys} ORDER BY {', '.join(f'{each} {direction}' for each in order)}"
    number = quote_identifier(_free_name("row_number", source.columns))
    numbered = (f"SELECT *, row_number() OVER ({window}) AS {number}", f"FROM {source.sql}")
    clauses = (f"SELECT {_names(source.columns)}", f"FROM ({' '.join(numbered)})", f"WHERE {number} = 1")
    return StepQuery(clauses, source.columns)


def _columns(source: StepSource, names: Sequence[str], field: str) -> tuple[StepColumn, ...]:
    """Return columns by their names, none of them twice."""
    columns = tuple(source.column(name, field) for name in names)
    refuse_clashes(columns, field, "Name it once.")
    return columns


def _names(columns: Iterable[StepColumn]) -> str:
    return ", ".join(each.sql for each in columns)


def _group_by(groups: Sequence[StepColumn]) -> tuple[str, ...]:
    return (f"GROUP BY {_names(groups)}",) if groups else ()


def _free_name(name: str, columns: Sequence[StepColumn]) -> str:
    """Return a name that no column has."""
    while find_column(columns, name):
        name = f"_{name}"
    return name
