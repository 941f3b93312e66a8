"""Compiles a chain of visual steps to SQL: one WITH part for each step, named as people call it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count

from lakehold.kit.ids import quote
from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.lake.row_formats import quote_identifier
from lakehold.workspaces.spaces.tasks.visual_steps.columns import (
    StepColumn,
    StepSource,
    refuse_clashes,
    unquote_identifier,
)
from lakehold.workspaces.spaces.tasks.visual_steps.input_queries import find_input
from lakehold.workspaces.spaces.tasks.visual_steps.settings import VisualStep
from lakehold.workspaces.spaces.tasks.visual_steps.step_queries import build_query

_NAME_PART = r"(?:`(?:[^`]|``)+`|[^`.]+)"
_INPUT_NAME_PART = re.compile(_NAME_PART)
_INPUT_NAME = re.compile(rf"{_NAME_PART}(?:\.{_NAME_PART})*")


@dataclass(frozen=True, slots=True)
class CompiledStep:
    """The result after a step."""

    title: str
    """Which step it is, for people."""
    sql: str
    """The query of the chain up to and with this step."""
    columns: tuple[StepColumn, ...]


@dataclass(frozen=True, slots=True)
class CompiledChain:
    """The results of a chain, up to the first step that cannot be used."""

    results: tuple[CompiledStep, ...]
    """The first input, and behind it the steps in their order."""
    problem: InvalidSettingError | None = None
    """Why the step behind the last result cannot be used; its field is a path such as `steps.2.columns`."""

    def check(self) -> CompiledStep:
        """Return the result of the whole chain, or raise the problem."""
        if self.problem is not None:
            raise self.problem
        return self.results[-1]


def compile_steps(
    first_input: str, steps: Sequence[VisualStep], schemas: Mapping[str, Sequence[StepColumn]]
) -> CompiledChain:
    """Return the SQL and the columns after each step.

    Inputs are named as in SQL: `task.dataset`, with parts that contain a dot in backticks.
    """
    results: list[CompiledStep] = []
    try:
        inputs = {name: _input_source(name, columns) for name, columns in schemas.items()}
        source = find_input(inputs, first_input, "from")
        results.append(CompiledStep(first_input, f"SELECT *\nFROM {source.sql}", source.columns))
    except InvalidSettingError as error:
        return CompiledChain((), error)
    parts: list[str] = []
    used = {_fold(each.sql) for each in inputs.values()}
    for n, step in enumerate(steps):
        title = describe_step(n, step)
        try:
            query = build_query(step, source, inputs)
        except InvalidSettingError as error:
            problem = InvalidSettingError(f"{title}: {error.message}", error.hint, field=f"steps.{n}.{error.field}")
            return CompiledChain(tuple(results), problem)
        source = StepSource(_name_part(n, step, used), query.columns)
        parts.append("\n  ".join((f"{source.sql} AS (", *query.clauses)) + "\n)")
        sql = ",\n".join(parts)
        results.append(CompiledStep(title, f"WITH {sql}\nSELECT *\nFROM {source.sql}", query.columns))
    return CompiledChain(tuple(results))


def describe_step(n: int, step: VisualStep) -> str:
    """Return which step of a chain it is, by number, kind and label."""
    label = step.label.strip()
    return f"Step {n + 1} ({step.step}{f' {quote(label)}' if label else ''})"


def _input_source(name: str, columns: Sequence[StepColumn]) -> StepSource:
    if not _INPUT_NAME.fullmatch(name):
        message = f"{quote(name)} is no name of an input."
        raise InvalidSettingError(message, "Write task.dataset, with backticks where needed.", field="from")
    parts = map(unquote_identifier, _INPUT_NAME_PART.findall(name))
    refuse_clashes(columns, "from", f"Rename one of them in {name}.")
    return StepSource(".".join(map(quote_identifier, parts)), tuple(columns), name)


def _name_part(n: int, step: VisualStep, used: set[str]) -> str:
    """Return the quoted name of a step's part of the SQL.

    No other step has it, and no input: the name of that would mean the step from then on.
    """
    name = " ".join(step.label.split()) or f"{step.step}_{n + 1}"
    names = chain([name], (f"{name} {number}" for number in count(2)))
    found = next(each for each in map(quote_identifier, names) if _fold(each) not in used)
    used.add(_fold(found))
    return found


def _fold(name: str) -> str:
    """Return the form of a name in which Spark's comparison without case finds nothing else equal."""
    return name.upper().lower()
