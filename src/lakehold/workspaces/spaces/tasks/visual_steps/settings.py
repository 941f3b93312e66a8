"""Settings of visual steps, told apart by `step`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Discriminator

from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord, Text
from lakehold.lake.sql_expressions import UNARY_OPERATORS, Aggregate, Operator
from lakehold.workspaces.spaces.tasks.visual_steps.columns import sql_type

JoinKind = Literal["inner", "left", "right", "full", "anti", "semi"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSettings(SettingsRecord):
    """The settings that all visual steps have."""

    label: str = ""
    """What people call the step; errors name it, and so does its part of the SQL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectStep(StepSettings):
    """Keeps some columns, in this order."""

    step: Literal["select"] = "select"
    columns: tuple[Text, ...]

    def __post_init__(self) -> None:
        _need(self.columns, "columns", "No column is selected.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameStep(StepSettings):
    """Renames columns, all at once: two of them can swap their names."""

    step: Literal["rename"] = "rename"
    columns: Mapping[Text, Text]
    """The new name of each column by its present one."""

    def __post_init__(self) -> None:
        _need(self.columns, "columns", "No column is renamed.")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCondition(SettingsRecord):
    """A condition on a column. An empty cell fulfils `is empty` alone."""

    column: Text
    operator: Operator = "="
    value: str | None = None
    """What it is compared with, read as the type of the column."""
    values: tuple[str, ...] = ()
    """The list for `in`."""

    def __post_init__(self) -> None:
        if self.operator == "in":
            _need(self.values, "values", "A list of values needs at least one.")
        elif self.values:
            raise InvalidSettingError("Only `in` has a list of values.", "Set value instead.", field="values")
        needs_value = self.operator not in (*UNARY_OPERATORS, "in")
        if needs_value and self.value is None:
            raise InvalidSettingError("The condition has no value.", "Set value.", field="value")
        if not needs_value and self.value is not None:
            raise InvalidSettingError(f"`{self.operator}` takes no value.", "Leave it out.", field="value")

    @property
    def operands(self) -> tuple[str, ...]:
        """The values that the column is compared with."""
        return self.values if self.value is None else (self.value,)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterStep(StepSettings):
    """Keeps the rows that fulfil all conditions, or any of them."""

    step: Literal["filter"] = "filter"
    conditions: tuple[StepCondition, ...]
    match: Literal["all", "any"] = "all"

    def __post_init__(self) -> None:
        _need(self.conditions, "conditions", "The filter has no conditions.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeriveStep(StepSettings):
    """Adds a column that is computed by an SQL expression, or replaces the one of that name."""

    step: Literal["derive"] = "derive"
    name: Text
    expression: Text
    type: str = ""
    """The type that the result is cast to, such as `long` or `decimal(10, 2)`; empty: as the expression has it."""

    def __post_init__(self) -> None:
        if self.type:
            sql_type(self.type)


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinStep(StepSettings):
    """Joins another input."""

    step: Literal["join"] = "join"
    input: Text
    kind: JoinKind = "inner"
    keys: Mapping[Text, Text]
    """Our column by theirs: the columns of the input by those of the chain that they are equal to."""
    prefix: str = ""
    """What comes before the names of those columns of the input that the chain has too."""

    def __post_init__(self) -> None:
        _need(self.keys, "keys", "The join has no keys.")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepMeasure(SettingsRecord):
    """An aggregated column."""

    function: Aggregate
    column: str = ""
    """Empty: `count` counts rows."""
    name: str = ""
    """Empty: function and column."""

    def __post_init__(self) -> None:
        if not self.column and self.function != "count":
            raise InvalidSettingError(f"A {self.function} needs a column.", "Name one.", field="column")

    @property
    def title(self) -> str:
        """The name of the column in the result."""
        return self.name.strip() or "_".join(filter(None, (*self.function.split(), self.column)))


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateStep(StepSettings):
    """Makes one row of all that are equal in some columns."""

    step: Literal["aggregate"] = "aggregate"
    group_by: tuple[Text, ...] = ()
    """Without any, all rows become one."""
    measures: tuple[StepMeasure, ...] = ()

    def __post_init__(self) -> None:
        _need((*self.group_by, *self.measures), "measures", "Nothing is grouped and nothing measured.")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionStep(StepSettings):
    """Appends the rows of another input."""

    step: Literal["union"] = "union"
    input: Text
    by_name: bool = True
    """Whether columns belong together by their names; else by their order."""
    fill_missing: bool = False
    """Whether a column that only one side has is empty in the rows of the other; else it is an error."""

    def __post_init__(self) -> None:
        if self.fill_missing and not self.by_name:
            message = "Columns that are told by their order cannot be missing."
            raise InvalidSettingError(message, "Set by_name.", field="fill_missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class PivotStep(StepSettings):
    """Makes a column of each of some values, with the measure of the rows that have it."""

    step: Literal["pivot"] = "pivot"
    group_by: tuple[Text, ...] = ()
    column: Text
    values: tuple[Text, ...]
    """The values of the column that become columns; other rows are left out of the measure."""
    measure: StepMeasure

    def __post_init__(self) -> None:
        _need(self.values, "values", "No value becomes a column.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeduplicateStep(StepSettings):
    """Keeps one row of all that are equal in the keys."""

    step: Literal["deduplicate"] = "deduplicate"
    keys: tuple[Text, ...] = ()
    """Without any, rows that are equal in all columns become one."""
    order_by: tuple[Text, ...] = ()
    """Which row is the first; of those that are equal here too, any is kept. An empty cell is before all others."""
    keep: Literal["first", "last"] = "first"

    def __post_init__(self) -> None:
        if self.order_by and not self.keys:
            raise InvalidSettingError("Equal rows have no order.", "Set keys.", field="keys")


VisualStep = Annotated[
    SelectStep
    | RenameStep
    | FilterStep
    | DeriveStep
    | JoinStep
    | AggregateStep
    | UnionStep
    | PivotStep
    | DeduplicateStep,
    Discriminator("step"),
]


def _need(values: object, name: str, message: str) -> None:
    if not values:
        raise InvalidSettingError(message, "Name one.", field=name)
